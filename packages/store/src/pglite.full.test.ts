import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { type AddressInfo, connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PGlite } from '@electric-sql/pglite'
import { collect, createPGlite } from '@ratatosk/test-kit'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openStore } from './open-store.js'
import { entry, outputOf, transaction, walletOf } from './test/samples.js'

const alice = walletOf('alice')
const bob = walletOf('bob')
const genesis = [entry(outputOf('genesis'), alice)]
const payment = transaction('payment', [outputOf('genesis')], [bob])

describe('a PGlite with a data directory', () => {
  let directory: string

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'ratatosk-store-'))
  })

  afterEach(() => rm(directory, { recursive: true, force: true }))

  it('keeps everything across a restart', async () => {
    await using(directory, async (pglite) => {
      const store = await openStore({ pglite })
      await store.applyGenesis(genesis)
      await store.withLedger((ledger) => ledger.apply({ transactions: [payment] }))
      await store.close()
    })
    await using(directory, async (pglite) => {
      const store = await openStore({ pglite })
      expect(await store.applyGenesis(genesis)).toBe(false)
      expect(await store.transaction(payment.id)).toEqual(payment.cbor)
      const next = transaction('next', [outputOf('payment')], [alice])
      await store.withLedger((ledger) => ledger.apply({ transactions: [next] }))
      expect(await collect(store.historyPages(bob.address, { limit: 10, offset: 0 }))).toEqual([
        payment.cbor,
        next.cbor,
      ])
    })
  })

  it('keeps committed batches and no other when its process is killed during a batch', async () => {
    const killed = spawnSync(process.execPath, ['--input-type=module', '--eval', victim(directory)])
    expect([killed.signal, killed.stderr.toString()]).toEqual(['SIGKILL', ''])
    await using(directory, async (pglite) => {
      const store = await openStore({ pglite })
      const outputs = await store.withLedger((ledger) =>
        ledger.outputs([outputOf('genesis'), outputOf('committed'), outputOf('cut')]),
      )
      expect(outputs.map((output) => output !== undefined)).toEqual([false, true, false])
    })
  })
})

/** A program that applies one batch and is killed after it has written another. It runs what is built. */
function victim(directory: string): string {
  const built = (path: string) => JSON.stringify(new URL(`../dist/${path}`, import.meta.url))
  return `
    import { PGlite } from ${JSON.stringify(import.meta.resolve('@electric-sql/pglite'))}
    import { openStore } from ${built('index.js')}
    import { entry, outputOf, transaction, walletOf } from ${built('test/samples.js')}
    const store = await openStore({ pglite: await PGlite.create(${JSON.stringify(directory)}) })
    const alice = walletOf('alice')
    await store.applyGenesis([entry(outputOf('genesis'), alice)])
    const apply = (ledger, name, spent) =>
      ledger.apply({ transactions: [transaction(name, [spent], [alice])] })
    await store.withLedger((ledger) => apply(ledger, 'committed', outputOf('genesis')))
    await store.withLedger(async (ledger) => {
      await apply(ledger, 'cut', outputOf('committed'))
      process.kill(process.pid, 'SIGKILL')
    })`
}

describe('a given PGlite', () => {
  it('serves several stores and its owner, and stays open when they close', async () => {
    const pglite = await createPGlite()
    try {
      const first = await openStore({ pglite, schema: 'first' })
      const second = await openStore({ pglite, schema: 'second' })
      await first.applyGenesis(genesis)
      expect(await collect(second.utxoPages(alice.address))).toEqual([])
      await Promise.all([
        first.withLedger((ledger) => ledger.apply({ transactions: [payment] })),
        second.applyGenesis(genesis),
        pglite.query('SELECT 1'),
      ])
      const late = first.withLedger((ledger) => ledger.known([payment.id]))
      await first.close()
      expect(await late).toEqual([true])
      await expect(first.ping()).rejects.toMatchObject({ code: 'STORE_CLOSED' })
      expect(await collect(second.utxoPages(alice.address))).toHaveLength(1)
      expect((await pglite.query<{ n: number }>('SELECT 1 AS n')).rows).toEqual([{ n: 1 }])
    } finally {
      await pglite.close()
    }
  })

  it('lets timers and sockets take their turn between queries', async () => {
    const pglite = await createPGlite()
    const store = await openStore({ pglite })
    let turns = 0
    let done = false
    const count = () => {
      turns++
      if (!done) setImmediate(count)
    }
    setImmediate(count)
    const slow = 'SELECT pg_sleep(0.015)'
    const five = async (query: () => Promise<unknown>) => {
      for (let count = 0; count < 5; count++) await query()
    }
    try {
      // The first query of a turn does not wait, and the first turn may have begun before.
      for (const work of [
        () => five(() => pglite.query(slow)),
        () => Promise.all(Array.from({ length: 5 }, () => pglite.query(slow))),
        () => pglite.transaction((transaction) => five(() => transaction.query(slow))),
      ]) {
        turns = 0
        await work()
        expect(turns).toBeGreaterThanOrEqual(3)
      }
    } finally {
      done = true
      await store.close()
      await pglite.close()
    }
  })

  it('waits with queries while clients connect', async () => {
    const pglite = await createPGlite()
    const store = await openStore({ pglite })
    const server = createServer().listen({ host: '127.0.0.1', port: 0, backlog: 200 })
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    let accepted = 0
    server.on('connection', () => accepted++)
    const clients = Array.from({ length: 100 }, () => connect(port, '127.0.0.1'))
    try {
      let queries = 0
      for (; accepted < clients.length; queries++) await pglite.query('SELECT pg_sleep(0.001)')
      // At one connection in each turn of 10 ms there would be about 1,000.
      expect(queries).toBeLessThan(500)
    } finally {
      for (const client of clients) client.destroy()
      server.close()
      await store.close()
      await pglite.close()
    }
  })

  it('makes the store fail with STORE_CLOSED after its owner has closed it', async () => {
    const pglite = await createPGlite()
    const store = await openStore({ pglite })
    await pglite.close()
    await expect(store.ping()).rejects.toMatchObject({ code: 'STORE_CLOSED' })
    await expect(store.withLedger(async () => {})).rejects.toMatchObject({ code: 'STORE_CLOSED' })
  })
})

async function using(directory: string, work: (pglite: PGlite) => Promise<void>): Promise<void> {
  const pglite = await PGlite.create(directory)
  try {
    await work(pglite)
  } finally {
    await pglite.close()
  }
}
