import type { BlockVerdict, VerdictTransaction } from '@ratatosk/ports'
import type { Layer1Transaction } from '../blocks/types.js'

/** The purpose of a transaction. */
export type VerdictStage = VerdictTransaction['stage']

interface VerdictsQuery {
  /** The most verdicts to return, from 1. */
  readonly limit: number
  readonly state?: BlockVerdict['state']
  /** Header hash of the last verdict of the page before. */
  readonly before?: Uint8Array
}

/** A block that is unavailable or invalid. */
export interface NewVerdict extends Pick<BlockVerdict, 'headerHash' | 'height' | 'reason' | 'position'> {
  /** Plutus data CBOR. */
  readonly header: Uint8Array
  /** Id of the transaction that committed the block. */
  readonly commitId?: Uint8Array
  /** By default it is invalid. */
  readonly state?: 'unavailable' | 'invalid'
}

/** A transaction to be sent, with its signed bytes. */
export interface RecordedTransaction extends Layer1Transaction, Omit<VerdictTransaction, 'sentAt'> {
  /** Lovelace in outputs that hold a question, or parts of a proof. */
  readonly locked: bigint
}

/** An output that holds another's question about a disputed block. */
interface KeptQuestion {
  /** CBOR of its reference. */
  readonly reference: Uint8Array
  /** CBOR. */
  readonly output: Uint8Array
}

/** A verdict as the watcher works on it. */
export interface VerdictRecord
  extends Pick<BlockVerdict, 'headerHash' | 'height' | 'state' | 'reason' | 'fraud' | 'policy'> {
  /** Plutus data CBOR. */
  readonly header: Uint8Array
  readonly commitId?: Uint8Array
  /** In the order in which they were built. */
  readonly journal: readonly RecordedTransaction[]
}

/** The verdicts of a watcher. */
export interface Verdicts {
  /**
   * Reads a part of the list, newest first.
   *
   * @returns `verdicts`: none if `before` is not in the list; `hasMore`: whether others follow
   * @throws StoreError `STORE_INVALID_ARGUMENT`
   */
  list(
    query: VerdictsQuery,
    signal?: AbortSignal,
  ): Promise<{ readonly verdicts: BlockVerdict[]; readonly hasMore: boolean }>
  /**
   * Adds a verdict, and deletes the oldest beyond 10,000. One that is known becomes `removing` if it has
   * transactions besides questions: layer 1 shows its block, perhaps again.
   */
  found(verdict: NewVerdict): Promise<VerdictRecord>
  /** The newest verdicts whose blocks are not known to be removed or valid, at most 100. */
  open(): Promise<VerdictRecord[]>
  /** The newest verdict whose block is removed. */
  newestRemoved(): Promise<VerdictRecord | undefined>
  /**
   * Stores a transaction before it is sent. The verdict becomes `removing`, unless the transaction asks or
   * prunes.
   *
   * @param proof what is proved; absent if the transaction asks or prunes
   */
  record(
    headerHash: Uint8Array,
    transaction: RecordedTransaction,
    proof?: { readonly policy: string; readonly fraud: string },
  ): Promise<void>
  /** Those of some transactions that are stored, about any block, in the order in which they were built. */
  recorded(ids: readonly Uint8Array[]): Promise<RecordedTransaction[]>
  /** Keeps another's question about a block with a verdict, whose answer is needed. Repeating it is safe. */
  keepQuestion(headerHash: Uint8Array, question: KeptQuestion): Promise<void>
  /** The questions about a block that were kept, in no particular order. */
  keptQuestions(headerHash: Uint8Array): Promise<KeptQuestion[]>
  /** Deletes a transaction that layer 1 cannot include any more. */
  drop(id: Uint8Array): Promise<void>
  /** Sets why no proof removes a block. */
  unprovable(headerHash: Uint8Array, reason: string): Promise<void>
  /** The body of an unavailable block has come, and breaks no rule. */
  valid(headerHash: Uint8Array, reason: string): Promise<void>
  /** The state queue no longer has a block. Repeating it does not change the time. */
  removed(headerHash: Uint8Array): Promise<void>
  /** How many verdicts are in each state; without those in which none is. */
  counts(): Promise<ReadonlyMap<BlockVerdict['state'], number>>
  /** Lovelace that transactions recorded since a time cost and lock. */
  spentSince(time: Date): Promise<bigint>
}
