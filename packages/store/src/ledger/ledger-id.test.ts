import { expect, it } from 'vitest'
import { readStored } from '../read-stored.js'
import { describeBackends } from '../test/backends.js'
import { takeLease } from '../test/blocks.js'
import { separateCopy } from './separate-copy.js'

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
