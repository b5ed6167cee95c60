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
