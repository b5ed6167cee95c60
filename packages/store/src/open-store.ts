import {
  advisoryLock,
  appliedMigrations,
  type Computed,
  createVacuum,
  type Database,
  type Driver,
  inSchema,
  int4,
  keepVacuumed,
  lookUpByIndex,
  migrate,
  nullable,
  openPGlite,
  openPostgres,
  type PGliteLike,
  type PostgresOptions,
  quoteSchema,
  type SqlTransaction,
  schema,
  sql,
  statement,
  text,
  watchDisk,
} from '@ratatosk/database'
import { Mutex } from 'async-mutex'
import pTimeout from 'p-timeout'
import { openAnswers } from './answers/answers.js'
import { openArchive } from './archive/archive.js'
import { openBlocks } from './blocks/open-blocks.js'
import { openBodies } from './bodies/bodies.js'
import { StoreError, storeDriver, toStoreError } from './errors.js'
import { openEvents } from './events/events.js'
import { openFaucetClaims } from './faucet/claims.js'
import { openLeases } from './leases/leases.js'
import { applyGenesis } from './ledger/apply-genesis.js'
import { openLedger, openLedgerReads } from './ledger/ledger.js'
import { openChain, openChanges } from './queries/chain.js'
import { openExplorer } from './queries/explorer.js'
import { openQueries } from './queries/open-queries.js'
import { openRejections } from './rejections/rejections.js'
import { openResubmissions } from './resubmissions/resubmissions.js'
import { deployment } from './schema/tables.js'
import { readServerWarnings } from './server-settings.js'
import type { Store } from './store.js'
import { storeMigrations } from './stored.js'
import { openVerdicts } from './verdicts/verdicts.js'

/**
 * Opens the store and migrates its schema to this version.
 *
 * @throws StoreError `STORE_UNAVAILABLE` if the server is unreachable, `STORE_SCHEMA_MISMATCH` if another
 *   version has
 *   migrated the schema, `STORE_CONFIGURATION` if the options cannot work
 *
 * @example
 * const store = await openStore({ pglite: await PGlite.create('.ratatosk/store') })
 * for await (const outputs of store.utxoPages(address)) console.log(outputs)
 * await store.close()
 */
export async function openStore(options: StoreOptions): Promise<Store> {
  checkOptions(options)
  const { schema: name = 'ratatosk', maxRejectionBytes } = options
  const vacuumed = 'pglite' in options ? [name, ...(options.vacuumedSchemas ?? [])] : []
  try {
    const schema = quoteSchema(name)
    const driver =
      'url' in options
        ? openPostgres({ ...options, applicationName: sessionName(name) })
        : openPGlite(options.pglite)
    try {
      const database = inSchema(driver, schema)
      if (options.readOnly) await requireMigrated(database)
      else await migrate(database, storeMigrations())
    } catch (error) {
      await driver.close()
      throw error
    }
    return createStore(driver, schema, vacuumed, maxRejectionBytes)
  } catch (error) {
    throw toStoreError(error)
  }
}

const placements = {
  url: ['maxConnections', 'connectTimeoutMs', 'statementTimeoutMs', 'idleInTransactionTimeoutMs'],
  pglite: ['vacuumedSchemas'],
}

/** @throws StoreError `STORE_CONFIGURATION` */
function checkOptions(options: StoreOptions): void {
  const wrong = (message: string) => new StoreError('STORE_CONFIGURATION', message)
  const { url, pglite }: { readonly url?: unknown; readonly pglite?: Partial<PGliteLike> } = options ?? {}
  const place = url === undefined ? 'pglite' : 'url'
  const known = [place, 'schema', 'readOnly', 'maxRejectionBytes', ...placements[place]]
  const isPlaced = typeof url === 'string' || (url === undefined && typeof pglite?.transaction === 'function')
  if (!isPlaced)
    throw wrong('one of url, the address of a PostgreSQL database, and pglite, a PGlite, is required')
  const unknown = Object.entries(options).find(
    ([name, value]) => value !== undefined && !known.includes(name),
  )
  if (unknown !== undefined)
    throw wrong(`there is no option ${unknown[0]}; its options are ${known.join(', ')}`)
  const { maxRejectionBytes: bytes } = options
  if (bytes !== undefined && !(Number.isSafeInteger(bytes) && bytes >= 0))
    throw wrong('maxRejectionBytes must be a whole number from 0')
}

/** @throws StoreError `STORE_SCHEMA_MISMATCH` */
async function requireMigrated(database: Database): Promise<void> {
  const migrations = storeMigrations()
  const applied = await appliedMigrations(database, migrations)
  if (applied === migrations.length) return
  const message = `The schema ${database.schema} has ${applied} of ${migrations.length} migrations`
  throw new StoreError('STORE_SCHEMA_MISMATCH', message)
}

