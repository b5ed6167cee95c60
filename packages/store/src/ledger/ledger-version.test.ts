import { inSchema, migrate } from '@ratatosk/database'
import { expect, it } from 'vitest'
import { storeMigrations } from '../schema/migrations.js'
import { describeEveryBackend } from '../test/backends.js'
import { takeLease } from '../test/blocks.js'

describeEveryBackend('the ledger version of a deployment', (backend) => {
  it('is the first one that a process states, in spite of later ones and of a reset', async () => {
    const test = await backend.create()
    try {
      const other = await test.another()
      const stated = await Promise.all([test.store.ledgerVersion(11, 10), other.ledgerVersion(10, 10)])
      const [began] = stated
      expect(stated).toEqual([began, began])
      await test.store.blocks.reset(await takeLease(test.store))
      expect(await other.ledgerVersion(began === 10 ? 11 : 10, 10)).toBe(began)
    } finally {
      await test.drop()
    }
  })

  it.each([10, 11])('is what is stated first, %i, in a store of an earlier version', async (unrecorded) => {
    const test = await backend.create()
    const schema = `"${test.schema}"`
    try {
      await test.database.query(`DROP SCHEMA ${schema} CASCADE`)
      await migrate(inSchema(test.driver, schema), storeMigrations().slice(0, 14))
      const store = await test.another()
      expect(await store.ledgerVersion(11, unrecorded)).toBe(unrecorded)
      expect(await store.ledgerVersion(11, 21 - unrecorded)).toBe(unrecorded)
    } finally {
      await test.drop()
    }
  })
})
