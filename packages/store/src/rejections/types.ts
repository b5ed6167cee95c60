import type { Json } from '@ratatosk/ledger'
import type { RejectionRecord } from '@ratatosk/ports'

/**
 * A submission that validation rejects for good. It is kept as a dead letter, its message cut to 1,000
 * characters. A second rejection under the same submission id is ignored.
 */
export interface NewRejection extends Omit<RejectionRecord, 'count' | 'rejectedAt'> {
  /** The submitted bytes, at least one. */
  readonly cbor: Uint8Array
  /** If its JSON is longer than 4 KiB, {@link TruncatedDetails} are kept instead. */
  readonly details: Json
  /**
   * The accepted transaction (32 bytes) that spends an input, if the rejection rests on nothing else: it is
   * reopened when that transaction leaves the ledger.
   */
  readonly spentBy?: Uint8Array
}

/** The kept part of details that are too long. */
export interface TruncatedDetails {
  readonly truncated: true
  /** Length of the details as JSON, in bytes of UTF-8. */
  readonly bytes: number
  /** The first 1,024 bytes of the JSON. */
  readonly beginning: string
}

/**
 * A dead letter without its CBOR: one for the same bytes, however often they were submitted. Submission id,
 * attempts, reason and times are those of the newest rejection. A transaction id may have several dead
 * letters, because it does not cover the witnesses.
 */
export interface RejectionSummary extends Omit<NewRejection, 'cbor'> {
  /** Grows with each rejection: the cursor of {@link Rejections.list}. */
  readonly sequence: bigint
  /** SHA-256 of the submitted bytes. */
  readonly digest: Uint8Array
  /** How many bytes were submitted. */
  readonly cborBytes: number
  /** Whether the CBOR is still there, so that the dead letter can be replayed. */
  readonly hasCbor: boolean
  /** How many submissions of these bytes were rejected. */
  readonly count: number
  /** By the database's clock. */
  readonly firstRejectedAt: Date
  /** By the database's clock. */
  readonly rejectedAt: Date
  /** The latest replay, see {@link Rejections.markReplayed}. */
  readonly replayed?: {
    readonly submissionId: string
    /** By the database's clock. */
    readonly at: Date
  }
  /** When the bytes were submitted again because the spender of an input had left the ledger. */
  readonly reopenedAt?: Date
}

/** A dead letter with its CBOR, unless retention has dropped it. */
export interface Rejection extends RejectionSummary {
  readonly cbor?: Uint8Array
}

/** A dead letter whose reason has gone: the transaction that it lost against has left the ledger. */
export interface Reopenable extends Pick<RejectionSummary, 'digest' | 'sequence'> {
  /** Which leaving of the transaction it is. */
  readonly number: bigint
  readonly cbor: Uint8Array
}

/** A dead letter that is in the queue again. */
export interface Reopened extends Omit<Reopenable, 'cbor'> {
  /** Its new submission. */
  readonly submissionId: string
}

/** How long and how many dead letters are kept. Whole numbers from 0. */
export interface Retention {
  /** Dead letters whose newest rejection is older are removed. Milliseconds. */
  readonly maxAgeMs: number
  /**
   * The bytes that dead letters may take. CBOR is dropped first, oldest first, beginning with what does not
   * decode. The reasons may take half of the bytes; beyond that the oldest dead letters are removed.
   */
  readonly maxBytes: number
}

/** The effects of {@link Rejections.prune}. */
export interface Pruned {
  /** Dead letters that have lost their CBOR. */
  readonly cborDropped: number
  /** Rejected submissions that were forgotten. A dead letter goes with the last of its submissions. */
  readonly submissionsForgotten: number
}

/** The bytes that dead letters take, without the database's own overhead. */
interface RejectionUsage {
  readonly cborBytes: number
  /** Everything except CBOR. */
  readonly reasonBytes: number
}

/** How rejections are added, inside and outside of {@link Store.withLedger}. */
export interface RejectionWriter {
  /**
   * Adds rejections. A submission id that is already there keeps its first rejection. Returns how many were
   * new.
   */
  add(rejections: readonly NewRejection[]): Promise<number>
}

/** Dead letters. */
export interface Rejections extends RejectionWriter {
  /**
   * Newest first. `before`: the `sequence` of the previous page's last entry. `limit`: 1 to 1000, default
   * 100.
   */
  list(page?: { readonly limit?: number; readonly before?: bigint }): Promise<RejectionSummary[]>
  /** The dead letter with the bytes of this submission. */
  find(submissionId: string): Promise<Rejection | undefined>
  /** Those of the submissions that were rejected. One query. */
  rejected(submissionIds: readonly string[]): Promise<string[]>
  /** The newest dead letter with this transaction id (32 bytes). */
  findTransaction(transactionId: Uint8Array): Promise<Rejection | undefined>
  /**
   * Notes that the bytes of a submission were submitted again.
   *
   * @param as the id of the new submission
   * @returns false if there is no such dead letter
   */
  markReplayed(submissionId: string, as: string): Promise<boolean>
  /**
   * Removes the dead letter with the bytes of this submission. False: it does not exist, or another call has
   * removed it.
   */
  remove(submissionId: string): Promise<boolean>
  /**
   * Applies the retention. Cheap when there is nothing to do: it reads two rows. Otherwise works in
   * transactions of up to 1,000 rows each until nothing is left to do. Call it after each batch with
   * rejections and once a minute.
   */
  prune(retention: Retention): Promise<Pruned>
  usage(): Promise<RejectionUsage>
  /**
   * Dead letters to submit again: those whose `spentBy` has left the ledger and is not on its way back. At
   * most 100, the oldest first, and at most 1,000 for one spender.
   */
  reopenable(): Promise<Reopenable[]>
  /** Notes that dead letters are in the queue again. Those that were rejected again since are left alone. */
  reopened(letters: readonly Reopened[]): Promise<void>
}
