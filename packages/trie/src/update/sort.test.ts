import fc from 'fast-check'
import { expect, test } from 'vitest'
import { sortedIndexes } from './sort.js'

const few = fc.array(fc.tuple(fc.nat(3), fc.nat(3)), { maxLength: 40 })
/** More than are sorted at once, in buckets of which some are large and most are empty. */
const many = fc
  .tuple(fc.integer({ min: 4090, max: 6000 }), fc.constantFrom(1, 30, 0x10000), fc.nat())
  .map(([size, prefixes, seed]) =>
    Array.from({ length: size }, (_, i): [number, number] => {
      const random = Math.imul(i + seed, 2654435761) >>> 0
      return [(random >>> 8) % prefixes, random % 7]
    }),
  )

test('sorts by the prefix, then by the comparison, and keeps equal entries in order', () => {
  const property = fc.property(fc.oneof(few, many), (items) => {
    const numbers = items.map((_, index) => index)
    const expected = numbers.toSorted((a, b) => items[a]![0] - items[b]![0] || items[a]![1] - items[b]![1])
    const sorted = sortedIndexes(
      items.length,
      (index) => items[index]![0],
      (a, b) => items[a]![1] - items[b]![1],
    )
    expect([...sorted]).toStrictEqual(expected)
  })
  fc.assert(property, { numRuns: 60 })
})
