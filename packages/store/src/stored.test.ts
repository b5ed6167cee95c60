import { expect, it } from 'vitest'
import { readStored, separateCopy } from './stored.js'
import { describeBackends } from './test/backends.js'
import { dump } from './test/inspect.js'
import { buildBlock, bytes, entry, outputOf, takeLease, transaction, walletOf } from './test/samples.js'

const alice = walletOf('alice')

describeBackends('a stored ledger', (backend) => {
  it('shows what a node must know of it, and stays as it is', async () => {
    const test = await backend.create()
    try {
      const { store } = test
      await store.ledgerVersion(11)
      await store.applyGenesis([entry(outputOf('genesis'), alice)])
      const payment = transaction('a', [outputOf('genesis')], [alice])
      await store.withLedger((ledger) => ledger.apply({ transactions: [payment] }))
      await buildBlock(store, await takeLease(store), 'one', 1)
      const before = await dump(test)
      const head = await readStored(test.place, async (stored) => stored)
      expect(head).toMatchObject({ ledgerVersion: 11, archivedHeader: undefined })
      expect(head?.newest).toEqual({
        header: bytes('header of one'),
        commitTransaction: bytes('commit one'),
      })
      expect(await dump(test)).toEqual(before)
    } finally {
      await test.drop()
    }
  })

  it('is not read if there is none, or another version made it', async () => {
    const test = await backend.create()
    try {
      await test.database.query(`UPDATE "${test.schema}".migrations SET hash = 'of another version'`)
      const read = (schema: string) => readStored({ ...test.place, schema }, async (stored) => stored)
      await expect(read(test.schema)).rejects.toMatchObject({ code: 'STORE_SCHEMA_MISMATCH' })
      expect(await read(`${test.schema}_none`)).toBeUndefined()
    } finally {
      await test.drop()
    }
  })
})

describeBackends('the id of a ledger', (backend) => {
  it('is one for all processes and no other ledger, in spite of a reset', async () => {
    const [test, elsewhere] = [await backend.create(), await backend.create()]
    try {
      const stored = () => readStored(test.place, async (ledger) => ledger?.ledgerId)
      expect(await stored()).toBeUndefined()
      const other = await test.another()
      const [id, same] = await Promise.all([test.store.ledgerId(), other.ledgerId()])
      expect(same).toBe(id)
      expect(id).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)
      expect(await elsewhere.store.ledgerId()).not.toBe(id)

      expect(await test.store.ledgerVersion(11)).toBe(11)
      expect(await test.store.ledgerRules('these')).toBe('these')
      expect(await test.store.ledgerQueue('this')).toBe('this')
      await test.store.blocks.reset(await takeLease(test.store))
      expect(await other.ledgerId()).toBe(id)
      expect(await stored()).toBe(id)
      expect(await other.ledgerVersion(10)).toBe(11)
      expect(await other.ledgerQueue('another')).toBe('this')
      expect(await readStored(test.place, async (ledger) => ledger?.ledgerQueue)).toBe('this')

      await separateCopy(test.place)
      expect(await test.store.ledgerId()).toMatch(/^[0-9a-f]{8}-/)
      expect(await stored()).not.toBe(id)
      expect(await test.store.ledgerVersion(10), 'the ledger stays the same').toBe(11)
      expect(await test.store.ledgerRules('those')).toBe('these')
      expect(await test.store.ledgerQueue('another')).toBe('another')
    } finally {
      await Promise.all([test.drop(), elsewhere.drop()])
    }
  })
})

describeBackends('the ledger version of a deployment', (backend) => {
  it('is the first one that a process states, in spite of later ones and of a reset', async () => {
    const test = await backend.create()
    try {
      const other = await test.another()
      const stated = await Promise.all([test.store.ledgerVersion(11), other.ledgerVersion(10)])
      const [began] = stated
      expect(stated).toEqual([began, began])
      await test.store.blocks.reset(await takeLease(test.store))
      expect(await other.ledgerVersion(began === 10 ? 11 : 10)).toBe(began)
      const rules = await Promise.all([test.store.ledgerRules('these'), other.ledgerRules('those')])
      expect(rules).toEqual([rules[0], rules[0]])
      expect(await other.ledgerRules('others')).toBe(rules[0])
      expect(await other.ledgerVersion(began === 10 ? 11 : 10)).toBe(began)
    } finally {
      await test.drop()
    }
  })
})
