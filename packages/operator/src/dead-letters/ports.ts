import type { RejectionRecord } from '@ratatosk/ports'

/** A transaction that validation rejected for good. */
export interface DeadLetter extends RejectionRecord {
  /** SHA-256 of the submitted bytes: a letter keeps it when they are rejected again. */
  readonly digest: Uint8Array
  /** CBOR as submitted; absent once retention has dropped it. */
  readonly cbor?: Uint8Array
  /** Id of the submission of the latest replay. */
  readonly replayedAs?: string
}

/** A dead letter in a list: its position orders the list. */
export interface ListedDeadLetter extends DeadLetter {
  /** Greater for letters that were rejected later. */
  readonly sequence: bigint
}

/** The dead letters of a node. */
export interface DeadLetters {
  /** Newest first: at most `limit` letters, those before the position `before` if it is given. */
  list(page: { readonly limit: number; readonly before?: bigint }): Promise<readonly ListedDeadLetter[]>
  /** The letter of a submission. */
  find(submissionId: string): Promise<DeadLetter | undefined>
  /**
   * Submits the letter's transaction again. The letter stays, for the case that it is rejected again.
   *
   * @returns the id of the new submission; `'not-found'` without such a letter; `'dropped'` when its CBOR is
   *   no longer kept
   */
  replay(submissionId: string): Promise<{ readonly id: string } | 'not-found' | 'dropped'>
  /** Removes a letter; false if there was none. */
  drop(submissionId: string): Promise<boolean>
}
