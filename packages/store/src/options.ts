import type { PGliteLike } from './database/pglite.js'

/** A PostgreSQL server. The store opens and closes its own connections. */
export interface PostgresOptions {
  /** `postgres://user:password@host:port/database`. */
  readonly url: string
  /** The most connections to open. Default 10. */
  readonly maxConnections?: number
  /** How long to wait for the server, or for a free connection, in milliseconds. Default 10,000. */
  readonly connectTimeoutMs?: number
  /** How long one statement may take, including the wait for a lock, in milliseconds. Default 30,000. */
  readonly statementTimeoutMs?: number
  /**
   * After this silence a holder of the ledger's lock loses it, and what it wrote, in milliseconds. Default
   * 60,000.
   */
  readonly idleInTransactionTimeoutMs?: number
}

/** A PGlite in this process. */
export interface EmbeddedOptions {
  /** A PGlite (0.5 or later) that its owner opened and closes. Others may use it too. */
  readonly pglite: PGliteLike
  /** Schemas besides the store's whose tables are vacuumed too: PGlite does not vacuum on its own. */
  readonly vacuumedSchemas?: readonly string[]
}

/** Where in the database the tables are. */
export interface SchemaOptions {
  /**
   * The schema that holds the tables. Nodes that share a database need different schemas. Default `ratatosk`.
   */
  readonly schema?: string
}

/** What the store keeps. */
export interface RetentionOptions {
  /**
   * The most bytes that dead letters may have, as `rejections.usage()` counts them. What validation adds
   * beyond it displaces what `prune` would remove, in the same transaction. No limit by default.
   */
  readonly maxRejectionBytes?: number
}

/** Where the data is: in PostgreSQL (13 or later) behind `url`, or in the given PGlite. */
export type StoreOptions = (PostgresOptions | EmbeddedOptions) & SchemaOptions & RetentionOptions
