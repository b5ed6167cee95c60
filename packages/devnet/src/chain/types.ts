import type {
  ChainOutput,
  ChainOutputQuery,
  ChainTip,
  Place,
  ScriptEvaluation,
  SubmitResult,
} from '@ratatosk/chain-apis'
import type {
  Credential,
  ProtocolParameters,
  Script,
  SlotConfig,
  Transaction,
  TransactionOutput,
  UtxoView,
} from '@ratatosk/ledger'

export type { ChainOutput, ChainTip, Place, Point } from '@ratatosk/chain-apis'

// The parts of the chain. Hashes are lower-case hex; output references are `<64 hex digits>#<index>`, as
// `outputReferenceKey` of `@ratatosk/ledger` writes them.

/** A transaction that the chain or its mempool accepted. */
export interface DevnetTransaction {
  /** Transaction id: Blake2b-256 of the body, 64 hex digits. */
  readonly hash: string
  readonly transaction: Transaction
  /** Order of acceptance over the whole life of the chain, starting at 1. */
  readonly sequence: number
}

/** A block with its transactions. */
export interface DevnetBlock extends ChainTip {
  /** Hash of the previous block; for the first block, the genesis hash. */
  readonly previous: string
  /** Start of the block's slot, in POSIX milliseconds. */
  readonly time: bigint
  /** Total size of the transactions, in bytes. */
  readonly size: number
  readonly transactions: readonly DevnetTransaction[]
}

/** Selects unspent outputs. An output must match every field given; an empty query matches all of them. */
export interface UtxoQuery
  extends Pick<
    ChainOutputQuery,
    'paymentCredential' | 'policy' | 'unit' | 'references' | 'transaction' | 'referenceScript'
  > {
  /** Bech32, or base58 for a Byron address. */
  readonly address?: string
}

/**
 * The result of a submitted transaction. A rejection is a result, not an error.
 *
 * - `accepted`: the transaction is in the mempool.
 * - `malformed`: the bytes do not decode as a Conway transaction; `message` says where decoding stopped.
 * - `rejected`: the transaction violates the ledger rules in `failures`, at least one.
 */
export type DevnetSubmitResult = Exclude<SubmitResult, { kind: 'undecided' }>

/**
 * The outcome of running a transaction's scripts.
 *
 * - `malformed`: the bytes do not decode; `message` says where decoding stopped.
 * - `faulty-redeemers`: no script ran, because those of the redeemers in `faults` cannot.
 * - `overlapping-outputs`: the caller provides outputs that differ from those the chain has under the same
 *   references.
 * - `evaluated`: the scripts ran; `result` has the execution units or the failure of each redeemer.
 */
export type ChainEvaluation = Exclude<ScriptEvaluation, { kind: 'busy' }>

/**
 * A change of the chain or its mempool.
 *
 * - `block`: a block was appended.
 * - `roll-back`: `blocks` were undone, newest first; `to` is the new tip.
 * - `transaction`: a transaction entered the mempool.
 * - `dropped`: transactions left the mempool, or an undone block, without entering another block.
 */
export type ChainEvent =
  | { readonly type: 'block'; readonly block: DevnetBlock }
  | { readonly type: 'roll-back'; readonly to: ChainTip; readonly blocks: readonly DevnetBlock[] }
  | { readonly type: 'transaction'; readonly transaction: DevnetTransaction }
  | { readonly type: 'dropped'; readonly transactions: readonly DevnetTransaction[] }

/** The reads of a devnet. They are synchronous and answer from memory. */
export interface ChainReads {
  readonly parameters: ProtocolParameters
  readonly slots: SlotConfig
  readonly networkMagic: number
  /** 0 for every test network, 1 for mainnet. */
  readonly networkId: number
  /** Stands for the block before the first one, 64 hex digits. */
  readonly genesisHash: string
  /** Largest total size of the transactions in a block, in bytes. */
  readonly maxBlockSize: number
  /** Number of blocks that can be rolled back. */
  readonly securityParameter: number

  /** The slot of the current time, at least the slot of the tip. */
  currentSlot(): bigint
  /** The newest block, or genesis. */
  tip(): ChainTip
  /** The block at a height or with a hash; undefined for genesis, unknown blocks and pruned empty blocks. */
  block(at: number | string): DevnetBlock | undefined
  /** A transaction by id; `place` is absent while the transaction is in the mempool. */
  transaction(hash: string): { readonly transaction: DevnetTransaction; readonly place?: Place } | undefined
  /** The transactions of the mempool, in order of acceptance. */
  mempool(): readonly DevnetTransaction[]
  /**
   * Unspent outputs of the confirmed chain, oldest first.
   *
   * @throws {DecodeError} the address of the query is not valid
   */
  utxos(query?: UtxoQuery): ChainOutput[]
  /** All outputs of the confirmed chain including spent ones, oldest first. */
  outputs(): ChainOutput[]
  /** The outputs of one transaction, or of genesis, including spent ones, by index. */
  outputsOf(transactionHash: string): ChainOutput[]
  /** An output by its reference, spent or not. */
  output(reference: string): ChainOutput | undefined
  /**
   * True if any output was ever sent to the address.
   *
   * @throws {DecodeError} the address is not valid
   */
  knowsAddress(address: string): boolean
  /** Ids of valid transactions of the chain whose metadata has a label, oldest first. */
  labelled(label: bigint): readonly string[]
  /** The labels of metadata of valid transactions, in no order. */
  labels(): readonly bigint[]
  /** Unspent outputs after applying the mempool: what a chained transaction can spend. */
  readonly pendingUtxos: UtxoView
  /** The datum with a hash, if an output or a witness ever contained it. */
  datum(hash: string): Uint8Array | undefined
  /** The script with a hash, if an output or a witness ever contained it. */
  script(hash: string): Script | undefined
  /** The hashes of these scripts, by their first occurrence. */
  scripts(): readonly string[]
  /** The deposit of a registered stake credential, in lovelace; undefined if it is not registered. */
  stakeDeposit(credential: Credential): bigint | undefined

  /**
   * Runs the scripts of a transaction, ignoring the budgets that its redeemers declare.
   *
   * @param additional outputs that the chain does not have, by output reference
   * @param prefersAdditional whether they replace outputs of the chain that differ from them
   */
  evaluate(
    cbor: Uint8Array,
    additional?: ReadonlyMap<string, TransactionOutput>,
    prefersAdditional?: boolean,
  ): Promise<ChainEvaluation>
  /**
   * Calls the listener after each change.
   *
   * @returns a function that ends the subscription
   */
  subscribe(listener: (event: ChainEvent) => void): () => void
}
