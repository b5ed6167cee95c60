import {
  appliedMigrations,
  bool,
  bounded,
  bytea,
  type Connection,
  defaultApplicationName,
  type Executor,
  inSchema,
  int4,
  int8,
  keysetPages,
  maxPageRows,
  nullable,
  openPGlite,
  openPostgres,
  type PGliteLike,
  quoteSchema,
  type Row,
  readInIndexOrder,
  type Sql,
  schema,
  sql,
  statement,
  text,
} from '@ratatosk/database'
import type { LedgerOutput } from './blocks/types.js'
import { sessionName } from './options.js'
import { storeMigrations } from './schema/migrations.js'
import { toStoreError } from './store-driver.js'

/** Where a store is. */
export type StoredOptions = ({ readonly url: string } | { readonly pglite: PGliteLike }) & {
  readonly schema: string
}

/** What a store holds, as this version or an earlier one has left it. */
export interface StoredLedger {
  /**
   * The newest block that is not removed, and the newest transaction that commits a block: it names the
   * contracts; `null` if other operators have committed all blocks.
   */
  readonly newest: { readonly header: Uint8Array; readonly commitTransaction: Uint8Array | null } | undefined
  /** The newest header of an archivist. */
  readonly archivedHeader: Uint8Array | undefined
  /** The ledger version of the deployment; undefined if it is not recorded. */
  readonly ledgerVersion: number | undefined
  /** Runs SQL on the same state of the database. */
  readonly database: Executor
  /** The height of the newest merged block; 0 if there is none. */
  confirmedHeight(): Promise<bigint>
  /** The number of dead letters. */
  deadLetters(): Promise<number>
  /** What shows that processes use a schema of a server: leases and sessions. */
  users(): Promise<readonly string[]>
  /** The unspent outputs after the newest merged block, or the genesis; page by page, in no given order. */
  confirmedOutputs(): AsyncGenerator<readonly LedgerOutput[], void>
  /** CBOR of what is accepted and in no merged block, in the order of acceptance. Page by page. */
  accepted(): AsyncGenerator<readonly Uint8Array[], void>
  /**
   * CBOR of what the removal of blocks took out of the ledger and the queue does not have yet. What was
   * accepted since may spend the same outputs. Page by page.
   */
  takenOut(): AsyncGenerator<readonly Uint8Array[], void>
}

const has = (table: string) => (name: string) => `to_regclass('${name}.${table}') IS NOT NULL`
const tables = statement(
  { archive: bool, deployment: bool, resubmissions: bool, ledger: bool },
  sql`SELECT ${has('archived_blocks')} AS archive, ${has('deployment')} AS deployment,
    ${has('resubmissions')} AS resubmissions, ${has('spent_outputs')} AS ledger`,
)

const newestBlock = statement(
  { header: bytea, commitTransaction: nullable(bytea) },
  sql`SELECT header, (
    SELECT commit_transaction FROM ${schema}.blocks
    WHERE state <> 'removed' AND commit_transaction IS NOT NULL ORDER BY height DESC LIMIT 1
  ) AS "commitTransaction"
  FROM ${schema}.blocks WHERE state <> 'removed' ORDER BY height DESC LIMIT 1`,
)

// Of the confirmed state: its height, and the sequence of the last transaction or genesis output in it.
const confirmedState = statement(
  { height: int8, last: int8 },
  sql`SELECT COALESCE(merged.height, 0) AS height, COALESCE(merged.last_sequence, LEAST(
      (SELECT min(sequence) FROM ${schema}.block_transactions),
      (SELECT min(sequence) FROM ${schema}.mempool_transactions),
      9223372036854775807
    ) - 1) AS last
  FROM (VALUES (1)) AS one LEFT JOIN (
    SELECT height, last_sequence FROM ${schema}.blocks WHERE state = 'merged' ORDER BY height DESC LIMIT 1
  ) AS merged ON true`,
)

const rejections = statement(
  { count: int4 },
  sql`SELECT count(*)::integer AS count FROM ${schema}.rejections`,
)
const archivedHeader = statement(
  { header: bytea },
  sql`SELECT header FROM ${schema}.archived_blocks ORDER BY height DESC LIMIT 1`,
)
const deployment = statement(
  { ledgerVersion: nullable(int4) },
  sql`SELECT ledger_version AS "ledgerVersion" FROM ${schema}.deployment`,
)

// Sessions of earlier versions have the default name; their newest statement shows whose they are.
const users = statement(
  { name: text },
  sql`SELECT 'the lease "' || name || '" of ' || holder AS name FROM ${schema}.leases WHERE expires_at > now()
  UNION ALL
  SELECT 'a session from ' || COALESCE(host(client_addr), 'this machine') FROM pg_stat_activity
  WHERE datname = current_database() AND pid <> pg_backend_pid() AND (application_name = $1::name
    OR application_name = $2::name AND strpos(query, ${(name: string) => `'${name}.'`}) > 0)`,
)

const output = { transactionId: bytea, index: int4, output: bytea, spentBy: int8 }
const outputPages = (from: Sql, key: string) =>
  statement(
    { ...output, complete: bool },
    sql`SELECT transaction_id AS "transactionId", output_index AS index, output, spent_by AS "spentBy",
      complete
    FROM (${bounded(from, key, 'output', String(maxPageRows))}) AS page`,
  )
