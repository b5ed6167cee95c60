import type { PGlite } from '@electric-sql/pglite'
import { type Driver, type Executor, openPGlite, openPostgres, type Parameter } from '@ratatosk/database'
import { createPGlite, giveBack, openIn, randomName, takeSchema } from '@ratatosk/test-kit'
import { beforeAll, describe } from 'vitest'
import { openStore, type RetentionOptions } from '../open-store.js'
import type { Store } from '../store.js'
import type { StoredOptions } from '../stored.js'

export const databaseUrl = process.env.TEST_DATABASE_URL ?? 'postgres://postgres@127.0.0.1:5432/postgres'

/** Runs any SQL and trusts its rows. */
interface RawDatabase {
  query<Row>(text: string, parameters?: readonly Parameter[]): Promise<Row[]>
  transaction<T>(work: (transaction: Pick<RawDatabase, 'query'>) => Promise<T>): Promise<T>
}

/** A store in its own schema. */
export interface TestStore {
  readonly store: Store
  readonly schema: string
  readonly place: StoredOptions
  readonly database: RawDatabase
  readonly driver: Driver
  /** A second store over the same tables; of the connections only a server takes note. */
  another(retention?: RetentionOptions, maxConnections?: number): Promise<Store>
  drop(): Promise<void>
}

export interface Backend {
  readonly name: 'PostgreSQL' | 'PGlite'
  readonly missing: string | undefined
  /** Starts the database, which may take long. */
  start(): Promise<unknown>
  create(): Promise<TestStore>
}

async function whyMissing(): Promise<string | undefined> {
  const database = openPostgres({ url: databaseUrl, connectTimeoutMs: 2_000, maxConnections: 1 })
  try {
    await database.run('SELECT 1', [])
    return undefined
  } catch {
    const reason = 'PostgreSQL is not reachable at TEST_DATABASE_URL or 127.0.0.1:5432'
    if (process.env.RATATOSK_REQUIRE_SERVICES === '1') throw new Error(reason)
    console.warn(`Skipped: ${reason}`)
    return reason
  } finally {
    await database.close()
  }
}

export const postgresql: Backend = {
  name: 'PostgreSQL',
  missing: await whyMissing(),
  async start() {},
  async create() {
    const schema = takeSchema()
    const place = { url: databaseUrl, schema }
    const open = (retention?: RetentionOptions, maxConnections = 4) =>
      openStore({ ...place, maxConnections, ...retention })
    const store = await openIn(schema, () => open())
    const driver = openPostgres({ url: databaseUrl, maxConnections: 2 })
    return assemble(place, driver, store, open, async () => {
      await driver.close()
      await giveBack(schema, false)
    })
  },
}

/** One for all tests of a vitest worker; it ends with the worker. */
let shared: Promise<PGlite> | undefined

function sharedPGlite(): Promise<PGlite> {
  shared ??= createPGlite()
  return shared
}

const embedded: Backend = {
  name: 'PGlite',
  missing: undefined,
  start: sharedPGlite,
  async create() {
    const schema = randomName()
    const pglite = await sharedPGlite()
    const place = { pglite, schema }
    const open = (retention?: RetentionOptions) => openStore({ ...place, ...retention })
    return assemble(place, openPGlite(pglite), await open(), open, async () => {
      await pglite.exec(`DROP SCHEMA "${schema}" CASCADE`)
    })
  },
}

/** Runs the same tests on PostgreSQL and on PGlite. */
export const describeEveryBackend = (subject: string, tests: (backend: Backend) => void): void =>
  describeOn([postgresql, embedded], subject, tests)

/** Tests on PostgreSQL; on PGlite (half a second a schema) without it or with `RATATOSK_STORES=all`. */
export const describeBackends = (subject: string, tests: (backend: Backend) => void): void =>
  describeOn(everyBackend ? [postgresql, embedded] : [postgresql], subject, tests)

const everyBackend = process.env.RATATOSK_STORES === 'all' || postgresql.missing !== undefined

function describeOn(backends: readonly Backend[], subject: string, tests: (backend: Backend) => void): void {
  for (const backend of backends) {
    describe.skipIf(backend.missing !== undefined)(`${subject} on ${backend.name}`, () => {
      beforeAll(() => backend.start(), 120_000)
      tests(backend)
    })
  }
}

function assemble(
  place: StoredOptions,
  driver: Driver,
  store: Store,
  open: (retention?: RetentionOptions, maxConnections?: number) => Promise<Store>,
  drop: () => Promise<void>,
): TestStore {
  const stores = [store]
  return {
    store,
    schema: place.schema,
    place,
    driver,
    database: {
      ...raw(driver),
      transaction: (work) => driver.transaction((transaction) => work(raw(transaction))),
    },
    async another(retention, maxConnections) {
      const store = await open(retention, maxConnections)
      stores.push(store)
      return store
    },
    async drop() {
      await Promise.all(stores.map((store) => store.close()))
      await drop()
    },
  }
}

function raw(executor: Executor): Pick<RawDatabase, 'query'> {
  return {
    async query<Row>(text: string, parameters: readonly Parameter[] = []) {
      return (await executor.run(text, parameters)).rows as Row[]
    },
  }
}

/** Makes PostgreSQL's statistics current on every connection; otherwise each reports once a second. */
export async function flushStatistics({ store, driver }: TestStore): Promise<void> {
  const connections = [store.database, store.database, store.database, store.database, driver, driver]
  await Promise.all(connections.map((each) => each.run('SELECT pg_stat_force_next_flush()', [])))
}
