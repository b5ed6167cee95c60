/** Hex of the CBOR of a ledger type, or of other bytes. */
export type Hex = string

/** A page of a list: `limit` entries, after `page` × `limit` others. */
export interface Paginate {
  readonly page: number
  readonly limit: number
}

/** A signature of data (CIP-8): COSE_Sign1 and COSE_Key. */
export interface DataSignature {
  readonly signature: Hex
  readonly key: Hex
}

/**
 * The result of `enable()` of a CIP-30 wallet. Its methods reject with the errors of CIP-30:
 * `{ code, info }`.
 */
export interface Cip30Api {
  getExtensions(): Promise<readonly { readonly cip: number }[]>
  /** 0 on test networks, 1 on mainnet. */
  getNetworkId(): Promise<number>
  /**
   * Unspent outputs, each the CBOR of `[input, output]`; null if they hold less than `amount`.
   *
   * @param amount CBOR of a value
   */
  getUtxos(amount?: Hex, paginate?: Paginate): Promise<Hex[] | null>
  /**
   * Outputs that hold only ada, for collateral; null if they hold less than the amount.
   *
   * @param params `amount`: lovelace, at most 5 ada; default 5 ada
   */
  getCollateral(params?: { readonly amount?: Hex | number | bigint }): Promise<Hex[] | null>
  /** CBOR of the value of all unspent outputs. */
  getBalance(): Promise<Hex>
  getUsedAddresses(paginate?: Paginate): Promise<Hex[]>
  getUnusedAddresses(): Promise<Hex[]>
  getChangeAddress(): Promise<Hex>
  getRewardAddresses(): Promise<Hex[]>
  /**
   * CBOR of a witness set with the signatures of the wallet's keys.
   *
   * @param partialSign whether signatures of other keys may be missing; default false
   */
  signTx(tx: Hex, partialSign?: boolean): Promise<Hex>
  /** @param address hex or bech32 */
  signData(address: string, payload: Hex): Promise<DataSignature>
  /** Resolves to the id of the transaction. */
  submitTx(tx: Hex): Promise<string>
}

/** A wallet as a page finds it in `window.cardano`. */
export interface Cip30Wallet {
  readonly name: string
  /** A data URI. */
  readonly icon: string
  readonly apiVersion: string
  readonly supportedExtensions: readonly { readonly cip: number }[]
  enable(options?: { readonly extensions?: readonly { readonly cip: number }[] }): Promise<Cip30Api>
  isEnabled(): Promise<boolean>
}

/** A wallet whose keys are public. */
export interface PublicWallet {
  /** Account index of the mnemonic (CIP-1852). */
  readonly account: number
  /** Bech32 base address, with payment and stake key. */
  readonly address: string
  /** Payment signing key: bech32 `ed25519e_sk`, 64 bytes (CIP-5). */
  readonly signingKey: string
  /** Stake signing key, in the same form. */
  readonly stakeSigningKey: string
}

/** The parameters of the served script. */
export interface DevWalletOptions {
  readonly wallets: readonly PublicWallet[]
  /** URL of the Blockfrost API of a ledger, absolute or relative to the script's. */
  readonly url: string
}
