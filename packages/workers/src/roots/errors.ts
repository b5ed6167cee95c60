/**
 * Why roots could not be computed.
 *
 * | code | meaning |
 * | --- | --- |
 * | `ROOTS_INPUT_MISSING` | a transaction spends `reference`, which is not among the unspent outputs |
 * | `ROOTS_OUTPUT_EXISTS` | `reference` is made, or given to a rebuild, a second time |
 * | `ROOTS_TRANSACTION_MALFORMED` | the transaction at `position` of the block is none |
 * | `ROOTS_TRANSACTION_REPEATED` | the transaction at `position` is in the block before that too |
 * | `ROOTS_STORE_CONFLICT` | another process has written to the folder: open it again |
 * | `ROOTS_STORE_CORRUPT` | the folder holds something else: remove it, open it again and rebuild |
 * | `ROOTS_THREAD_ENDED` | the thread broke; what was asked of it may have been done. In memory: open again. With a folder: start the process again |
 * | `ROOTS_CLOSED` | used after `close()` |
 * | `ROOTS_FAILED` | anything else, a full disk for one |
 */
export type RootsErrorCode =
  | 'ROOTS_INPUT_MISSING'
  | 'ROOTS_OUTPUT_EXISTS'
  | 'ROOTS_TRANSACTION_MALFORMED'
  | 'ROOTS_TRANSACTION_REPEATED'
  | 'ROOTS_STORE_CONFLICT'
  | 'ROOTS_STORE_CORRUPT'
  | 'ROOTS_THREAD_ENDED'
  | 'ROOTS_CLOSED'
  | 'ROOTS_FAILED'

export interface RootsErrorDetails {
  /** `<transaction id in hex>#<index>` */
  readonly reference?: string
  /** In the block, counted from 0. */
  readonly position?: number
}

/** An error in the form in which it crosses the thread. */
export interface RootsFault extends RootsErrorDetails {
  readonly code: RootsErrorCode
  readonly message: string
}

/** What {@link Roots} rejects with. Tell them apart by `code`. */
export class RootsError extends Error {
  override readonly name = 'RootsError'
  readonly code: RootsErrorCode
  readonly reference: string | undefined
  readonly position: number | undefined

  constructor(code: RootsErrorCode, message: string, details: RootsErrorDetails = {}) {
    super(message)
    this.code = code
    this.reference = details.reference
    this.position = details.position
  }
}
