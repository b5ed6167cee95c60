import type {
  Credential,
  ProtocolParameters,
  Script,
  SlotConfig,
  Transaction,
  TransactionOutput,
  UtxoView,
  Verdict,
} from '@ratatosk/ledger'
import type { EvaluationResult, Evaluator } from '@ratatosk/ledger/plutus'
import type {
  Block,
  ChainOutput,
  ChainTransaction,
  Place,
  Tip,
  TransactionStatus,
  UtxoQuery,
} from './chain/types.js'
import type { Faults } from './faults/types.js'
import type { Genesis } from './genesis/genesis.js'
import type { DevnetStore } from './store/types.js'

export interface DevnetOptions {
  /** Where the chain is kept; default: in memory, gone with the process. */
  readonly store?: DevnetStore
  /** What the rules are judged by; default: mainnet's. */
  readonly parameters?: ProtocolParameters
  /** Default: the public test wallets, with 5 outputs of 10,000 ada each. */
  readonly genesis?: Genesis
  /** What time it is, in POSIX milliseconds; default: the system's clock. */
  readonly clock?: { now(): number }
  /** Default 1000. */
  readonly slotLengthMs?: number
  /** How often a block is made by itself; 0: only by `produceBlock`. Default 1000. */
  readonly blockEveryMs?: number
  /** Bytes of transactions in one block. Default 90,112. */
  readonly maxBlockSize?: number
  /** How many blocks can be rolled back; empty blocks deeper than this are forgotten. Default 2160. */
  readonly securityParameter?: number
  /** What runs Plutus scripts; default: an evaluator of the devnet's own, closed with it. */
  readonly evaluator?: Pick<Evaluator, 'evaluate'>
  /** Told when a block that was due could not be made, or a listener has thrown; default: `process.emitWarning`. */
  readonly onError?: (error: unknown) => void
}

/** What became of a submission. */
export type Submission =
  | { readonly kind: 'accepted'; readonly hash: string }
  /** The bytes are no transaction of the Conway era; `message` says where. */
  | { readonly kind: 'malformed'; readonly message: string }
  | {
      readonly kind: 'rejected'
      readonly hash: string
      readonly transaction: Transaction
      /** The rules that it breaks, at least one. */
      readonly failures: Verdict
    }

export type Evaluation =
  | { readonly kind: 'malformed'; readonly message: string }
  /** Outputs that the transaction names and that nobody knows: `<64 hex digits>#<index>`. */
  | { readonly kind: 'unknown-inputs'; readonly references: readonly string[] }
  /** Outputs given beside the chain's, though the chain has them. */
  | { readonly kind: 'overlapping-outputs'; readonly references: readonly string[] }
  | { readonly kind: 'evaluated'; readonly transaction: Transaction; readonly result: EvaluationResult }

export interface RollBackOptions {
  /** Puts the transactions of the undone blocks back into the mempool. Default false: they are lost, as in cardano-node. */
  readonly resubmit?: boolean
}

export type DevnetEvent =
  | { readonly type: 'block'; readonly block: Block }
  | {
      readonly type: 'roll-back'
      /** The tip afterwards. */
      readonly to: Tip
      /** The blocks undone, the newest first. */
      readonly blocks: readonly Block[]
    }
  /** A transaction came into the mempool. */
  | { readonly type: 'transaction'; readonly transaction: ChainTransaction }
  /** Transactions left the mempool without coming into a block. */
  | { readonly type: 'dropped'; readonly transactions: readonly ChainTransaction[] }

/**
 * A Cardano layer 1 inside the process. Reads answer from memory at once; what changes the chain is done one after another,
 * and is in the store before it is seen.
 */
export interface Devnet {
  readonly parameters: ProtocolParameters
  readonly slots: SlotConfig
  readonly networkMagic: number
  /** 0: every test network. */
  readonly networkId: 0
  /** The hash before the first block. */
  readonly genesisHash: string
  readonly maxBlockSize: number
  readonly securityParameter: number
  readonly faults: Faults

  /** The slot of now; never before the tip's. */
  currentSlot(): bigint
  tip(): Tip
  block(at: number | string): Block | undefined
  transaction(hash: string): { readonly transaction: ChainTransaction; readonly place?: Place } | undefined
  status(hash: string): TransactionStatus
  /** The waiting transactions in order. */
  mempool(): readonly ChainTransaction[]
  /**
   * Unspent outputs of the confirmed chain, oldest first.
   *
   * @throws AddressError on an address that is none
   */
  utxos(query?: UtxoQuery): ChainOutput[]
  /** All outputs that the chain has made, spent ones too, oldest first. */
  outputs(): ChainOutput[]
  /** The outputs that one transaction has made, spent ones too; of genesis, those under its hash. */
  outputsOf(transactionHash: string): ChainOutput[]
  output(reference: string): ChainOutput | undefined
  /** Whether any output was ever made to the address. */
  knowsAddress(address: string): boolean
  /** Outputs as they are after the waiting transactions: what a chained transaction may spend. */
  readonly pending: UtxoView
  datum(hash: string): Uint8Array | undefined
  script(hash: string): Script | undefined
  /** The deposit of a stake credential in lovelace; undefined where it is not registered. */
  stakeDeposit(credential: Credential): bigint | undefined

  /**
   * Judges a transaction by all rules and takes it into the mempool if it keeps them.
   *
   * @throws {DevnetError} (rejects) `DEVNET_CLOSED`
   * @throws ScriptsNotJudgedError (rejects) where its scripts could not be run
   */
  submit(cbor: Uint8Array): Promise<Submission>
  /**
   * Runs a transaction's scripts, whatever budgets it declares, and says what they use.
   *
   * @param additional outputs that the chain does not have, by `outputReferenceKey`
   */
  evaluate(cbor: Uint8Array, additional?: ReadonlyMap<string, TransactionOutput>): Promise<Evaluation>
  /** Makes a block of what waits, at once; in the slot of now, or where that has a block, in the next. */
  produceBlock(): Promise<Block>
  /**
   * Undoes the newest blocks: the unspent outputs are exactly those of then. What waits and no longer fits is dropped.
   *
   * @throws {DevnetError} (rejects) `DEVNET_ROLLBACK_TOO_DEEP`
   */
  rollBack(blocks: number, options?: RollBackOptions): Promise<Tip>
  /** @returns ends the subscription */
  subscribe(listener: (event: DevnetEvent) => void): () => void
  /** Ends block production, waits for what is under way; the store is its owner's to close. */
  close(): Promise<void>
}
