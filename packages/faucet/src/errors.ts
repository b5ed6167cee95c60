import { type ExposedError, HttpError, hasCode, isHttpError } from '@ratatosk/http'

/** The `code` in the body of a faucet error, and its status. */
export const faucetStatuses = {
  ADDRESS_INVALID: 400,
  ADDRESS_NETWORK_MISMATCH: 400,
  ADDRESS_NO_PAYMENT_CREDENTIAL: 400,
  ADDRESS_SCRIPT: 400,
  COOLDOWN: 429,
  IP_LIMIT: 429,
  DEPLETED: 503,
  VALIDATION_FAILED: 500,
  INTERNAL: 500,
} as const

/** The `code` in the body of a 503 because the node is overloaded. */
export const overloadCode = 'OVERLOADED'

/** The `code` in the body of a faucet error. */
export type FaucetErrorCode = keyof typeof faucetStatuses

const messages: { readonly [code in FaucetErrorCode]: string } = {
  ADDRESS_INVALID: 'The address is not a valid bech32 address',
  ADDRESS_NETWORK_MISMATCH: 'The address belongs to another network',
  ADDRESS_NO_PAYMENT_CREDENTIAL: 'The address has no payment credential',
  ADDRESS_SCRIPT: 'The address belongs to a script',
  COOLDOWN: 'The address has claimed too recently',
  IP_LIMIT: 'The daily limit of claims for this IP is reached',
  DEPLETED: 'The faucet has insufficient funds; try again later',
  VALIDATION_FAILED: 'The funding transaction was not valid; try again with the same idempotencyKey',
  INTERNAL: 'Something went wrong',
}

/** Seconds until a retry: the rolling day of `IP_LIMIT`; for `DEPLETED` a minute, as refills are unknown. */
const retryAfterSeconds: { readonly [code in FaucetErrorCode]?: number } = { IP_LIMIT: 86_400, DEPLETED: 60 }

/** A refused or failed claim. Its `code` is that of the body with the prefix `FAUCET_`. */
export class FaucetError extends HttpError {
  /**
   * @param options `nextEligibleAt` goes into the body of a `COOLDOWN`, and as `Retry-After` into its
   *   headers;
   *   `cause` goes to the log only
   */
  constructor(code: FaucetErrorCode, options: { cause?: unknown; nextEligibleAt?: Date } = {}) {
    const { cause, nextEligibleAt } = options
    const next = nextEligibleAt && { nextEligibleAt: nextEligibleAt.toISOString() }
    const seconds = nextEligibleAt ? secondsUntil(nextEligibleAt) : retryAfterSeconds[code]
    super(faucetStatuses[code], `FAUCET_${code}`, messages[code], {
      cause,
      bodyFields: { code, ...next },
      ...(seconds !== undefined && { headers: { 'retry-after': String(seconds) } }),
    })
  }
}

/** 400 `FAUCET_INVALID_CLAIM`: a field of the body is malformed; the message names it. */
export class InvalidClaimError extends HttpError {
  constructor(field: string, rule: string) {
    super(400, 'FAUCET_INVALID_CLAIM', `Invalid ${field}: ${rule}`)
  }
}

/** 409 `FAUCET_KEY_USED`: the idempotency key belongs to a claim of another address. */
export class KeyUsedError extends HttpError {
  constructor() {
    super(409, 'FAUCET_KEY_USED', 'idempotencyKey already used')
  }
}

/** 415 `FAUCET_INVALID_CLAIM`: the content type is not `application/json`, or is missing. */
export class UnsupportedTypeError extends HttpError {
  constructor() {
    super(
      415,
      'FAUCET_INVALID_CLAIM',
      'Unsupported Media Type: send JSON with the header Content-Type: application/json',
    )
  }
}

function secondsUntil(time: Date): number {
  return Math.max(1, Math.ceil((time.getTime() - Date.now()) / 1000))
}

/**
 * Whether a caught value is one of this package's errors; works across copies of this package.
 *
 * @example
 * server.addHook('onError', async (_request, _reply, error) => {
 *   if (isFaucetError(error) && error.code === 'FAUCET_DEPLETED') alert('Refill the faucet')
 * })
 */
export function isFaucetError(value: unknown): value is ExposedError & { readonly code: string } {
  return isHttpError(value) && hasCode(value, 'FAUCET_')
}
