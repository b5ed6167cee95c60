import { openArchive } from './archive/open-archive.js'
import { openBlocks } from './blocks/open-blocks.js'
import type { Connection, Database, Transaction } from './drivers/connection.js'
import { openPGlite } from './drivers/pglite.js'
import { openPostgres } from './drivers/postgres.js'
import { openFaucetClaims } from './faucet/claims.js'
import { openGate } from './gate.js'
import { advisoryLock } from './ledger/advisory-lock.js'
import { applyGenesis } from './ledger/genesis.js'
import { openLedger } from './ledger/mempool-ledger.js'
import type { StoreOptions } from './options.js'
import { openLeases } from './repositories/leases.js'
import { openQueries } from './repositories/queries.js'
import { openRejections } from './repositories/rejections.js'
import { migrate } from './schema/migrate.js'
import { quoteSchema } from './schema/schema-name.js'
import type { Store } from './types.js'

/**
 * Opens the store and brings its schema up to date.
 *
 * @throws StoreError `STORE_UNAVAILABLE` where the server cannot be reached, `STORE_SCHEMA_MISMATCH` where another
 *   version has migrated the schema, `STORE_CONFIGURATION` where the options cannot work.
 *
 * @example
 * const store = await openStore({ pglite: await PGlite.create('.ratatosk/store') })
 * await store.utxosAt(address)
 * await store.close()
 */
export async function openStore(options: StoreOptions): Promise<Store> {
  const schema = quoteSchema(options.schema ?? 'ratatosk')
  const database = 'url' in options ? openPostgres(options) : openPGlite(options.pglite)
  try {
    await migrate(database, schema)
  } catch (error) {
    await database.close()
    throw error
  }
  return createStore(database, schema)
}

function createStore(database: Database, schema: string): Store {
  const gate = openGate(() => database.close())
  const connection: Connection = {
    query: (statement, parameters) => gate.enter(() => database.query(statement, parameters)),
  }
  const transaction: Database['transaction'] = (work) => gate.enter(() => database.transaction(work))

  // One at a time here already, so that no more than one connection waits for the lock.
  let last: Promise<unknown> = Promise.resolve()
  function locked<T>(work: (transaction: Transaction) => Promise<T>): Promise<T> {
    const turn = last.then(() =>
      database.transaction(async (transaction) => {
        await advisoryLock(transaction, 'ledger', schema)
        return work(transaction)
      }),
    )
    last = turn.catch(() => {})
    return turn
  }

  return {
    ...openQueries(connection, schema),
    withLedger: (work) => gate.enter(() => locked((transaction) => work(openLedger(transaction, schema)))),
    applyGenesis: (outputs) =>
      gate.enter(() => locked((transaction) => applyGenesis(transaction, schema, outputs))),
    rejections: openRejections(connection, schema),
    leases: openLeases(connection, schema),
    blocks: openBlocks({ ...connection, transaction }, schema, (work) => gate.enter(() => locked(work))),
    archive: openArchive({ ...connection, transaction }, schema),
    faucetClaims: openFaucetClaims({ ...connection, transaction }, schema),

    async ping(signal) {
      signal?.throwIfAborted()
      await abortable(connection.query('SELECT 1'), signal)
    },

    close: () => gate.close(),
  }
}

async function abortable(work: Promise<unknown>, signal: AbortSignal | undefined): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const abort = () => reject(signal?.reason)
    signal?.addEventListener('abort', abort, { once: true })
    work.then(() => resolve(), reject).finally(() => signal?.removeEventListener('abort', abort))
  })
}
