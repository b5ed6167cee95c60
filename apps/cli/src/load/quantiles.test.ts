import { expect, test } from 'vitest'
import { quantilesOf } from './run-load.js'

test('quantiles are values of the list, by nearest rank', () => {
  const values = Array.from({ length: 200 }, (_, n) => 200 - n)
  expect(quantilesOf(values)).toEqual({ p50: 100, p95: 190, p99: 198, max: 200 })
  expect(quantilesOf([7.4])).toEqual({ p50: 7, p95: 7, p99: 7, max: 7 })
  expect(quantilesOf([])).toEqual({ p50: 0, p95: 0, p99: 0, max: 0 })
})
