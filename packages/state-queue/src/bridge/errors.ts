import { HttpError, hasCode } from '@ratatosk/http'

/** Why there is no answer. */
export type BridgeErrorCode =
  | 'BRIDGE_INVALID_PARAMETER'
  | 'BRIDGE_ABSENT'
  | 'BRIDGE_REFUSED'
  | 'BRIDGE_FOREIGN_TRANSACTION'
  | 'BRIDGE_SPENT'
  | 'BRIDGE_NOT_OWED'
  | 'BRIDGE_BUSY'

/** 404: the deployment has no bridge. */
export class NoBridgeError extends HttpError {
  constructor() {
    super(404, 'BRIDGE_ABSENT', 'This deployment has no bridge')
  }
}

/** 400: layer 1 would refuse the transaction, for this reason. */
export class RefusedError extends HttpError {
  constructor(reason: string) {
    super(400, 'BRIDGE_REFUSED', reason)
  }
}

/** 400: the transaction neither pays to the bridge nor spends from it. */
export class ForeignTransactionError extends HttpError {
  constructor() {
    super(400, 'BRIDGE_FOREIGN_TRANSACTION', 'Not a transaction of the bridge')
  }
}

/** 409: an input of the transaction is spent. */
export class SpentError extends HttpError {
  constructor() {
    super(
      409,
      'BRIDGE_SPENT',
      'An input of the transaction is spent, or layer 1 does not know it: draft it again',
    )
  }
}

/** 409: nothing is paid now, for this reason. */
export class NotOwedError extends HttpError {
  constructor(reason: string) {
    super(409, 'BRIDGE_NOT_OWED', reason)
  }
}

/** 503: too many requests of this kind wait. */
export const tooMany = (): HttpError => busy('Too many requests to the bridge wait: retry later')

/** 503: as {@link tooMany}, of this client alone. */
export const tooManyOfClient = (): HttpError =>
  busy('Too many requests of this client to the bridge wait: retry later')

/** A flood of requests must not become a flood of log lines. */
const busy = (message: string): HttpError =>
  new HttpError(503, 'BRIDGE_BUSY', message, { headers: { 'retry-after': '1' }, quiet: true })

/** Whether a caught value is one of this plugin's errors; works across copies of the package. */
export function isBridgeError(value: unknown): value is HttpError & { readonly code: BridgeErrorCode } {
  return hasCode(value, 'BRIDGE_')
}
