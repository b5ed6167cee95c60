import { BusyError, HttpError, hasCode, inTime, isWrongResult } from '@ratatosk/http'

/** 404: this node has nothing under that name. The message says where it may be instead. */
export class NotHereError extends HttpError {
  /**
   * @param what such as `Block 7`
   * @param instead a sentence that says what the name could be
   */
  constructor(what: string, instead: string) {
    super(404, 'EXPLORER_NOT_HERE', `${what} is not here. ${instead}`)
  }
}

/** 503: as many reads of blocks as allowed wait for others. The response has a `Retry-After` header. */
export class ExplorerBusyError extends BusyError {
  constructor() {
    super('EXPLORER_TOO_MANY_READS', 'Too many blocks are being read: retry later')
  }
}

/** Why there is no answer. */
export type ExplorerErrorCode = 'EXPLORER_INVALID_PARAMETER' | 'EXPLORER_NOT_HERE' | 'EXPLORER_TOO_MANY_READS'

/** Whether a caught value is one of this package's errors; works across copies of the package. */
export function isExplorerError(value: unknown): value is HttpError & { readonly code: ExplorerErrorCode } {
  return hasCode(value, 'EXPLORER_')
}

/**
 * Undefined if what is asked fails or takes too long: the rest of an answer does not depend on it. That the
 * result of a port does not fit is thrown: only its author can mend it.
 */
export async function unlessItFails<T>(
  asked: Promise<T> | undefined,
  timeoutMs: number,
): Promise<T | undefined> {
  if (asked === undefined) return undefined
  try {
    return await inTime('a port', timeoutMs, asked)
  } catch (error) {
    if (isWrongResult(error)) throw error
    return undefined
  }
}
