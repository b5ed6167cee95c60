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

/** The codes of CIP-30, by the type of error. */
const codes = {
  APIError: { InvalidRequest: -1, InternalError: -2, Refused: -3, AccountChange: -4 },
  DataSignError: { ProofGeneration: 1, AddressNotPK: 2, UserDeclined: 3 },
  TxSendError: { Refused: 1, Failure: 2 },
  TxSignError: { ProofGeneration: 1, UserDeclined: 2 },
} as const

type Codes = typeof codes

/** An error of CIP-30; `name` is its type there. */
export class Cip30Error extends Error {
  readonly code: number
  readonly info: string

  constructor(name: keyof Codes, code: number, info: string) {
    super(info)
    this.name = name
    this.code = code
    this.info = info
  }
}

/** The `PaginateError` of CIP-30: there are fewer pages. */
export class PaginateError extends Error {
  /** Number of pages. */
  readonly maxSize: number

  constructor(maxSize: number) {
    super(`There are ${maxSize} pages of this size, counted from 0`)
    this.name = 'PaginateError'
    this.maxSize = maxSize
  }
}

export function cip30Error<Name extends keyof Codes>(
  name: Name,
  code: keyof Codes[Name],
  info: string,
): Cip30Error {
  return new Cip30Error(name, codes[name][code] as number, info)
}

export function invalidRequest(info: string): Cip30Error {
  return cip30Error('APIError', 'InvalidRequest', info)
}
