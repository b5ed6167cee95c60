import { StoreError } from '../errors.js'
import type { Parameter } from './parameters.js'

/** What a PostgreSQL connection and PGlite have in common: one statement in, rows out. */
export interface Connection {
  /** Columns: `bytea` is Uint8Array, `int8` bigint, `int4` number, `timestamptz` Date, `json` parsed. */
  query<Row>(statement: string, parameters?: readonly Parameter[]): Promise<Row[]>
}

export interface Database extends Connection {
  /** Commits when `work` resolves and rolls back when it rejects; its own errors pass through as they are. */
  transaction<T>(work: (connection: Connection) => Promise<T>): Promise<T>
  close(): Promise<void>
}

/** A transaction's connection that refuses statements once the transaction is over, however it ended. */
export interface ScopedConnection extends Connection {
  end(): void
}

export function scoped(connection: Connection): ScopedConnection {
  let ended = false
  return {
    async query(statement, parameters) {
      if (ended) throw new StoreError('STORE_CLOSED', 'The transaction that this belongs to has ended')
      return connection.query(statement, parameters)
    },
    end() {
      ended = true
    },
  }
}
