import {
  bool,
  inSchema,
  int4,
  openPostgres,
  type PostgresOptions,
  quoteSchema,
  sql,
  statement,
  text,
} from '@ratatosk/database'
import { readServerWarnings, type StoreWarning } from './server-settings.js'
import { toStoreError } from './store-driver.js'

/** The state of a PostgreSQL server by its own report. */
export interface ServerInspection {
  /** `server_version_num`: 150004 is PostgreSQL 15.4. */
  readonly version: number
  /** Whether it refuses to write: a standby, or `default_transaction_read_only`. */
  readonly isReadOnly: boolean
  /** Whether the user may use or create every schema. */
  readonly mayCreate: boolean
  /** Its time in POSIX milliseconds. */
  readonly time: number
  readonly warnings: readonly StoreWarning[]
}

const inspection = statement(
  { version: int4, isReadOnly: bool, mayCreate: bool, time: text },
  sql`SELECT current_setting('server_version_num')::int4 AS version,
    current_setting('transaction_read_only') = 'on' AS "isReadOnly",
    bool_and(CASE WHEN to_regnamespace(name) IS NULL
      THEN has_database_privilege(current_database(), 'CREATE')
      ELSE has_schema_privilege(to_regnamespace(name)::oid, 'CREATE') END) AS "mayCreate",
    round(extract(epoch FROM clock_timestamp()) * 1000)::text AS time
  FROM unnest($1::text[]) AS name`,
)

/**
 * Asks a server whether it can hold the tables of these schemas. Creates nothing.
 *
 * @throws StoreError
 */
export async function inspectServer(
  { url, connectTimeoutMs = 5000 }: Pick<PostgresOptions, 'url' | 'connectTimeoutMs'>,
  schemas: readonly string[],
): Promise<ServerInspection> {
  try {
    const driver = openPostgres({
      url,
      connectTimeoutMs,
      statementTimeoutMs: connectTimeoutMs,
      maxConnections: 1,
    })
    try {
      const database = inSchema(driver, quoteSchema('public'))
      const [row] = await database.query(inspection, [schemas])
      if (row === undefined) throw new TypeError('an aggregate has one row')
      return { ...row, time: Number(row.time), warnings: await readServerWarnings(database) }
    } finally {
      await driver.close()
    }
  } catch (error) {
    throw toStoreError(error)
  }
}
