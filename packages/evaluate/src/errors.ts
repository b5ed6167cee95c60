import { BusyError, HttpError, hasCode } from '@ratatosk/http'

/** 400: the body is not exactly one well-formed CBOR item in hex. */
export class InvalidCborError extends HttpError {
  constructor() {
    super(400, 'EVALUATE_INVALID_CBOR', 'Invalid CBOR provided')
  }
}

/** 413: the body has more hex digits than the largest transaction. */
export class TransactionTooLargeError extends HttpError {
  constructor() {
    super(413, 'EVALUATE_TOO_LARGE', 'Request body is too large')
  }
}

/** 415: the request has neither a `Content-Type` nor a body. */
export class MissingContentTypeError extends HttpError {
  constructor() {
    super(415, 'EVALUATE_MISSING_CONTENT_TYPE', 'Unsupported Media Type')
  }
}

/** 503: too many transactions wait to be evaluated. `Retry-After` says when to ask again. */
export class EvaluationsBusyError extends BusyError {
  constructor(retryAfterMs: number) {
    super(
      'EVALUATE_BUSY',
      'Too many transactions wait to be evaluated: retry later, or submit the transaction',
      Math.max(1, Math.ceil(retryAfterMs / 1000)),
    )
  }
}

/** Why a transaction was not evaluated. */
export type EvaluateErrorCode =
  | 'EVALUATE_INVALID_CBOR'
  | 'EVALUATE_TOO_LARGE'
  | 'EVALUATE_MISSING_CONTENT_TYPE'
  | 'EVALUATE_BUSY'

/** Whether a caught value is one of this package's errors; works across copies of the package. */
export function isEvaluateError(value: unknown): value is HttpError & { readonly code: EvaluateErrorCode } {
  return hasCode(value, 'EVALUATE_')
}
