import { BusyError, HttpError, hasCode } from '@ratatosk/http'

/** Why there is no answer. */
export type OperatorsErrorCode =
  | 'OPERATORS_INVALID_PARAMETER'
  | 'OPERATORS_UNKNOWN_BLOCK'
  | 'OPERATORS_NOT_ASKED'
  | 'OPERATORS_BUSY'

/** 404: the state queue does not have the block. */
export class UnknownBlockError extends HttpError {
  constructor(headerHash: string) {
    super(404, 'OPERATORS_UNKNOWN_BLOCK', `No such block in the state queue: ${headerHash}`)
  }
}

/** 409: the question is not asked, for this reason. */
export class NotAskedError extends HttpError {
  constructor(reason: string) {
    super(409, 'OPERATORS_NOT_ASKED', reason)
  }
}

/** 503: too many questions wait to be asked. */
export const tooManyQuestions = (): BusyError =>
  new BusyError('OPERATORS_BUSY', 'Too many questions wait to be asked: retry later')

/** Whether a caught value is one of this package's errors; works across copies of the package. */
export function isOperatorsError(value: unknown): value is HttpError & { readonly code: OperatorsErrorCode } {
  return hasCode(value, 'OPERATORS_')
}
