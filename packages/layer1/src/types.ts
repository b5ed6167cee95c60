import type {
  OutputReference,
  ProtocolParameters,
  RedeemerPurpose,
  SlotConfig,
  TransactionOutput,
} from '@ratatosk/ledger'

/** An unspent output. */
export interface Utxo {
  readonly reference: OutputReference
  /**
   * The output's contents. Providers that answer JSON do not tell the bytes of the chain: `output.bytes` is then an encoding
   * of the same contents, which every rule judges alike.
   */
  readonly output: TransactionOutput
}

/** The newest block. */
export interface Tip {
  readonly slot: bigint
  /** 64 hex digits. */
  readonly hash: string
  readonly height: number
}

export interface CallOptions {
  /** Ends the call; it rejects with the signal's reason. */
  readonly signal?: AbortSignal
}

export interface AwaitOptions extends CallOptions {
  /** Blocks upon the transaction's own; 0 (default): it is in a block. */
  readonly confirmations?: number
  /** Milliseconds until `timeout`; default 180,000. */
  readonly timeoutMs?: number
}

/** Where a transaction stands. */
export interface Confirmation {
  /** The slot of its block. */
  readonly slot: bigint
  /** 64 hex digits. */
  readonly blockHash: string
  /** Blocks upon it when it was last looked at. */
  readonly confirmations: number
}

export type TransactionStatus =
  | { readonly kind: 'unknown' }
  | { readonly kind: 'pending' }
  | ({ readonly kind: 'confirmed' } & Confirmation)

/** What one redeemer's script uses. */
export interface EvaluatedRedeemer {
  readonly purpose: RedeemerPurpose
  readonly index: number
  readonly memory: bigint
  readonly steps: bigint
}

/**
 * A Cardano network as this suite needs it. Every method rejects with `Layer1Error` and within its time; reads are
 * tried again where that may help.
 *
 * @example
 * const layer1 = createBlockfrostLayer1({ url, projectId, networkMagic: 1 })
 * const utxos = await layer1.utxosAt('addr_test1…')
 */
export interface Layer1 {
  /** `blockfrost`, `kupmios`, `devnet`, or what another implementation calls itself. */
  readonly name: string
  /** 0 is every test network, 1 is mainnet. */
  readonly networkId: 0 | 1

  /**
   * Unspent outputs at an address, in no particular order.
   *
   * @param address bech32; of another network: `wrong network`
   */
  utxosAt(address: string, options?: CallOptions): Promise<readonly Utxo[]>
  /** @param unit policy id and asset name in hex, joined */
  utxosByUnit(unit: string, options?: CallOptions): Promise<readonly Utxo[]>
  /** Those of the outputs that are there and unspent; the others are left out. */
  utxosByReferences(references: readonly OutputReference[], options?: CallOptions): Promise<readonly Utxo[]>

  /** The parameters in force; up to a minute old where they are fetched over a network. */
  parameters(options?: CallOptions): Promise<ProtocolParameters>
  tip(options?: CallOptions): Promise<Tip>
  /** How slots stand in time, in the current era. */
  slots(options?: CallOptions): Promise<SlotConfig>
  /** The slot of now, by the network's clock where it tells it, otherwise by this machine's. */
  currentSlot(options?: CallOptions): Promise<bigint>

  /**
   * Sends a signed transaction. Sending the same bytes again is safe: a transaction that is there already is no failure.
   *
   * @returns the transaction's id, 64 hex digits
   * @throws {Layer1Error} `rejected` with `reason`; with `mayHaveEffect`, look for it before spending its inputs elsewhere
   */
  submit(cbor: Uint8Array, options?: CallOptions): Promise<string>
  /** Where a transaction stands now. `pending` is told where a provider shows its mempool, otherwise it is `unknown`. */
  status(transactionId: string, options?: CallOptions): Promise<TransactionStatus>
  /**
   * Waits until a transaction is deep enough in the chain.
   *
   * @throws {Layer1Error} `timeout`; `rolled back` where it was in a block and is no longer
   */
  await(transactionId: string, options?: AwaitOptions): Promise<Confirmation>
  /**
   * Asks the provider what the scripts of a transaction use, whatever its redeemers declare. Transactions are built
   * with the ledger's own evaluator; this is the second opinion.
   *
   * @throws {Layer1Error} `rejected` where a script fails or an input is unknown
   */
  evaluate(cbor: Uint8Array, options?: CallOptions): Promise<readonly EvaluatedRedeemer[]>
}

/** Bounds on the time that calls take, in milliseconds. */
export interface Layer1Limits {
  /** One request, its body included; default 10,000. */
  readonly requestTimeoutMs?: number
  /** One call with all its requests and attempts; default 30,000. */
  readonly callTimeoutMs?: number
  /** How often a request is tried; default 4. */
  readonly attempts?: number
  /** The longest pause before the second attempt; it doubles with each. The pause itself is random. Default 500. */
  readonly backoffMs?: number
  /** Between two looks for a transaction; the default is the provider's. */
  readonly pollMs?: number
}
