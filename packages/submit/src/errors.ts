import { HttpError } from '@ratatosk/http'

/** 400: the body is not one well-formed CBOR item in hex. */
export class InvalidCborError extends HttpError {
  constructor() {
    super(400, 'SUBMIT_INVALID_CBOR', 'Invalid CBOR provided')
  }
}

/** 413: more hex digits than a transaction may have. */
export class TransactionTooLargeError extends HttpError {
  constructor() {
    super(413, 'SUBMIT_TOO_LARGE', 'Request body is too large')
  }
}

/** 415: neither `Content-Type` nor body. */
export class MissingContentTypeError extends HttpError {
  constructor() {
    super(415, 'SUBMIT_MISSING_CONTENT_TYPE', 'Unsupported Media Type')
  }
}

/** 500: the queue did not take the transaction; its reason is the `cause`. */
export class EnqueueError extends HttpError {
  constructor(cause: unknown) {
    super(500, 'SUBMIT_ENQUEUE_FAILED', 'Failed to enqueue transaction', { cause })
  }
}
