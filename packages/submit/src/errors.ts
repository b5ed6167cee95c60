import { inspect, types } from 'node:util'
import { HttpError, hasCode, retryAfterSeconds } from '@ratatosk/http'

/**
 * 500: the queue did not accept the transaction, or the server is overloaded. Their error is the `cause`, or
 * one that quotes a value that is no error. If it has a positive number `retryAfterMs`, the response has a
 * `Retry-After` header, in seconds.
 */
export class EnqueueError extends HttpError {
  constructor(cause: unknown) {
    const seconds = retryAfterSeconds(cause)
    super(500, 'SUBMIT_ENQUEUE_FAILED', 'Failed to enqueue transaction', {
      cause: errorOf(cause),
      ...(hasCode(cause, 'HTTP_OVERLOADED') && { quiet: true }),
      ...(seconds !== undefined && { headers: { 'retry-after': String(seconds) } }),
    })
  }
}

/** A queue in JavaScript may reject with any value, and the log shows only errors. */
function errorOf(cause: unknown): Error {
  if (cause instanceof Error || types.isNativeError(cause)) return cause
  return new TypeError(`queue.add rejected with a value that is no error: ${inspect(cause)}`)
}

/** Why a submission was refused. */
export type SubmitErrorCode =
  | 'SUBMIT_INVALID_CBOR'
  | 'SUBMIT_TOO_LARGE'
  | 'SUBMIT_UNSUPPORTED_TYPE'
  | 'SUBMIT_ENQUEUE_FAILED'

/** Whether a caught value is one of this package's errors; works across copies of the package. */
export function isSubmitError(value: unknown): value is HttpError & { readonly code: SubmitErrorCode } {
  return hasCode(value, 'SUBMIT_')
}
