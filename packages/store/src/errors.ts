import {
  type DatabaseErrorCode,
  type DiskWatch,
  type Driver,
  type Executor,
  isDatabaseError,
} from '@ratatosk/database'

/**
 * Why the store refused or failed.
 *
 * | code | meaning | `retryable` |
 * | --- | --- | --- |
 * | `STORE_UNAVAILABLE` | no connection, connection lost, server starting or out of resources | yes |
 * | `STORE_TIMEOUT` | a statement, or the lock it waited for, took longer than `statementTimeoutMs` | yes |
 * | `STORE_CONFLICT` | the data has changed since it was read: read it again | yes |
 * | `STORE_LEASE_LOST` | the lease has expired or another process has taken it; nothing was changed | no |
 * | `STORE_INVALID_ARGUMENT` | a batch that contradicts itself, a limit out of range | no |
 * | `STORE_GENESIS_MISMATCH` | the ledger was started with other genesis outputs, or with none | no |
 * | `STORE_SCHEMA_MISMATCH` | a newer or different version of this package has migrated the schema | no |
 * | `STORE_CONFIGURATION` | a malformed `url`, an unknown user or database, missing privileges | no |
 * | `STORE_CLOSED` | used after `close()`, or a ledger used after its `withLedger` | no |
 * | `STORE_FAILED` | any other failure; `cause` has the driver's error | no |
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

/** The details of a {@link StoreError} besides code and message. */
interface StoreErrorOptions {
  /** The driver's error. It may contain connection details: log it, never send it to clients. */
  readonly cause?: unknown
  /** PostgreSQL's error code, five characters, where the server reported the error. */
  readonly sqlState?: string | undefined
}

/** The only error class of this package. The message contains no credential, no server address and no SQL. */
export class StoreError extends Error {
  override readonly name = 'StoreError'
  readonly code: StoreErrorCode
  /** PostgreSQL's error code, five characters, where the server reported the error. */
  readonly sqlState: string | undefined

  constructor(code: StoreErrorCode, message: string, options: StoreErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.code = code
    this.sqlState = options.sqlState
  }

  /** Whether the same work may succeed later without anyone intervening. */
  get retryable(): boolean {
    return retryable.has(this.code)
  }
}

/**
 * Whether a caught value is a {@link StoreError}; works across copies of the package.
 *
 * @example
 * try {
 *   await store.ledger.commit()
 * } catch (error) {
 *   if (isStoreError(error) && error.retryable) return retryLater()
 *   throw error
 * }
 */
export function isStoreError(value: unknown): value is StoreError {
  return value instanceof Error && value.name === 'StoreError'
}

const codes: { readonly [Code in DatabaseErrorCode]: StoreErrorCode } = {
  DATABASE_UNAVAILABLE: 'STORE_UNAVAILABLE',
  DATABASE_TIMEOUT: 'STORE_TIMEOUT',
  DATABASE_CONFLICT: 'STORE_CONFLICT',
  DATABASE_INVALID_ARGUMENT: 'STORE_INVALID_ARGUMENT',
  DATABASE_SCHEMA_MISMATCH: 'STORE_SCHEMA_MISMATCH',
  DATABASE_CONFIGURATION: 'STORE_CONFIGURATION',
  DATABASE_CLOSED: 'STORE_CLOSED',
  DATABASE_FAILED: 'STORE_FAILED',
}

/** A failure of the database as a StoreError; any other value as it is. */
export function toStoreError(error: unknown): unknown {
  if (!isDatabaseError(error)) return error
  const { code, message, cause, sqlState } = error
  return new StoreError(codes[code], message, { cause, sqlState })
}

/** The same driver, with its failures as StoreErrors, inside transactions too. */
export function storeDriver(driver: Driver, disk: DiskWatch): Driver {
  return {
    autovacuum: driver.autovacuum,
    run: runOf(driver, disk),
    async transaction(work) {
      try {
        return await driver.transaction(({ run, doom }) => work({ run: runOf({ run }, disk), doom }))
      } catch (error) {
        disk.failed(error)
        throw toStoreError(error)
      }
    },
    close: () => driver.close(),
  }
}

function runOf(executor: Executor, disk: DiskWatch): Executor['run'] {
  return async (text, parameters) => {
    try {
      return await executor.run(text, parameters)
    } catch (error) {
      disk.failed(error)
      throw toStoreError(error)
    }
  }
}
