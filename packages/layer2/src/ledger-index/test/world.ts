import type { PGlite } from '@electric-sql/pglite'
import type { SharedDriver } from '@ratatosk/database'
import { type Lease, openStore, type Store } from '@ratatosk/store'
import { createPGlite, databaseUrl, randomName, whyMissing } from '@ratatosk/test-kit'
import { openIndex } from '../open-index.js'
import type { IndexOptions, LedgerIndex } from '../types.js'
import { genesis, type TransactionDraft, transactionOf } from './history.js'

const tables = [
  'transactions',
  'totals',
  'outputs',
  'assets',
  'mints',
  'labels',
  'redeemers',
  'withdrawals',
  'preimages',
  'preimage_uses',
]

/** Every row of the index in order, without its progress, which may pass transactions dropped earlier. */
export async function dumpIndex(database: SharedDriver, schema: string): Promise<Record<string, string[]>> {
  const found: Record<string, string[]> = {}
  for (const table of tables) {
    // A chunk stays when its transactions are undone.
    const kept = table === 'totals' ? 'WHERE transactions > 0' : ''
    found[table] = await readRows(
      database,
      `SELECT to_json(t)::text AS row FROM "${schema}".${table} AS t ${kept} ORDER BY 1`,
    )
  }
  return found
}

/** The unspent outputs of the index and those of the ledger's own table, which validation writes. */
export async function unspentOf(database: SharedDriver, schema: string, storeSchema: string) {
  const list = `to_json(ARRAY[encode(transaction_id, 'hex'), output_index::text, encode(output, 'hex'),
    encode(address, 'hex')])::text`
  const read = (from: string) => readRows(database, `SELECT ${list} AS row FROM ${from} ORDER BY 1`)
  return {
    index: await read(`"${schema}".outputs WHERE spent_by IS NULL`),
    ledger: await read(`"${storeSchema}".mempool_ledger`),
  }
}

async function readRows(database: SharedDriver, text: string): Promise<string[]> {
  const { rows } = await database.run(text, [])
  return (rows as readonly { readonly row: string }[]).map(({ row }) => row)
}

/** A store and its indexes, each in a schema of its own. */
export interface World {
  readonly store: Store
  readonly lease: Lease
  /** Schema of the store. */
  readonly schema: string
  /** Opens an index that polls only on demand, unless `options` say otherwise. */
  index(schema: string, options?: Partial<IndexOptions>): Promise<LedgerIndex>
  close(): Promise<void>
}

let shared: Promise<PGlite> | undefined

export const backends = [
  {
    name: 'PostgreSQL',
    missing: await whyMissing('PostgreSQL'),
    open: (schema: string) => openStore({ url: databaseUrl, schema, maxConnections: 4 }),
  },
  {
    name: 'PGlite',
    missing: undefined,
    async open(schema: string) {
      shared ??= createPGlite()
      return openStore({ pglite: await shared, schema })
    },
  },
] as const

export async function createWorld(backend: (typeof backends)[number]): Promise<World> {
  const schema = randomName()
  const store = await backend.open(schema)
  const lease = await store.leases.acquire('sequencer', 'a test', 3_600_000)
  if (lease === undefined) throw new Error('The lease is held')
  const indexes: LedgerIndex[] = []
  const schemas = new Set([schema])
  return {
    store,
    lease,
    schema,
    async index(own, options = {}) {
      const index = await openIndex({
        database: store.database,
        schema: own,
        source: store.changes,
        genesis,
        pollMs: 3_600_000,
        ...options,
      })
      schemas.add(own)
      indexes.push(index)
      return index
    },
    async close() {
      await Promise.all(indexes.map((index) => index.close()))
      for (const own of schemas) await store.database.run(`DROP SCHEMA "${own}" CASCADE`, [])
      await store.close()
    },
  }
}

/** Adds a transaction to the ledger and waits until the index has it. */
export async function acceptAndIndex({ store }: World, index: LedgerIndex, draft: TransactionDraft) {
  const transaction = transactionOf(draft)
  await store.withLedger((ledger) => ledger.apply({ transactions: [transaction] }))
  await index.caughtUp()
  const found = await index.transaction(transaction.id)
  if (found === undefined) throw new Error('The index does not have what was accepted')
  return { ...transaction, sequence: found.sequence }
}
