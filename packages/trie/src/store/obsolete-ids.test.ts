import { expect, test } from 'vitest'
import { encodeIds } from './lmdb-rows.js'
import { obsoleteIds } from './obsolete-ids.js'

test('ids of all rows are taken in order, in pieces', () => {
  const rows = [[70, 2 ** 40, 3], [], [5, 4], [60]].map(encodeIds)
  const ids = obsoleteIds(rows)
  expect(ids.left).toBe(6)
  while (ids.readRow());
  expect(ids.left).toBe(6)
  expect(ids.take(2)).toEqual([3, 4])
  expect(ids.left).toBe(4)
  expect(ids.take(3)).toEqual([5, 60, 70])
  expect(ids.take(3)).toEqual([2 ** 40])
  expect(ids.left).toBe(0)
  expect(ids.take(3)).toEqual([])
})

test('rows are read one at a time', () => {
  const ids = obsoleteIds([encodeIds([1]), encodeIds([2])])
  expect([ids.readRow(), ids.readRow(), ids.readRow()]).toEqual([true, true, false])
})
