import { HttpError } from '@ratatosk/http'

/** The stable codes of the faucet's errors, and their statuses. */
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

export type FaucetErrorCode = keyof typeof faucetStatuses

const messages: { readonly [code in FaucetErrorCode]: string } = {
  ADDRESS_INVALID: 'The address is no bech32 address',
  ADDRESS_NETWORK_MISMATCH: 'The address belongs to another network',
  ADDRESS_NO_PAYMENT_CREDENTIAL: 'The address has no payment credential',
  ADDRESS_SCRIPT: 'The address belongs to a script',
  COOLDOWN: 'The address has claimed too recently',
  IP_LIMIT: 'The daily limit of claims for this IP is reached',
  DEPLETED: 'The faucet has too little left; come back later',
  VALIDATION_FAILED: 'The funding transaction was not valid; try again with the same idempotencyKey',
  INTERNAL: 'Something went wrong',
}

/** A refused or failed claim; `nextEligibleAt` stands in the body of a `COOLDOWN`. */
export class FaucetError extends HttpError {
  constructor(code: FaucetErrorCode, options: { cause?: unknown; nextEligibleAt?: Date } = {}) {
    const { cause, nextEligibleAt } = options
    const next = nextEligibleAt && { nextEligibleAt: nextEligibleAt.toISOString() }
    super(faucetStatuses[code], `FAUCET_${code}`, messages[code], { cause, bodyFields: { code, ...next } })
  }
}

/** 400: the body breaks its rules; `error` names the field. */
export class InvalidClaimError extends HttpError {
  constructor(field: string, rule: string) {
    super(400, 'FAUCET_INVALID_CLAIM', `Invalid ${field}: ${rule}`)
  }
}

/** 409: the key belongs to a claim of another address. */
export class KeyUsedError extends HttpError {
  constructor() {
    super(409, 'FAUCET_KEY_USED', 'idempotencyKey already used')
  }
}
