import { type HttpError, hasCode } from '@ratatosk/http'

/** Why a transaction was not evaluated. */
export type EvaluateErrorCode =
  | 'EVALUATE_INVALID_CBOR'
  | 'EVALUATE_TOO_LARGE'
  | 'EVALUATE_UNSUPPORTED_TYPE'
  | 'EVALUATE_BUSY'

/** Whether a caught value is one of this package's errors; works across copies of the package. */
export function isEvaluateError(value: unknown): value is HttpError & { readonly code: EvaluateErrorCode } {
  return hasCode(value, 'EVALUATE_')
}
