/**
 * | code | meaning | `retryable` |
 * | --- | --- | --- |
 * | `DATABASE_UNAVAILABLE` | no connection, connection lost, server starting or out of resources | yes |
 * | `DATABASE_TIMEOUT` | a statement or its wait for a lock exceeded `statementTimeoutMs` | yes |
 * | `DATABASE_CONFLICT` | the data has changed since it was read: a taken key, a deadlock | yes |
 * | `DATABASE_INVALID_ARGUMENT` | a value that cannot be stored | no |
 * | `DATABASE_SCHEMA_MISMATCH` | another version has migrated the schema | no |
 * | `DATABASE_CONFIGURATION` | a malformed `url` or schema name, unknown user, missing privileges | no |
 * | `DATABASE_CLOSED` | used after `close()`, or a transaction used after its end | no |
 * | `DATABASE_FAILED` | any other failure; `cause` has the driver's error | no |
 */
export type DatabaseErrorCode =
  | 'DATABASE_UNAVAILABLE'
  | 'DATABASE_TIMEOUT'
  | 'DATABASE_CONFLICT'
  | 'DATABASE_INVALID_ARGUMENT'
  | 'DATABASE_SCHEMA_MISMATCH'
  | 'DATABASE_CONFIGURATION'
  | 'DATABASE_CLOSED'
  | 'DATABASE_FAILED'

/** The parts of a {@link DatabaseError} besides code and message. */
export interface DatabaseErrorOptions {
  /** The driver's error. It may contain connection details: log it, never send it to clients. */
  readonly cause?: unknown
  /** PostgreSQL's error code, five characters, where the server reported the error. */
  readonly sqlState?: string | undefined
}

const retryable: ReadonlySet<DatabaseErrorCode> = new Set([
  'DATABASE_UNAVAILABLE',
  'DATABASE_TIMEOUT',
  'DATABASE_CONFLICT',
])

/** A failure of the database. The message contains no credential, no server address and no SQL. */
export class DatabaseError extends Error {
  override readonly name = 'DatabaseError'
  readonly code: DatabaseErrorCode
  /** PostgreSQL's error code, five characters, where the server reported the error. */
  readonly sqlState: string | undefined

  constructor(code: DatabaseErrorCode, message: string, { cause, sqlState }: DatabaseErrorOptions = {}) {
    super(message, cause === undefined ? undefined : { cause })
    this.code = code
    this.sqlState = sqlState
  }

  /** Whether the same work may succeed later. */
  get retryable(): boolean {
    return retryable.has(this.code)
  }
}

/** Whether a caught value is a {@link DatabaseError}; works across copies of the package. */
export function isDatabaseError(value: unknown): value is DatabaseError {
  return value instanceof Error && value.name === 'DatabaseError'
}

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
const diskFullState = '53100'

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

/** Knows whether the disk of a database is full. */
export interface DiskWatch {
  /** Takes note of a failure of a statement. */
  failed(error: unknown): void
  /**
   * After a write that failed because the disk was full, tries another one.
   *
   * @param run runs a statement in a transaction of its own
   * @throws what `run` fails with while the disk is full
   */
  check(run: (text: string) => Promise<unknown>): Promise<void>
}

/** Needs pages that the database does not have, and leaves nothing behind. */
const write = `
  CREATE TEMP TABLE ratatosk_disk_check ON COMMIT DROP AS
  SELECT md5(number::text) AS filling FROM generate_series(1, 4096) AS number`

export function watchDisk(): DiskWatch {
  let isFull = false
  return {
    failed(error) {
      isFull ||= isDiskFull(error)
    },
    async check(run) {
      if (!isFull) return
      try {
        await run(write)
      } catch (error) {
        const { retryable } = (error ?? {}) as { readonly retryable?: unknown }
        if (isDiskFull(error) || retryable === true) throw error
        // Such as a missing privilege: the next write will show.
      }
      isFull = false
    },
  }
}

function isDiskFull(error: unknown): boolean {
  if (typeof error !== 'object' || error === null) return false
  const { code, sqlState, cause } = error as Readonly<Record<string, unknown>>
  return [code, sqlState].includes(diskFullState) || code === 'ENOSPC' || isDiskFull(cause)
}
