/**
 * Why the store refused or failed.
 *
 * | code | meaning | `retryable` |
 * | --- | --- | --- |
 * | `STORE_UNAVAILABLE` | no connection, connection lost, server starting, stopping or out of resources | yes |
 * | `STORE_TIMEOUT` | a statement or a lock took longer than `statementTimeoutMs` | yes |
 * | `STORE_CONFLICT` | the ledger is not what the caller saw: an output is gone, a transaction is there already, a deadlock | yes, after reading again |
 * | `STORE_LEASE_LOST` | the lease that the work was to be done under has expired or was taken by another; nothing was changed | no |
 * | `STORE_INVALID_ARGUMENT` | the caller's mistake: a batch that contradicts itself, a page or time out of range, a value that cannot be stored | no |
 * | `STORE_GENESIS_MISMATCH` | another genesis was applied, or the ledger was in use before any was | no |
 * | `STORE_SCHEMA_MISMATCH` | the schema was migrated by a newer or a different version of this package | no |
 * | `STORE_CONFIGURATION` | options that cannot work: a malformed `url`, an unknown user or database, missing rights | no |
 * | `STORE_CLOSED` | used after `close()` | no |
 * | `STORE_FAILED` | anything else; `cause` has the driver's error | no |
 */
export type StoreErrorCode =
  | 'STORE_UNAVAILABLE'
  | 'STORE_TIMEOUT'
  | 'STORE_CONFLICT'
  | 'STORE_LEASE_LOST'
  | 'STORE_INVALID_ARGUMENT'
  | 'STORE_GENESIS_MISMATCH'
  | 'STORE_SCHEMA_MISMATCH'
  | 'STORE_CONFIGURATION'
  | 'STORE_CLOSED'
  | 'STORE_FAILED'

const retryable: ReadonlySet<StoreErrorCode> = new Set([
  'STORE_UNAVAILABLE',
  'STORE_TIMEOUT',
  'STORE_CONFLICT',
])

export interface StoreErrorOptions {
  readonly cause?: unknown
  /** Five characters, of errors that PostgreSQL reported. */
  readonly sqlState?: string | undefined
}

/** The one class that this package throws. Its message holds no credential, no address of a server and no SQL. */
export class StoreError extends Error {
  override readonly name = 'StoreError'
  readonly code: StoreErrorCode
  readonly sqlState: string | undefined

  constructor(code: StoreErrorCode, message: string, options: StoreErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.code = code
    this.sqlState = options.sqlState
  }

  /** Whether the same work may succeed later without anybody changing it. */
  get retryable(): boolean {
    return retryable.has(this.code)
  }
}
