/**
 * Why the roots could not be computed.
 *
 * | code | meaning, and what to do |
 * | --- | --- |
 * | `ROOTS_STORE_CONFLICT` | Another process uses the folder. Open it again, and give each process its own. |
 * | `ROOTS_STORE_CORRUPT` | The folder holds something else. Remove it, open it again and rebuild. |
 * | `ROOTS_THREAD_ENDED` | The call may have taken effect. In memory: open and rebuild. Else: restart. |
 * | `ROOTS_CLOSED` | Used after `close()`. |
 * | `ROOTS_FAILED` | Any other failure, such as a full disk. Nothing has changed. |
 */
export type RootsErrorCode =
  | 'ROOTS_STORE_CONFLICT'
  | 'ROOTS_STORE_CORRUPT'
  | 'ROOTS_THREAD_ENDED'
  | 'ROOTS_CLOSED'
  | 'ROOTS_FAILED'

/** A failure of the thread that computes roots, or of its folder. */
export class RootsError extends Error {
  override readonly name = 'RootsError'

  constructor(
    readonly code: RootsErrorCode,
    message: string,
  ) {
    super(message)
  }
}

/** Whether a caught value is a {@link RootsError}; works across copies of the package. */
export function isRootsError(value: unknown): value is RootsError {
  return value instanceof Error && value.name === 'RootsError'
}

/** No proof can be made now, mostly because too many are being made. Ask again later. */
export class ProverBusyError extends Error {
  readonly code = 'PROVER_BUSY'
  /** When to try again, in milliseconds. */
  readonly retryAfterMs = 2000

  constructor(message = 'Too many proofs are being made') {
    super(message)
    this.name = 'ProverBusyError'
  }
}
