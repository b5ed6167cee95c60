import { StoreError, type StoreErrorCode } from '../errors.js'

/** Codes that postgres.js and Node.js give to failures of the connection itself. */
const connectionFailures = new Set([
  'CONNECTION_CLOSED',
  'CONNECTION_DESTROYED',
  'CONNECT_TIMEOUT',
  'EAI_AGAIN',
  'ECONNABORTED',
  'ECONNREFUSED',
  'ECONNRESET',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOENT',
  'ENOTFOUND',
  'EPIPE',
  'ETIMEDOUT',
])

const sentences = {
  STORE_UNAVAILABLE: 'The database cannot be reached',
  STORE_TIMEOUT: 'The database took too long',
  STORE_CONFLICT: 'The ledger has changed meanwhile',
  STORE_INVALID_BATCH: 'The database refuses a value',
  STORE_CLOSED: 'The store is closed',
  STORE_FAILED: 'The database failed',
} as const

/** SQLSTATE, or its first two characters: https://www.postgresql.org/docs/current/errcodes-appendix.html */
const sqlStates: { readonly [state: string]: keyof typeof sentences } = {
  '08': 'STORE_UNAVAILABLE',
  '22': 'STORE_INVALID_BATCH',
  '23': 'STORE_INVALID_BATCH',
  '40': 'STORE_CONFLICT',
  '53': 'STORE_UNAVAILABLE',
  '58': 'STORE_UNAVAILABLE',
  '23505': 'STORE_CONFLICT',
  '25P03': 'STORE_UNAVAILABLE',
  '55P03': 'STORE_TIMEOUT',
  '57014': 'STORE_TIMEOUT',
  '57P01': 'STORE_UNAVAILABLE',
  '57P02': 'STORE_UNAVAILABLE',
  '57P03': 'STORE_UNAVAILABLE',
  '57P05': 'STORE_UNAVAILABLE',
}

/** What a driver threw, as this package's error; the driver's own stays its `cause`. */
export function toStoreError(error: unknown): StoreError {
  if (error instanceof StoreError) return error
  const code = codeOf(error)
  if (code === undefined) return failure(isClosed(error) ? 'STORE_CLOSED' : 'STORE_FAILED', error)
  if (code === 'CONNECTION_ENDED') return failure('STORE_CLOSED', error)
  if (connectionFailures.has(code)) return failure('STORE_UNAVAILABLE', error)
  const known = sqlStates[code] ?? sqlStates[code.slice(0, 2)]
  return failure(known ?? 'STORE_FAILED', error, /^[0-9A-Z]{5}$/.test(code) ? code : undefined)
}

function failure(code: keyof typeof sentences & StoreErrorCode, cause: unknown, sqlState?: string) {
  return new StoreError(code, sentences[code], { cause, sqlState })
}

function codeOf(error: unknown): string | undefined {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  return typeof code === 'string' ? code : undefined
}

/** PGlite's own refusals carry no code. */
function isClosed(error: unknown): boolean {
  return error instanceof Error && /^PGlite is clos(ed|ing)$/.test(error.message)
}
