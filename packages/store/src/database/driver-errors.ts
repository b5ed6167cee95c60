import { StoreError } from '../errors.js'

const sentences = {
  STORE_UNAVAILABLE: 'The database is unreachable: check that it runs and accepts connections',
  STORE_TIMEOUT: 'The database did not answer in time',
  STORE_CONFLICT: 'The data has changed since it was read: read it again',
  STORE_INVALID_ARGUMENT: 'The database refuses a value',
  STORE_CONFIGURATION: 'The database refuses the user, the database name or the privileges: check the url',
  STORE_CLOSED: 'The store is closed',
  STORE_FAILED: 'The database failed: see the cause',
} as const

type FailureCode = keyof typeof sentences

/** SQLSTATE, or its first two characters: https://www.postgresql.org/docs/current/errcodes-appendix.html */
const sqlStates: { readonly [state: string]: FailureCode } = {
  '08': 'STORE_UNAVAILABLE',
  '22': 'STORE_INVALID_ARGUMENT',
  '23': 'STORE_INVALID_ARGUMENT',
  '28': 'STORE_CONFIGURATION',
  '3D': 'STORE_CONFIGURATION',
  '40': 'STORE_CONFLICT',
  '53': 'STORE_UNAVAILABLE',
  '58': 'STORE_UNAVAILABLE',
  '23505': 'STORE_CONFLICT',
  '25006': 'STORE_UNAVAILABLE',
  '25P03': 'STORE_UNAVAILABLE',
  '42501': 'STORE_CONFIGURATION',
  '55P03': 'STORE_TIMEOUT',
  '57014': 'STORE_TIMEOUT',
  '57P01': 'STORE_UNAVAILABLE',
  '57P02': 'STORE_UNAVAILABLE',
  '57P03': 'STORE_UNAVAILABLE',
  '57P05': 'STORE_UNAVAILABLE',
}

/** Driver errors that have no code. */
const messages: readonly (readonly [RegExp, FailureCode])[] = [
  [/^Connection terminated/, 'STORE_UNAVAILABLE'],
  [/^Client (has encountered a connection error|was closed)/, 'STORE_UNAVAILABLE'],
  [/^timeout exceeded when trying to connect$/, 'STORE_UNAVAILABLE'],
  [/^Query read timeout$/, 'STORE_UNAVAILABLE'],
  [/^PGlite is clos(ed|ing)$/, 'STORE_CLOSED'],
]

/** Turns what a driver threw into a StoreError, with the driver's error as `cause`. */
export function toStoreError(error: unknown): StoreError {
  if (error instanceof StoreError) return error
  const code = codeOf(error)
  if (code !== undefined && /^[0-9A-Z]{5}$/.test(code) && code !== 'EPIPE') {
    return failure(sqlStates[code] ?? sqlStates[code.slice(0, 2)] ?? 'STORE_FAILED', error, code)
  }
  // System errors of Node.js: ECONNREFUSED, ENOTFOUND, ETIMEDOUT, …
  if (code?.startsWith('E') && !code.startsWith('ERR_')) return failure('STORE_UNAVAILABLE', error)
  const message = error instanceof Error ? error.message : ''
  return failure(messages.find(([pattern]) => pattern.test(message))?.[1] ?? 'STORE_FAILED', error)
}

function failure(code: FailureCode, cause: unknown, sqlState?: string): StoreError {
  return new StoreError(code, sentences[code], { cause, sqlState })
}

function codeOf(error: unknown): string | undefined {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  return typeof code === 'string' ? code : undefined
}
