import type { PGliteLike, PostgresOptions } from '@ratatosk/database'

interface EmbeddedOptions {
  /** A PGlite (0.5 or later) that its owner opened and closes. Others may use it too. */
  readonly pglite: PGliteLike
  /** Schemas besides the store's whose tables are vacuumed too: PGlite does not vacuum on its own. */
  readonly vacuumedSchemas?: readonly string[]
}

interface SchemaOptions {
  /**
   * The schema that holds the tables. Nodes that share a database need different schemas. Default `ratatosk`.
   */
  readonly schema?: string
}

/** The retention of a store. */
export interface RetentionOptions {
  /**
   * The most bytes that dead letters may have, as `rejections.usage()` counts them. Additions of validation
   * beyond it displace what `prune` would remove, in the same transaction. No limit by default.
   */
  readonly maxRejectionBytes?: number
}

/** Where the data is: in PostgreSQL (13 or later) behind `url`, or in the given PGlite. */
export type StoreOptions = (Omit<PostgresOptions, 'applicationName'> | EmbeddedOptions) &
  SchemaOptions &
  RetentionOptions

/** The name of a store's sessions on a server, which cuts it at 63 bytes. */
export const sessionName = (schema: string): string => `ratatosk ${schema}`
