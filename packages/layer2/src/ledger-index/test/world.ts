import type { PGlite } from '@electric-sql/pglite'
import { type Lease, openStore, type Store } from '@ratatosk/store'
import { createPGlite, databaseUrl, randomName, whyMissing } from '@ratatosk/test-kit'
import { openIndex } from '../open-index.js'
import type { IndexOptions, LedgerIndex } from '../types.js'
import { genesis } from './history.js'
import { type TransactionDraft, transactionOf } from './transactions.js'

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
