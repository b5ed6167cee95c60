import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PGlite } from '@electric-sql/pglite'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openStore } from '../open-store.js'
import { entry, outputOf, transaction, walletOf } from '../test/transactions.js'

const alice = walletOf('alice')
const bob = walletOf('bob')
const genesis = [entry(outputOf('genesis'), alice)]
const payment = transaction('payment', [outputOf('genesis')], [bob])

describe('PGlite in a directory', () => {
  let directory: string

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'ratatosk-store-'))
  })

  afterEach(() => rm(directory, { recursive: true, force: true }))

  it('keeps everything over a restart', async () => {
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
      expect(await store.history(bob.address, { limit: 10, offset: 0 })).toEqual([payment.cbor, next.cbor])
    })
  })

  it('keeps nothing of a batch that was never committed', async () => {
    await using(directory, async (pglite) => {
      const store = await openStore({ pglite })
      await store.applyGenesis(genesis)
      const unfinished = store.withLedger(async (ledger) => {
        await ledger.apply({ transactions: [payment] })
        throw new Error('power cut')
      })
      await expect(unfinished).rejects.toThrow('power cut')
    })
    await using(directory, async (pglite) => {
      const store = await openStore({ pglite })
      expect(await store.transaction(payment.id)).toBeUndefined()
      expect(await store.utxosAt(alice.address)).toHaveLength(1)
    })
  })
})

describe('a PGlite that was handed in', () => {
  it('serves several stores and its owner, and outlives them', async () => {
    const pglite = await PGlite.create()
    try {
      const first = await openStore({ pglite, schema: 'first' })
      const second = await openStore({ pglite, schema: 'second' })
      await first.applyGenesis(genesis)
      expect(await second.utxosAt(alice.address)).toEqual([])
      await Promise.all([
        first.withLedger((ledger) => ledger.apply({ transactions: [payment] })),
        second.applyGenesis(genesis),
        pglite.query('SELECT 1'),
      ])
      const late = first.withLedger((ledger) => ledger.known([payment.id]))
      await first.close()
      expect(await late).toEqual([true])
      await expect(first.ping()).rejects.toMatchObject({ code: 'STORE_CLOSED' })
      expect(await second.utxosAt(alice.address)).toHaveLength(1)
      expect((await pglite.query<{ n: number }>('SELECT 1 AS n')).rows).toEqual([{ n: 1 }])
    } finally {
      await pglite.close()
    }
  })

  it('that its owner has closed makes the store fail as closed', async () => {
    const pglite = await PGlite.create()
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
