import { HttpError, hasCode, printed, type QueryValue } from '@ratatosk/http'

/** 400: a query parameter breaks its rule. The message repeats the parameter and says what to send. */
export class InvalidParameterError extends HttpError {
  constructor(what: 'transaction hash' | 'submission id', value: QueryValue, rule: string) {
    super(400, 'TX_STATUS_INVALID_PARAMETER', `Invalid ${what}: ${printed(value)}. ${rule}`)
  }
}

/** Whether a caught value is one of this package's errors; works across copies of the package. */
export function isTxStatusError(value: unknown): value is HttpError & {
  readonly code: 'TX_STATUS_INVALID_PARAMETER'
} {
  return hasCode(value, 'TX_STATUS_')
}
