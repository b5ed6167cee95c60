import { HttpError, printed, type QueryValue } from '@ratatosk/http'

/** 400: neither a decimal height nor 56 hex digits. */
export class InvalidBlockIdError extends HttpError {
  constructor(id: string) {
    super(400, 'ARCHIVIST_INVALID_BLOCK_ID', `Invalid block id: ${id}`)
  }
}

/** 400: a bound that is missing or no height, bounds the wrong way round, or more blocks than one answer holds. */
export class InvalidRangeError extends HttpError {
  constructor(from: QueryValue, to: QueryValue) {
    super(400, 'ARCHIVIST_INVALID_RANGE', `Invalid range: from ${printed(from)} to ${printed(to)}`)
  }
}

/** 404 */
export class BlockNotFoundError extends HttpError {
  constructor(id: string) {
    super(404, 'ARCHIVIST_BLOCK_NOT_FOUND', `Block not found: ${id}`)
  }
}
