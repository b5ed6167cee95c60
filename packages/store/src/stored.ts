import { fileURLToPath } from 'node:url'
import {
  appliedMigrations,
  bytea,
  type Connection,
  type Executor,
  inSchema,
  int4,
  nullable,
  openPGlite,
  openPostgres,
  type PGliteLike,
  quoteSchema,
  readMigrations,
  schema,
  sql,
  statement,
  text,
} from '@ratatosk/database'
import { toStoreError } from './errors.js'

const migrations = fileURLToPath(new URL('../migrations', import.meta.url))

export const storeMigrations = () => readMigrations(migrations)

/** Where a store is. */
export type StoredOptions = ({ readonly url: string } | { readonly pglite: PGliteLike }) & {
  readonly schema: string
}

/** The facts that decide whether a node may open a store. */
export interface StoredLedger {
  /**
   * The newest block that is not removed, and the newest transaction that commits a block: it names the
   * contracts; `null` if other operators have committed all blocks.
   */
  readonly newest: { readonly header: Uint8Array; readonly commitTransaction: Uint8Array | null } | undefined
  /** The newest header of an archivist. */
  readonly archivedHeader: Uint8Array | undefined
  /** See `Store.ledgerId`; undefined if no process has asked for it yet. */
  readonly ledgerId: string | undefined
  /** The ledger version of the deployment; undefined if it is not recorded. */
  readonly ledgerVersion: number | undefined
  /** The rules of the deployment, see `Store.ledgerRules`; undefined if they are not recorded. */
  readonly ledgerRules: string | undefined
  /** See `Store.ledgerQueue`; undefined if none is recorded. */
  readonly ledgerQueue: string | undefined
  /** Runs SQL on the same state of the database. */
  readonly database: Executor
}

const newestBlock = statement(
  { header: bytea, commitTransaction: nullable(bytea) },
  sql`SELECT header, (
    SELECT commit_transaction FROM ${schema}.blocks
    WHERE state <> 'removed' AND commit_transaction IS NOT NULL ORDER BY height DESC LIMIT 1
  ) AS "commitTransaction"
  FROM ${schema}.blocks WHERE state <> 'removed' ORDER BY height DESC LIMIT 1`,
)

const archivedHeader = statement(
  { header: bytea },
  sql`SELECT header FROM ${schema}.archived_blocks ORDER BY height DESC LIMIT 1`,
)
const deployment = statement(
  {
    ledgerId: text,
    ledgerVersion: nullable(int4),
    ledgerRules: nullable(text),
    ledgerQueue: nullable(text),
  },
  sql`SELECT ledger_id::text AS "ledgerId", ledger_version AS "ledgerVersion", rules AS "ledgerRules",
    queue AS "ledgerQueue" FROM ${schema}.deployment`,
)

/**
 * Reads a store at one moment. It changes nothing; a server would refuse.
 *
 * @param read gets undefined if the schema has no store
 * @throws StoreError `STORE_SCHEMA_MISMATCH` if another version made it
 *
 * @example
 * const version = await readStored({ url, schema: 'ratatosk' }, async (stored) => stored?.ledgerVersion)
 */
export async function readStored<T>(
  options: StoredOptions,
  read: (stored: StoredLedger | undefined) => Promise<T>,
): Promise<T> {
  try {
    const name = quoteSchema(options.schema)
    const driver =
      'url' in options ? openPostgres({ url: options.url, maxConnections: 1 }) : openPGlite(options.pglite)
    try {
      return await driver.transaction(async (database) => {
        await database.run('SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY', [])
        const shared = { autovacuum: driver.autovacuum, run: database.run, transaction: driver.transaction }
        return read(await ledgerIn(inSchema(shared, name), database))
      })
    } finally {
      await driver.close()
    }
  } catch (error) {
    throw toStoreError(error)
  }
}

async function ledgerIn(connection: Connection, database: Executor): Promise<StoredLedger | undefined> {
  if ((await appliedMigrations(connection, storeMigrations())) === 0) return undefined
  const [newest] = await connection.query(newestBlock)
  const [archived] = await connection.query(archivedHeader)
  const [begun] = await connection.query(deployment)
  return {
    newest,
    archivedHeader: archived?.header,
    ledgerId: begun?.ledgerId,
    ledgerVersion: begun?.ledgerVersion ?? undefined,
    ledgerRules: begun?.ledgerRules ?? undefined,
    ledgerQueue: begun?.ledgerQueue ?? undefined,
    database,
  }
}

const separate = sql`UPDATE ${schema}.deployment SET ledger_id = gen_random_uuid(), queue = NULL`

/**
 * Makes the copy of a store a ledger of its own, with a new id and no queue yet: with those of the original,
 * its processes would take the submissions that wait for the original.
 *
 * @throws StoreError
 *
 * @example
 * await separateCopy({ url, schema: 'ratatosk' })
 */
export async function separateCopy(options: StoredOptions): Promise<void> {
  try {
    const name = quoteSchema(options.schema)
    const driver =
      'url' in options ? openPostgres({ url: options.url, maxConnections: 1 }) : openPGlite(options.pglite)
    try {
      await inSchema(driver, name).execute(separate)
    } finally {
      await driver.close()
    }
  } catch (error) {
    throw toStoreError(error)
  }
}
