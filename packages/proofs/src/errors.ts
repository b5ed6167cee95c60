import { BusyError, HttpError, hasCode, printed, type QueryValue } from '@ratatosk/http'

/** 400: `outref` is neither `<tx_hash>#<index>` nor the CBOR of an output reference in hex. */
export class InvalidOutrefError extends HttpError {
  constructor(value: QueryValue) {
    super(
      400,
      'PROOFS_INVALID_OUTREF',
      `Invalid output reference: ${printed(value)}. Send outref as <tx_hash>#<index>, with # as %23 in a URL, or as its CBOR in hex`,
    )
  }
}

/** 400: `tx_hash` is not 64 hex digits. */
export class InvalidHashError extends HttpError {
  constructor(value: QueryValue) {
    super(
      400,
      'PROOFS_INVALID_HASH',
      `Invalid transaction hash: ${printed(value)}. Send tx_hash with 64 hex digits`,
    )
  }
}

/** 400: `header_hash` is not 56 hex digits. */
export class InvalidBlockHashError extends HttpError {
  constructor(value: QueryValue) {
    super(
      400,
      'PROOFS_INVALID_BLOCK_HASH',
      `Invalid block hash: ${printed(value)}. Send header_hash with 56 hex digits`,
    )
  }
}

/** 400: `at` is unknown, or given together with `header_hash`. */
export class InvalidStateError extends HttpError {
  constructor() {
    super(
      400,
      'PROOFS_INVALID_STATE',
      'Give either header_hash, or at=confirmed or at=committed: which state shall the proof be about?',
    )
  }
}

/** 404: no committed block fits. */
export class NoBlockError extends HttpError {
  constructor(what: string) {
    super(404, 'PROOFS_NO_BLOCK', what)
  }
}

/** 410: the state is too old: the node no longer has its tree. */
export class NotKeptError extends HttpError {
  constructor() {
    super(
      410,
      'PROOFS_NOT_KEPT',
      'The node no longer keeps the unspent outputs after this block: ask for a newer block',
    )
  }
}

/** 503: too many proofs are being made. */
export class ProverBusyError extends BusyError {
  constructor(retryAfterSeconds: number) {
    super('PROOFS_BUSY', 'Too many proofs are being made: retry later', retryAfterSeconds)
  }
}

/** Why there is no proof. */
export type ProofsErrorCode =
  | 'PROOFS_INVALID_OUTREF'
  | 'PROOFS_INVALID_HASH'
  | 'PROOFS_INVALID_BLOCK_HASH'
  | 'PROOFS_INVALID_STATE'
  | 'PROOFS_NO_BLOCK'
  | 'PROOFS_NOT_KEPT'
  | 'PROOFS_BUSY'

/** Whether a caught value is one of this package's errors; works across copies of the package. */
export function isProofsError(value: unknown): value is HttpError & { readonly code: ProofsErrorCode } {
  return hasCode(value, 'PROOFS_')
}
