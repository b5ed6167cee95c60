import { expect, it } from 'vitest'
import { readStored } from './read-stored.js'
import { describeBackends } from './test/backends.js'
import { buildBlock, takeLease } from './test/blocks.js'
import { dump } from './test/dump.js'
import { bytes, entry, outputOf, transaction, walletOf } from './test/transactions.js'

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
