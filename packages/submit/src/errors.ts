import { HttpError, hasCode } from '@ratatosk/http'

/** 400: the body is not exactly one well-formed CBOR item in hex. */
export class InvalidCborError extends HttpError {
  constructor() {
    super(400, 'SUBMIT_INVALID_CBOR', 'Invalid CBOR provided')
  }
}

/** 413: the body has more hex digits than the largest transaction. */
export class TransactionTooLargeError extends HttpError {
  constructor() {
    super(413, 'SUBMIT_TOO_LARGE', 'Request body is too large')
  }
}

/** 415: the request has neither a `Content-Type` nor a body. */
export class MissingContentTypeError extends HttpError {
  constructor() {
    super(415, 'SUBMIT_MISSING_CONTENT_TYPE', 'Unsupported Media Type')
  }
}

/**
 * 500: the queue did not accept the transaction. The queue's error is the `cause`; if it has a positive
 * number `retryAfterMs`, the response has a `Retry-After` header, in seconds.
 */
export class EnqueueError extends HttpError {
  constructor(cause: unknown) {
    const seconds = retryAfterSeconds(cause)
    super(500, 'SUBMIT_ENQUEUE_FAILED', 'Failed to enqueue transaction', {
      cause,
      ...(seconds !== undefined && { headers: { 'retry-after': String(seconds) } }),
    })
  }
}

/** Why a submission was refused. */
export type SubmitErrorCode =
  | 'SUBMIT_INVALID_CBOR'
  | 'SUBMIT_TOO_LARGE'
  | 'SUBMIT_MISSING_CONTENT_TYPE'
  | 'SUBMIT_ENQUEUE_FAILED'

/** Whether a caught value is one of this package's errors; works across copies of the package. */
export function isSubmitError(value: unknown): value is HttpError & { readonly code: SubmitErrorCode } {
  return hasCode(value, 'SUBMIT_')
}

function retryAfterSeconds(error: unknown): number | undefined {
  if (!(error instanceof Error) || !('retryAfterMs' in error)) return undefined
  const { retryAfterMs } = error
  return typeof retryAfterMs === 'number' && retryAfterMs > 0 ? Math.ceil(retryAfterMs / 1000) : undefined
}
