import { BusyError, HttpError, hasCode } from '@ratatosk/http'

/** 404: the archive does not have the block. */
export class BlockNotFoundError extends HttpError {
  constructor(id: string) {
    super(404, 'ARCHIVIST_BLOCK_NOT_FOUND', `Block not found: ${id}`)
  }
}

/** 503: the maximum number of bodies is being sent. The response has a `Retry-After` header. */
export class TooManyReadsError extends BusyError {
  constructor() {
    super('ARCHIVIST_TOO_MANY_READS', 'Too many block bodies in progress: retry later')
  }
}

/** Whether a caught value is one of this package's errors; works across copies of the package. */
export function isArchivistError(value: unknown): value is HttpError {
  return hasCode(value, 'ARCHIVIST_')
}
