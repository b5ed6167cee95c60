import { type HttpError, hasCode } from '@ratatosk/http'

/** Why there is no answer. */
export type OperatorsErrorCode = 'OPERATORS_INVALID_PARAMETER'

/** Whether a caught value is one of this package's errors; works across copies of the package. */
export function isOperatorsError(value: unknown): value is HttpError & { readonly code: OperatorsErrorCode } {
  return hasCode(value, 'OPERATORS_')
}
