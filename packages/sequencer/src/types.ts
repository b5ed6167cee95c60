import type { BlockRules } from '@ratatosk/block'
import type { Peers } from '@ratatosk/follower'
import type { Authority, Layer1, Wallet } from '@ratatosk/layer1'
import type { Log, Operation, OperationDetails, OperationResult, RefusalCode } from '@ratatosk/ports'
import type { Contracts } from '@ratatosk/protocol'
import type { BlockState, LedgerEntry, Store } from '@ratatosk/store'
import type { BlockAnswers, Roots } from './roots/index.js'
import type { Questions } from './summons/questions.js'

/** A durable step: it survives a crash of the process. */
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
  | 'blocks-undone'
  | 'blocks-pruned'
  | 'transactions-resubmitted'
  | 'resubmissions-recorded'
  | 'block-restored'
  | 'block-judged'
  | 'block-adopted'
  | 'expired-dropped'
  | 'roots-aligned'
  | 'genesis-applied'
  | 'scripts-published'
  | 'registry-created'
  | 'operator-registered'
  | 'elements-burned'
  | 'blocks-removed'
  | 'root-minted'
  | 'store-emptied'
  | 'deposits-forgotten'
  | 'answer-recorded'
  | 'answer-sent'

/** Receives each step after it is durable. */
export interface SequencerObserver {
  step(name: Step): void
}

/** The parts of the store that a sequencer uses. */
export type SequencerStore = Pick<
  Store,
  'blocks' | 'bodies' | 'resubmissions' | 'answers' | 'leases' | 'applyGenesis'
>

/**
 * Where transactions go to be judged: `createSubmissionQueue` of `@ratatosk/queue`, or anything with its
 * method.
 */
export interface Submissions {
  /** @returns the submission's id, once it is stored */
  add(cbor: Uint8Array): Promise<string>
}

/** The administrator, where its keys are at hand. */
export interface Administrator {
  /** Pays for the administrator's transactions and gives them its authority. */
  readonly wallet: Wallet
  /** Gives the administrator's authority to transactions that the operator pays for. */
  readonly authority: Authority
}

/** The administrator, where its keys are not at hand. */
export interface AbsentAdministrator {
  /** The text of the refusals: the missing means and the remedy. May be shown to clients. */
  readonly absent: string
}

/** The means to answer questions of the summons about this operator's blocks. */
export interface AnswerMeans {
  readonly blocks: BlockAnswers
  /** Pays for answers, and for nothing else; opened with `answerKeys`. The operator's wallet fills it. */
  readonly wallet: Wallet
}

/** The means to follow blocks of other operators. */
export interface AdoptionMeans {
  /** Who may have their bodies: `createPeers` of `@ratatosk/follower`. Its owner closes it. */
  readonly peers: Pick<Peers, 'ask' | 'askBody'>
  /** The rules that every transaction must keep: those of the validation workers. */
  readonly rules: BlockRules
}

