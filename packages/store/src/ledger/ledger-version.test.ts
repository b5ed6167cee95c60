import { expect, it } from 'vitest'
import { describeBackends } from '../test/backends.js'
import { takeLease } from '../test/blocks.js'

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
