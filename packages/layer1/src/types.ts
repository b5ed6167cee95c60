import type { OutputReference, ProtocolParameters, RedeemerPurpose, SlotConfig, Utxo } from '@ratatosk/ledger'
import type { ExecutionUnits } from '@ratatosk/ledger/plutus'

/** The newest block. */
export interface Tip {
  readonly slot: bigint
  /** 64 hex digits. */
  readonly hash: string
  readonly height: number
}

export interface CallOptions {
  /** Aborts the call, which rejects with the signal's reason. */
  readonly signal?: AbortSignal
}

interface AddressOptions extends CallOptions {
  /**
   * Only outputs that hold an asset of this policy: 56 hex digits. Unlike `utxosByPolicy`, the read takes
   * longer the more outputs the address has, but it misses no asset however often it is burned and minted.
   */
  readonly policy?: string
}

/** Unspent outputs, and a slot up to which none is missing. */
export interface UtxosAsOf {
  readonly utxos: readonly Utxo[]
  /** That of what was read, not of the newest block that another service knows. */
  readonly slot: bigint
}

export interface AwaitOptions extends CallOptions {
  /** Blocks after the transaction's own; 0 (default): it is in a block. */
  readonly confirmations?: number
  /** Milliseconds until `timeout`; default 180,000. */
  readonly timeoutMs?: number
}

/** The position of a confirmed transaction. */
export interface Confirmation {
  /** The slot of its block. */
  readonly slot: bigint
  /** 64 hex digits. */
  readonly blockHash: string
  /** Blocks after it at the last poll. */
  readonly confirmations: number
}

/** How an output was spent. */
export interface Spending {
  /** The transaction that spent it, in a block. */
  readonly transactionId: Uint8Array
  /** Plutus data CBOR; absent if no script ran for the output. */
  readonly redeemer?: Uint8Array
  /**
   * The outputs that the transaction refers to, in the ledger's order, without their reference scripts;
   * undefined in the place of one that cannot be read. Absent if the provider does not know them.
   */
  readonly referenceInputs?: readonly (Utxo | undefined)[]
}

export type TransactionStatus =
  | { readonly kind: 'unknown' }
  | { readonly kind: 'pending' }
  | ({ readonly kind: 'confirmed' } & Confirmation)

/** The execution units that one redeemer's script uses. */
export interface EvaluatedRedeemer extends ExecutionUnits {
  readonly purpose: RedeemerPurpose
  readonly index: number
}

/**
 * A Cardano network. Every method rejects with a `Layer1Error` within its time limit; reads retry transient
 * failures.
 *
 * @example
 * const layer1 = createBlockfrostLayer1({ url, projectId, networkMagic: 1 })
 * const utxos = await layer1.utxosAt('addr_test1…')
 */
export interface Layer1 {
  /** `blockfrost`, `kupmios`, `devnet`, or another implementation's name. */
  readonly name: string
  /** 0 is every test network, 1 is mainnet. */
  readonly networkId: 0 | 1

  /**
   * Unspent outputs at an address, in no particular order.
   *
   * @param address bech32; an address of another network rejects with `wrong network`
   */
  utxosAt(address: string, options?: AddressOptions): Promise<readonly Utxo[]>
  /**
   * The same, with a slot that the outputs are of: every output at the address that was created up to this
   * slot is there, unless it is spent. Outputs and spendings of later slots may show already.
   */
  utxosAsOf(address: string, options?: AddressOptions): Promise<UtxosAsOf>
  /** @param unit policy id and asset name in hex, joined */
  utxosByUnit(unit: string, options?: CallOptions): Promise<readonly Utxo[]>
  /**
   * Unspent outputs that hold an asset of a policy, in no particular order. Outputs without such an asset
   * cost nothing, however many are paid to the same address: a protocol that keeps its state in tokens
   * reads it this way.
   *
   * @param policyId 56 hex digits
   */
  utxosByPolicy(policyId: string, options?: CallOptions): Promise<readonly Utxo[]>
  /** The given outputs that are unspent; others are omitted. */
  utxosByReferences(references: readonly OutputReference[], options?: CallOptions): Promise<readonly Utxo[]>
  /** How an output was spent; undefined if it is unspent or not known. */
  spending(reference: OutputReference, options?: CallOptions): Promise<Spending | undefined>

  /** The protocol parameters in force; cached for up to a minute by network providers. */
  parameters(options?: CallOptions): Promise<ProtocolParameters>
  tip(options?: CallOptions): Promise<Tip>
  /** The relation of slots and time in the current era. */
  slots(options?: CallOptions): Promise<SlotConfig>
  /** The current slot by the network's clock if it has one, otherwise by this machine's. */
  currentSlot(options?: CallOptions): Promise<bigint>

  /**
   * Submits a signed transaction. Repeating the same bytes is safe: a transaction that is already known is a
   * success.
   *
   * @returns the transaction's id, 32 bytes
   * @throws {Layer1Error} `rejected` with `reason`; with `mayHaveEffect`, search for it before spending its
   *   inputs elsewhere
   */
  submit(cbor: Uint8Array, options?: CallOptions): Promise<Uint8Array>
  /**
   * The current status of a transaction. A provider without a mempool view reports `unknown` instead of
   * `pending`.
   */
  status(transactionId: Uint8Array, options?: CallOptions): Promise<TransactionStatus>
  /**
   * Waits until a transaction has the wanted number of confirmations.
   *
   * @throws {Layer1Error} `timeout`; `rolled back` if its block left the chain
   */
  await(transactionId: Uint8Array, options?: AwaitOptions): Promise<Confirmation>
  /**
   * Asks the provider for the execution units of a transaction's scripts, regardless of the declared budgets.
   * Transactions are built with the ledger's own evaluator; this is a second opinion.
   *
   * @throws {Layer1Error} `rejected` if a script fails or an input is unknown
   */
  evaluate(cbor: Uint8Array, options?: CallOptions): Promise<readonly EvaluatedRedeemer[]>
}

/** Time limits and retries of calls; times in milliseconds. */
export interface Layer1Limits {
  /** One request, its body included; of a long list from Kupo, each part that arrives. Default 10,000. */
  readonly requestTimeoutMs?: number
  /** One call with all its requests and attempts; default 30,000. */
  readonly callTimeoutMs?: number
  /** Attempts per request; default 4. */
  readonly attempts?: number
  /**
   * Maximum pause before the second attempt; it doubles with each attempt, and the pause is random. Default
   * 500.
   */
  readonly backoffMs?: number
  /** Between two polls for a transaction; the default depends on the provider. */
  readonly pollMs?: number
}
