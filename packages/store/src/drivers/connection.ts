import { StoreError } from '../errors.js'
import type { Parameter } from './parameters.js'
import { toStoreError } from './store-error.js'

/** What a PostgreSQL connection and PGlite have in common: one statement in, rows out. */
export interface Connection {
  /**
   * Columns: `bytea` is Uint8Array, `int8` bigint, `int4` number, `timestamptz` Date, `json` parsed.
   *
   * @throws StoreError
   */
  query<Row>(statement: string, parameters?: readonly Parameter[]): Promise<Row[]>
}

export interface Transaction extends Connection {
  /** Lets the transaction end only by rolling back, whatever its work does next. Returns the error, to be thrown. */
  doom(error: StoreError): StoreError
}

export interface Database extends Connection {
  /**
   * Commits when `work` resolves and rolls back when it rejects; its own errors pass through as they are. A statement
   * that fails dooms the transaction, so that work which goes on regardless cannot pass for done.
   */
  transaction<T>(work: (transaction: Transaction) => Promise<T>): Promise<T>
  close(): Promise<void>
}

/** Runs `work` between a begin and a commit that the caller makes; nothing reaches the connection after it has ended. */
export async function runTransaction<T>(
  connection: Connection,
  work: (transaction: Transaction) => Promise<T>,
): Promise<T> {
  let ended = false
  let failure: StoreError | undefined
  const transaction: Transaction = {
    async query(statement, parameters) {
      if (ended) throw new StoreError('STORE_CLOSED', 'The transaction that this belongs to has ended')
      if (failure !== undefined) throw failure
      try {
        return await connection.query(statement, parameters)
      } catch (error) {
        throw transaction.doom(toStoreError(error))
      }
    },
    doom(error) {
      failure ??= error
      return error
    },
  }
  try {
    const result = await work(transaction)
    if (failure !== undefined) throw failure
    return result
  } finally {
    ended = true
  }
}
