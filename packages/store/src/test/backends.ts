import { randomBytes } from 'node:crypto'
import { PGlite } from '@electric-sql/pglite'
import type { Database } from '../drivers/connection.js'
import { openPGlite } from '../drivers/pglite.js'
import { openPostgres } from '../drivers/postgres.js'
import { openStore } from '../open-store.js'
import type { Store } from '../types.js'

export const databaseUrl = process.env.TEST_DATABASE_URL ?? 'postgres://postgres@127.0.0.1:5432/postgres'

/** A store over a schema of its own. */
export interface TestStore {
  readonly store: Store
  readonly schema: string
  /** For looking behind the store. */
  readonly database: Database
  /** A second store over the same tables. */
  another(): Promise<Store>
  drop(): Promise<void>
}

export interface Backend {
  readonly name: 'PostgreSQL' | 'PGlite'
  /** Why its tests cannot run here. */
  readonly missing: string | undefined
  create(): Promise<TestStore>
}

async function whyMissing(): Promise<string | undefined> {
  const database = openPostgres({ url: databaseUrl, connectTimeoutMs: 2_000, maxConnections: 1 })
  try {
    await database.query('SELECT 1')
    return undefined
  } catch {
    const reason = `no PostgreSQL at TEST_DATABASE_URL or on 127.0.0.1:5432`
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
  async create() {
    const schema = randomSchema()
    const open = () => openStore({ url: databaseUrl, schema, maxConnections: 4 })
    return assemble(schema, openPostgres({ url: databaseUrl, maxConnections: 2 }), open)
  },
}

let shared: Promise<PGlite> | undefined

export const embedded: Backend = {
  name: 'PGlite',
  missing: undefined,
  async create() {
    const schema = randomSchema()
    shared ??= PGlite.create()
    const pglite = await shared
    return assemble(schema, openPGlite(pglite), () => openStore({ pglite, schema }))
  },
}

export const backends: readonly Backend[] = [postgresql, embedded]

async function assemble(schema: string, database: Database, open: () => Promise<Store>): Promise<TestStore> {
  const stores = [await open()]
  return {
    store: stores[0]!,
    schema,
    database,
    async another() {
      const store = await open()
      stores.push(store)
      return store
    },
    async drop() {
      await Promise.all(stores.map((store) => store.close()))
      await database.query(`DROP SCHEMA "${schema}" CASCADE`)
      await database.close()
    },
  }
}

export function randomSchema(): string {
  return `test_${randomBytes(8).toString('hex')}`
}
