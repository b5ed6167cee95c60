import { DatabaseError } from './errors.js'

const sentences = {
  DATABASE_UNAVAILABLE: 'The database is unreachable: check that it runs and accepts connections',
  DATABASE_TIMEOUT: 'The database did not answer in time',
  DATABASE_CONFLICT: 'The data has changed since it was read: read it again',
  DATABASE_INVALID_ARGUMENT: 'The database refuses a value',
  DATABASE_CONFIGURATION: 'The database refuses the user, the database name or the privileges: check the url',
  DATABASE_CLOSED: 'The database is closed',
  DATABASE_FAILED: 'The database failed: see the cause',
} as const

/** SQLSTATE `disk_full`. */
export const diskFullState = '53100'

type FailureCode = keyof typeof sentences

/** SQLSTATE, or its first two characters: https://www.postgresql.org/docs/current/errcodes-appendix.html */
const sqlStates: { readonly [state: string]: FailureCode } = {
  '08': 'DATABASE_UNAVAILABLE',
  '22': 'DATABASE_INVALID_ARGUMENT',
  '23': 'DATABASE_INVALID_ARGUMENT',
  '28': 'DATABASE_CONFIGURATION',
  '3D': 'DATABASE_CONFIGURATION',
  '40': 'DATABASE_CONFLICT',
  '53': 'DATABASE_UNAVAILABLE',
  '58': 'DATABASE_UNAVAILABLE',
  '23505': 'DATABASE_CONFLICT',
  '25006': 'DATABASE_UNAVAILABLE',
  '25P03': 'DATABASE_UNAVAILABLE',
  '42501': 'DATABASE_CONFIGURATION',
  '55P03': 'DATABASE_TIMEOUT',
  '57014': 'DATABASE_TIMEOUT',
  '57P01': 'DATABASE_UNAVAILABLE',
  '57P02': 'DATABASE_UNAVAILABLE',
  '57P03': 'DATABASE_UNAVAILABLE',
  '57P05': 'DATABASE_UNAVAILABLE',
}

/** Driver errors that have no code. */
const messages: readonly (readonly [RegExp, FailureCode])[] = [
  [/^Connection terminated/, 'DATABASE_UNAVAILABLE'],
  [/^Client (has encountered a connection error|was closed)/, 'DATABASE_UNAVAILABLE'],
  [/^timeout exceeded when trying to connect$/, 'DATABASE_UNAVAILABLE'],
  [/^Query read timeout$/, 'DATABASE_UNAVAILABLE'],
  [/^PGlite is clos(ed|ing)$/, 'DATABASE_CLOSED'],
]

/** Turns what a driver threw into a DatabaseError, with the driver's error as `cause`. */
export function toDatabaseError(error: unknown): DatabaseError {
  if (error instanceof DatabaseError) return error
  const code = codeOf(error)
  if (code !== undefined && /^[0-9A-Z]{5}$/.test(code) && code !== 'EPIPE') {
    return failure(sqlStates[code] ?? sqlStates[code.slice(0, 2)] ?? 'DATABASE_FAILED', error, code)
  }
  // System errors of Node.js: ECONNREFUSED, ENOTFOUND, ETIMEDOUT, …
  if (code?.startsWith('E') && !code.startsWith('ERR_')) return failure('DATABASE_UNAVAILABLE', error)
  const { message } = (error ?? {}) as { readonly message?: unknown }
  return failure(messages.find(([pattern]) => pattern.test(String(message)))?.[1] ?? 'DATABASE_FAILED', error)
}

function failure(code: FailureCode, cause: unknown, sqlState?: string): DatabaseError {
  const sentence =
    sqlState === diskFullState
      ? `No space is left on the disk of the database (${diskFullState}): free some`
      : sentences[code]
  return new DatabaseError(code, sentence, { cause, sqlState })
}

/** Of an error of any realm: a test runner's modules may not share Node's class of errors. */
export function codeOf(error: unknown): string | undefined {
  const { code } = (error ?? {}) as { readonly code?: unknown }
  return typeof code === 'string' ? code : undefined
}
