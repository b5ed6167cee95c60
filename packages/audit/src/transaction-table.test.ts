import { expect, test } from 'vitest'
import { TransactionTable } from './transaction-table.js'

test('knows the block of each transaction, like a map, whatever is added and deleted', () => {
  const table = new TransactionTable()
  const known = new Map<string, number>()
  let state = 1
  const random = (below: number): number => {
    state = (state * 48_271) % 2_147_483_647
    return state % below
  }
  // Few places, so that runs of slots form and are closed.
  const ids = Array.from({ length: 1200 }, (_, n) => {
    const id = new Uint8Array(32)
    new DataView(id.buffer).setUint32(0, random(40))
    new DataView(id.buffer).setUint32(4, n)
    return id
  })
  for (let step = 0; step < 4000; step++) {
    const id = ids[random(ids.length)]!
    const key = String(id)
    if (random(3) > 0) {
      const height = 1 + random(1000)
      table.set(id, height)
      known.set(key, height)
    } else {
      table.delete(id)
      known.delete(key)
    }
  }
  expect(ids.map((id) => table.get(id))).toEqual(ids.map((id) => known.get(String(id)) ?? 0))
})
