import type { PGliteLike } from './drivers/pglite.js'

export interface PostgresOptions {
  /** `postgres://user:password@host:port/database`. */
  readonly url: string
  /** Connections to the server at most. Default 10. */
  readonly maxConnections?: number
  /** Longest time to reach the server, in milliseconds. Default 10,000. */
  readonly connectTimeoutMs?: number
  /** Longest time for one statement, waiting for a lock included, in milliseconds. Default 30,000. */
  readonly statementTimeoutMs?: number
  /** A holder of the ledger's lock that says nothing for longer than this loses it, in milliseconds. Default 60,000. */
  readonly idleInTransactionTimeoutMs?: number
}

export interface EmbeddedOptions {
  /** A PGlite (0.5 or later) that its owner opened and will close; others may use it too. */
  readonly pglite: PGliteLike
}

export interface SchemaOptions {
  /** The database schema that holds the tables; two nodes on one database need two. Default `ratatosk`. */
  readonly schema?: string
}

/** Where the tables are: in PostgreSQL (13 or later) behind `url`, or in the PGlite given. */
export type StoreOptions = (PostgresOptions | EmbeddedOptions) & SchemaOptions