const unspent = outputPages(
  sql`SELECT transaction_id, output_index, output, $4::bigint AS spent_by FROM ${schema}.mempool_ledger
    WHERE sequence <= $1 AND (transaction_id, output_index) > ($2, $3)`,
  'transaction_id, output_index',
)
const spentSince = outputPages(
  sql`SELECT transaction_id, output_index, output, spent_by FROM ${schema}.spent_outputs
    WHERE sequence <= $1 AND (spent_by, transaction_id, output_index) > ($4, $2, $3)`,
  'spent_by, transaction_id, output_index',
)

const transactionPages = (from: (table: string) => Sql, ...names: readonly string[]) =>
  statement(
    { sequence: int8, cbor: bytea, complete: bool },
    sql`SELECT sequence, cbor, complete FROM (${bounded(
      sql`SELECT * FROM (${(name: string) =>
        names.map((table) => `(${from(table)(name)})`).join(' UNION ALL ')}) AS parts`,
      'sequence',
      'cbor',
      String(maxPageRows),
    )}) AS page`,
  )
const after = (condition: string) => (table: string) =>
  sql`SELECT sequence, cbor FROM ${schema}.${table} WHERE sequence > $1 ${condition}
    ORDER BY sequence LIMIT ${maxPageRows}`
const accepted = transactionPages(after(''), 'block_transactions', 'mempool_transactions')
const takenOut = transactionPages(after('AND cbor IS NOT NULL'), 'resubmissions')

/**
 * Reads a store at one moment, whichever version has migrated it. It changes nothing; a server would refuse.
 *
 * @param read gets undefined if the schema has no store
 * @throws StoreError `STORE_SCHEMA_MISMATCH` if a newer version has migrated it
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
    const isServer = 'url' in options
    const driver = isServer
      ? openPostgres({ url: options.url, maxConnections: 1 })
      : openPGlite(options.pglite)
    try {
      return await driver.transaction(async (database) => {
        await database.run('SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY', [])
        // The reader may write what it reads to a slow disk.
        await database.run('SET LOCAL idle_in_transaction_session_timeout = 0', [])
        const shared = { autovacuum: driver.autovacuum, run: database.run, transaction: driver.transaction }
        const stored = await ledgerIn(
          inSchema(shared, name),
          database,
          isServer ? sessionName(options.schema) : undefined,
        )
        return read(stored)
      })
    } finally {
      await driver.close()
    }
  } catch (error) {
    throw toStoreError(error)
  }
}

async function ledgerIn(
  connection: Connection,
  database: Executor,
  sessions: string | undefined,
): Promise<StoredLedger | undefined> {
  await appliedMigrations(connection, storeMigrations())
  const [found] = await connection.query(tables)
  if (found?.ledger !== true) return undefined
  await readInIndexOrder(connection)
  const [newest] = await connection.query(newestBlock)
  const [archived] = found.archive ? await connection.query(archivedHeader) : []
  const [begun] = found.deployment ? await connection.query(deployment) : []
  const confirmed = async () => {
    const [state] = await connection.query(confirmedState)
    return state ?? { height: 0n, last: 0n }
  }

  async function* outputs(pages: typeof unspent): AsyncGenerator<readonly LedgerOutput[], void> {
    const { last } = await confirmed()
    // What transactions after the confirmed state spent.
    const beforeAll = { transactionId: new Uint8Array(), index: -1, spentBy: last + 1n }
    const readPage = (previous: Row<typeof output> | undefined) => {
      const { transactionId, index, spentBy } = previous ?? beforeAll
      return connection.query(pages, [last, transactionId, index, spentBy])
    }
    const read = keysetPages(readPage, (page) => page.at(-1)?.complete === true)
    for await (const page of read) yield page.map(({ spentBy: _, complete: __, ...each }) => each)
  }

  async function* transactions(
    pages: typeof accepted,
    from: bigint,
  ): AsyncGenerator<readonly Uint8Array[], void> {
    const read = keysetPages<Row<typeof accepted.returns>>(
      (previous) => connection.query(pages, [previous?.sequence ?? from]),
      (page) => page.at(-1)?.complete === true,
    )
    for await (const page of read) yield page.map(({ cbor }) => cbor)
  }

  return {
    newest,
    archivedHeader: archived?.header,
    ledgerVersion: begun?.ledgerVersion ?? undefined,
    database,
    confirmedHeight: async () => (await confirmed()).height,
    deadLetters: async () => (await connection.query(rejections))[0]?.count ?? 0,
    async users() {
      if (sessions === undefined) return []
      return (await connection.query(users, [sessions, defaultApplicationName])).map(({ name }) => name)
    },
    async *confirmedOutputs() {
      yield* outputs(unspent)
      yield* outputs(spentSince)
    },
    async *accepted() {
      yield* transactions(accepted, (await confirmed()).last)
    },
    async *takenOut() {
      if (found.resubmissions) yield* transactions(takenOut, 0n)
    },
  }
}
