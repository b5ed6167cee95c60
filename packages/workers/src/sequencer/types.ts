import type { Contracts, FailureKind, Layer1, Layer1ErrorCode, Wallet } from '@ratatosk/layer1'
import type { BlockState, LedgerEntry, Store } from '@ratatosk/store'
import type { Roots } from '../roots/types.js'
import type { Log } from '../validation/activity.js'

/** What an operator asks for; one of them runs at a time. */
export type Operation = 'init' | 'commit' | 'merge' | 'reset' | 'repair'

/** Why a state of things forbids an operation. */
export type RefusalCode =
  /** This process has not got the lease of the sequencer. */
  | 'not-active'
  /** There is no root unit: init makes one. */
  | 'not-initialised'
  /** There is more than one root unit, or the links are broken: repair, then init. */
  | 'broken-queue'
  /** The state queue holds a block or a confirmed state that this store does not know. */
  | 'foreign-queue'
  /** The operator is not in the registry: init registers. */
  | 'not-registered'
  /** It is another operator's turn, or too little of the own one is left. */
  | 'not-in-turn'
  /** As many blocks are on their way as there may be. */
  | 'too-many-unconfirmed'
  /** The ledger began with other outputs than those of the settings. */
  | 'genesis-mismatch'
  /** The wallet cannot pay. */
  | 'insufficient-funds'

/** What became of an operation. */
export type OperationResult =
  | { readonly kind: 'initiated'; readonly transactionId: string; readonly rootUnit: string }
  | {
      readonly kind: 'root-exists'
      readonly rootUnit: string
      readonly stateQueueAddress: string
      readonly count: number
      /** Each `<64 hex digits>#<index>`. */
      readonly outRefs: readonly string[]
    }
  | {
      readonly kind: 'committed'
      /** 56 hex digits. */
      readonly headerHash: string
      readonly transactionId: string
      /** How many. */
      readonly transactions: number
    }
  | { readonly kind: 'nothing-to-commit' }
  | { readonly kind: 'merged'; readonly headerHash: string; readonly transactionId: string }
  | { readonly kind: 'nothing-to-merge' }
  | { readonly kind: 'reset' }
  | { readonly kind: 'repaired' }
  /** Another operation holds the lock. */
  | { readonly kind: 'busy'; readonly operation: Operation }
  /** It cannot be done as things stand; the message says what to do. */
  | { readonly kind: 'refused'; readonly code: RefusalCode; readonly message: string }
  /** Fit to be shown: no credentials, no addresses of servers. */
  | { readonly kind: 'layer1-failed'; readonly cause: FailureKind; readonly code: Layer1ErrorCode }

/** A durable step: what came before it survives a crash. */
export type Step =
  | 'roots-applied'
  | 'block-built'
  | 'commit-sent'
  | 'block-submitted'
  | 'block-committed'
  | 'block-mature'
  | 'merge-stored'
  | 'merge-sent'
  | 'block-merged'
  | 'block-returned'
  | 'block-revived'
  | 'roots-aligned'
  | 'genesis-applied'
  | 'scripts-published'
  | 'registry-begun'
  | 'operator-registered'
  | 'elements-burned'
  | 'root-minted'
  | 'store-emptied'

/** Told of each step once it is durable. */
export interface SequencerObserver {
  step(name: Step): void
}

export type SequencerStore = Pick<Store, 'blocks' | 'leases' | 'applyGenesis'>

export interface SequencerOptions {
  readonly store: SequencerStore
  readonly layer1: Layer1
  readonly contracts: Contracts
  /** Pays for blocks and merges, and signs headers. */
  readonly operator: Wallet
  /** Begins and ends queues; holds the scripts for reference. */
  readonly administrator: Wallet
  readonly roots: Roots
  /** The first outputs of the ledger: init applies them to an empty one. */
  readonly genesis: readonly LedgerEntry[]
  /** Names this process in leases and logs; no two running ones share it. */
  readonly holder: string
  readonly log?: Log
  readonly observer?: SequencerObserver
  /** Commits by itself. @defaultValue true */
  readonly autoCommit?: boolean
  /** Merges by itself. @defaultValue true */
  readonly autoMerge?: boolean
  /** Begins a queue at the start where there is neither a root unit nor a block. @defaultValue false */
  readonly autoInit?: boolean
  /** @defaultValue 1000 */
  readonly commitEveryMs?: number
  /** @defaultValue 10000 */
  readonly mergeEveryMs?: number
  /** Between two looks at layer 1 while something is on its way. @defaultValue 1000 */
  readonly pollMs?: number
  /** Transactions at most in one block. @defaultValue 10000 */
  readonly maxBlockTransactions?: number
  /** How long layer 1 may take to include a transaction. @defaultValue 120000 */
  readonly blockValidityMs?: number
  /** Commitments at most on their way to layer 1, and merges likewise. @defaultValue 8 */
  readonly maxUnconfirmed?: number
  /** A killed sequencer is replaced after so long. @defaultValue 10000 */
  readonly leaseMs?: number
  /** How long an operation is waited for; what it began goes on. @defaultValue 180000 */
  readonly operationTimeoutMs?: number
}

/** Where a block on its way stands, as JSON. */
export interface BlockSnapshot {
  readonly height: number
  readonly headerHash: string
  readonly state: BlockState
  readonly transactions: number
  readonly commitTransaction: string
  readonly mergeTransaction: string | null
}

/** What the sequencer has in mind, as JSON. */
export interface SequencerSnapshot {
  readonly holder: string
  readonly active: boolean
  /** ISO 8601. */
  readonly leaseExpiresAt: string | null
  /** What is being done. */
  readonly doing: Operation | 'reconcile' | null
  readonly lastStep: Step | null
  /** Why nothing is committed or merged. */
  readonly fault: { readonly code: RefusalCode; readonly message: string } | null
  /** 64 hex digits; null while nothing is known of it. */
  readonly utxosRoot: string | null
  readonly confirmed: string | null
  /** The oldest first. */
  readonly unmerged: readonly BlockSnapshot[]
  readonly rootUnit: string
  readonly settings: { readonly [name: string]: number | boolean }
}

/** Commits and merges blocks while it holds the lease of the sequencer. */
export interface Sequencer {
  /** Takes the lease when it is free, from now on. Resolves at once. */
  start(): Promise<void>
  /** Whether it holds the lease. */
  readonly active: boolean
  /** Tells of each change of `active`. @returns ends the subscription */
  subscribe(listener: (active: boolean) => void): () => void
  /**
   * Runs one operation and waits until layer 1 has it in a block, `operationTimeoutMs` at most; what it began goes on. Rejects only
   * for the unexpected.
   */
  run(operation: Operation): Promise<OperationResult>
  snapshot(): SequencerSnapshot
  /** Ends the step under way and releases the lease. Safe to call twice. */
  close(): Promise<void>
}
