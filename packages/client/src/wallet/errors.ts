/** The codes of CIP-30, by the type of error. */
const codes = {
  APIError: { InvalidRequest: -1, InternalError: -2, Refused: -3, AccountChange: -4 },
  DataSignError: { ProofGeneration: 1, AddressNotPK: 2, UserDeclined: 3 },
  TxSendError: { Refused: 1, Failure: 2 },
  TxSignError: { ProofGeneration: 1, UserDeclined: 2 },
} as const

type Codes = typeof codes

/** An error of CIP-30; `name` is its type there. */
export class Cip30Error extends Error {
  readonly code: number
  readonly info: string

  constructor(name: keyof Codes, code: number, info: string) {
    super(info)
    this.name = name
    this.code = code
    this.info = info
  }
}

/** The `PaginateError` of CIP-30: there are fewer pages. */
export class PaginateError extends Error {
  /** Number of pages. */
  readonly maxSize: number

  constructor(maxSize: number) {
    super(`There are ${maxSize} pages of this size, counted from 0`)
    this.name = 'PaginateError'
    this.maxSize = maxSize
  }
}

export function cip30Error<Name extends keyof Codes>(
  name: Name,
  code: keyof Codes[Name],
  info: string,
): Cip30Error {
  return new Cip30Error(name, codes[name][code] as number, info)
}

export function invalidRequest(info: string): Cip30Error {
  return cip30Error('APIError', 'InvalidRequest', info)
}