function createStore(
  connected: Driver,
  schema: string,
  vacuumedSchemas: readonly string[],
  maxRejectionBytes: number | undefined,
): Store {
  const inFlight = trackInFlight()
  const disk = watchDisk()
  const driver = storeDriver(connected, disk)
  const tables = inSchema(driver, schema)
  const database: Database = {
    schema,
    autovacuum: driver.autovacuum,
    query: (statement, parameters) => inFlight.run(() => tables.query(statement, parameters)),
    execute: (text, parameters) => inFlight.run(() => tables.execute(text, parameters)),
    transaction: (work) => inFlight.run(() => tables.transaction(work)),
    vacuum: (...names) => inFlight.run(() => tables.vacuum(...names)),
  }

  const vacuum = createVacuum(driver, vacuumedSchemas)
  const vacuuming = driver.autovacuum ? undefined : keepVacuumed(() => inFlight.run(() => vacuum.poll()))

  // Serialised in this process first, so that at most one connection waits for the database's lock.
  const mutex = new Mutex()
  const exclusively = <T>(work: (transaction: SqlTransaction) => Promise<T>): Promise<T> =>
    inFlight.run(() => mutex.runExclusive(() => tables.transaction(work)))
  const lockLedger = (transaction: SqlTransaction) => advisoryLock(transaction, 'ledger')
  const withLedgerLock = <T>(work: (transaction: SqlTransaction) => Promise<T>): Promise<T> =>
    exclusively(async (transaction) => {
      await lockLedger(transaction)
      return work(transaction)
    })

  return {
    ...openQueries(database),
    withLedger: (work) => withLedgerLock((transaction) => work(openLedger(transaction, maxRejectionBytes))),
    withUnlockedLedger: (work) =>
      exclusively(async (transaction) => {
        await lookUpByIndex(transaction)
        return work({
          ...openLedgerReads(transaction),
          async lock() {
            await lockLedger(transaction)
            return openLedger(transaction, maxRejectionBytes)
          },
        })
      }),
    ledger: {
      ...openLedgerReads(database),
      spenders: (references) =>
        database.transaction(async (transaction) => {
          await lookUpByIndex(transaction)
          return openLedgerReads(transaction).spenders(references)
        }),
    },
    applyGenesis: (outputs) => withLedgerLock((transaction) => applyGenesis(transaction, outputs)),
    ledgerId: () => ledgerId(database),
    ledgerVersion: (first) => ledgerVersion(database, first),
    ledgerRules: (first) => ledgerRules(database, first),
    ledgerQueue: (first) => ledgerQueue(database, first),
    events: openEvents(database),
    rejections: openRejections(database, maxRejectionBytes),
    leases: openLeases(database),
    blocks: openBlocks(database, exclusively, lockLedger),
    bodies: openBodies(database),
    resubmissions: openResubmissions(database),
    answers: openAnswers(database),
    verdicts: openVerdicts(database),
    archive: openArchive(database),
    faucetClaims: openFaucetClaims(database),
    chain: openChain(database),
    changes: openChanges(database),
    explorer: openExplorer(database),
    database: {
      autovacuum: driver.autovacuum,
      run: (text, parameters) => inFlight.run(() => driver.run(text, parameters)),
      transaction: (work) => inFlight.run(() => driver.transaction(work)),
    },

    async ping(signal) {
      signal?.throwIfAborted()
      const answer = database
        .execute(sql`SELECT 1`)
        .then(() => disk.check((text) => inFlight.run(() => driver.run(text, []))))
      await pTimeout(answer, { milliseconds: Number.POSITIVE_INFINITY, ...(signal && { signal }) })
    },

    noteFailure: disk.failed,

    warnings: async () => (driver.autovacuum ? readServerWarnings(database) : []),

    close: () =>
      inFlight.close(async () => {
        await vacuuming?.stop()
        await driver.close()
      }),
  }
}

/** How long `close` waits for running work, and then for the connections to close, in milliseconds. */
const closeTimeout = 5_000

/** Tracks running work, so that closing can wait for it. */
interface InFlight {
  /** @throws StoreError `STORE_CLOSED` */
  run<T>(start: () => Promise<T>): Promise<T>
  /** Refuses new work, waits for running work, then runs `finish`. A second call waits for the first. */
  close(finish: () => Promise<void>): Promise<void>
}

function trackInFlight(): InFlight {
  const running = new Set<Promise<unknown>>()
  let closing: Promise<void> | undefined
  return {
    async run(start) {
      if (closing !== undefined) throw new StoreError('STORE_CLOSED', 'The store is closed')
      const work = start()
      running.add(work)
      try {
        return await work
      } finally {
        running.delete(work)
      }
    },

    close(finish) {
      closing ??= atMost(Promise.allSettled(running)).then(() => atMost(finish()))
      return closing
    },
  }
}

async function atMost(work: Promise<unknown>): Promise<void> {
  await pTimeout(work, { milliseconds: closeTimeout, message: false })
}

const identify = sql`INSERT INTO ${schema}.deployment DEFAULT VALUES ON CONFLICT DO NOTHING`
const identified = statement(
  { ledgerId: deployment.ledgerId },
  sql`SELECT ledger_id AS "ledgerId" FROM ${schema}.deployment`,
)

/** See `Store.ledgerId`. Of processes that ask at the same time, the first one makes it. */
async function ledgerId(database: Database): Promise<string> {
  await database.execute(identify)
  const [row] = await database.query(identified)
  if (row === undefined) throw new StoreError('STORE_FAILED', 'The id of the ledger is gone')
  return row.ledgerId
}

/** A value of the deployment. Of processes that begin at the same time, the first one decides. */
function decidedOnce<Value extends number | string>(column: string, type: Computed<Value>) {
  const decide = sql`INSERT INTO ${schema}.deployment (${column}) VALUES ($1)
    ON CONFLICT (id) DO UPDATE SET ${column} = EXCLUDED.${column} WHERE deployment.${column} IS NULL`
  const decided = statement(
    { value: nullable(type) },
    sql`SELECT ${column} AS value FROM ${schema}.deployment`,
  )
  return async (database: Database, first: Value): Promise<Value> => {
    await database.execute(decide, [first])
    const [row] = await database.query(decided)
    return row?.value ?? first
  }
}

/** See the methods of `Store` with these names. */
const ledgerVersion = decidedOnce('ledger_version', int4)
const ledgerRules = decidedOnce('rules', text)
const ledgerQueue = decidedOnce('queue', text)

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
  /** Whether the tables are only read, and have to exist: those of a replica. Default false. */
  readonly readOnly?: boolean
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
