import {
  type DatabaseErrorCode,
  type DiskWatch,
  type Driver,
  type Executor,
  isDatabaseError,
} from '@ratatosk/database'
import { StoreError, type StoreErrorCode } from './errors.js'

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
