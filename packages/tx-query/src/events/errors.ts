import { BusyError, HttpError, hasCode } from '@ratatosk/http'

/** 400: more than one of the filters `tx_hash`, `address` and `block`. */
export class TooManyFiltersError extends HttpError {
  constructor() {
    super(400, 'EVENTS_TOO_MANY_FILTERS', 'Send at most one of tx_hash, address and block')
  }
}

/** 400: a parameter that does not exist. Without this check, a misspelt filter would match everything. */
export class UnknownParameterError extends HttpError {
  constructor(name: string, known: readonly string[]) {
    super(400, 'EVENTS_UNKNOWN_PARAMETER', `Unknown parameter: ${name}. Send any of ${known.join(', ')}`)
  }
}

/** 503: as many clients as allowed read events. */
export class TooManyClientsError extends BusyError {
  constructor() {
    super('EVENTS_TOO_MANY_CLIENTS', 'Too many clients read events: retry later', 5)
  }
}

/** Why a stream was refused. */
export type EventsErrorCode =
  | 'EVENTS_INVALID_PARAMETER'
  | 'EVENTS_TOO_MANY_FILTERS'
  | 'EVENTS_UNKNOWN_PARAMETER'
  | 'EVENTS_TOO_MANY_CLIENTS'

/** Whether a caught value is one of this package's errors; works across copies of the package. */
export function isEventsError(value: unknown): value is HttpError & { readonly code: EventsErrorCode } {
  return hasCode(value, 'EVENTS_')
}