/** The parts and settings of a sequencer. */
export interface SequencerOptions {
  readonly store: SequencerStore
  /** Takes the transactions of blocks that layer 1 has removed. */
  readonly submissions: Submissions
  readonly layer1: Layer1
  readonly contracts: Contracts
  /** Pays for commits and merges, and signs headers. */
  readonly operator: Wallet
  /**
   * Initialises and burns queues, removes blocks and admits the operator; or why its keys are not here.
   * Operations that need them are refused then, and everything else works. Not used if the administrator of
   * the contracts is renounced: the operator initialises then, and what else would need the administrator is
   * refused.
   *
   * @defaultValue absent
   */
  readonly administrator?: Administrator | AbsentAdministrator
  readonly roots: Roots
  /** Without it, nothing is committed where the contracts have a summons. */
  readonly answers?: AnswerMeans
  /** Without it, a block of another operator stops this sequencer. */
  readonly adoption?: AdoptionMeans
  /**
   * How many transactions this process has accepted. Only where no other process accepts any: an empty
   * mempool is then read again when that has changed, or at a reconciliation.
   */
  readonly arrivals?: () => number
  /** The genesis outputs of the ledger: init applies them to an empty ledger. */
  readonly genesis: readonly LedgerEntry[]
  /** Names this process in leases and logs; unique among running processes. */
  readonly holder: string
  readonly log?: Log
  readonly observer?: SequencerObserver
  /** Commit on a schedule. @defaultValue true */
  readonly autoCommit?: boolean
  /** Merge on a schedule. @defaultValue true */
  readonly autoMerge?: boolean
  /** At the start, initialise a state queue if neither a root unit nor a block exists. @defaultValue false */
  readonly autoInit?: boolean
  /**
   * Milliseconds between two commits, unless a block is due earlier by size or fees; at most one in each slot
   * of layer 1. While a block takes longer than half of it to build, the next one waits for twice as long as
   * that took, and at most for twice this interval.
   *
   * @defaultValue 1000
   */
  readonly commitEveryMs?: number
  /**
   * Number of waiting transactions at which a block is committed at once. @defaultValue
   * `maxBlockTransactions`
   */
  readonly commitAtTransactions?: number
  /**
   * Layer-2 fees of waiting transactions, in lovelace, at which a block is committed at once. @defaultValue
   * no such trigger
   */
  readonly commitAtFees?: bigint
  /**
   * Budget for commits and merges in lovelace per hour. At 80 % a warning is logged and commits slow down;
   * beyond the budget they wait. Merges and operations are never delayed. @defaultValue no limit
   */
  readonly hourlyBudget?: bigint
  /** Milliseconds between two attempts to merge. @defaultValue 10000 */
  readonly mergeEveryMs?: number
  /**
   * Milliseconds between two reads of layer 1's tip; everything else is read when it is another one.
   * @defaultValue 1000
   */
  readonly pollMs?: number
  /** Maximum number of transactions in a block. @defaultValue 10000 */
  readonly maxBlockTransactions?: number
  /**
   * Number of waiting transactions for which the roots of the next block are computed ahead, each time so
   * many more wait. Of smaller blocks all is computed when they are committed. @defaultValue 250
   */
  readonly prepareAtTransactions?: number
  /** How long layer 1 may take to include a commit or a merge, in milliseconds. @defaultValue 120000 */
  readonly blockValidityMs?: number
  /** Maximum number of unconfirmed commits, and of unconfirmed merges. @defaultValue 8 */
  readonly maxUnconfirmed?: number
  /** Milliseconds until another sequencer replaces a killed one. @defaultValue 10000 */
  readonly leaseMs?: number
  /**
   * How long `run` waits for a result, in milliseconds. An operation that takes longer continues.
   * @defaultValue 180000
   */
  readonly operationTimeoutMs?: number
}

/** An unmerged block as JSON. */
export interface BlockSnapshot {
  readonly height: number
  /** 56 hex digits. */
  readonly headerHash: string
  readonly state: BlockState
  /** The number of transactions. */
  readonly transactions: number
  /** 64 hex digits; null for a block of another operator. */
  readonly commitTransaction: string | null
  /** 64 hex digits. */
  readonly mergeTransaction: string | null
}

/** The in-memory state of a sequencer as JSON. */
export interface SequencerSnapshot {
  readonly holder: string
  readonly active: boolean
  /** ISO 8601. */
  readonly leaseExpiresAt: string | null
  /** The running activity. */
  readonly activity: Operation | 'reconcile' | null
  readonly lastStep: Step | null
  /** Why nothing is committed or merged. */
  readonly fault: { readonly code: RefusalCode; readonly message: string } | null
  /** 64 hex digits; null before the first reconciliation and without a block. */
  readonly utxosRoot: string | null
  /** Header hash of the newest merged block, 56 hex digits. */
  readonly confirmed: string | null
  /** Unmerged blocks at both ends of the queue, the oldest first. */
  readonly unmerged: readonly BlockSnapshot[]
  readonly rootUnit: string
  readonly settings: { readonly [name: string]: number | boolean }
}

/** Commits and merges blocks while it holds the sequencer's lease. */
export interface Sequencer {
  /**
   * Takes the lease as soon as it is free, from now on, also after {@link close}, once that has ended.
   * Otherwise resolves at once.
   */
  start(): Promise<void>
  /** Whether this sequencer holds the lease. */
  readonly active: boolean
  /** Key hash of its operator, 56 hex digits. */
  readonly operatorKey: string
  /**
   * For how many milliseconds layer 1 has included no commit that was sent, if this is the active sequencer
   * and that is longer than one is valid; otherwise undefined.
   */
  readonly overdueMs: number | undefined
  /** For how many milliseconds the `fault` of the snapshot has ended every attempt; 0 without one. */
  readonly faultMs: number
  /** The questions about this operator's blocks, as this sequencer has last read them. */
  readonly questions: Questions
  /** Calls the listener at each change of `active`. @returns ends the subscription */
  subscribe(listener: (active: boolean) => void): () => void
  /**
   * Runs an operation and waits until a block of layer 1 includes its transaction, `operationTimeoutMs` at
   * most; an operation that takes longer continues. Rejects only on unexpected errors.
   */
  run(operation: Operation, details?: OperationDetails): Promise<OperationResult>
  snapshot(): SequencerSnapshot
  /** Ends after the running step and releases the lease. Safe to call twice. */
  close(): Promise<void>
}
