import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createSlab } from './slab.js'

const megabyte = 2 ** 20

test('keeps every byte string until it is removed', () => {
  const anyStep = fc.oneof(
    fc.uint8Array({ maxLength: 700 }),
    fc.nat().map((pick) => ({ remove: pick })),
  )
  fc.assert(
    fc.property(fc.array(anyStep, { maxLength: 200 }), (steps) => {
      const slab = createSlab()
      const kept = new Map<number, Uint8Array>()
      for (const step of steps) {
        if (step instanceof Uint8Array) {
          const id = slab.add(step)
          expect(id).toBeGreaterThan(0)
          expect(kept.has(id)).toBe(false)
          kept.set(id, step)
        } else if (kept.size > 0) {
          const id = [...kept.keys()][step.remove % kept.size]!
          slab.remove(id)
          kept.delete(id)
        }
        for (const [id, bytes] of kept) expect(Buffer.compare(slab.get(id), bytes)).toBe(0)
      }
    }),
    { numRuns: 50 },
  )
})

test('keeps more than a chunk of byte strings', () => {
  const slab = createSlab()
  const ids = Array.from({ length: 5000 }, (_, i) => slab.add(Buffer.alloc(674, i)))
  expect(slab.capacity).toBe(4 * megabyte)
  for (const [i, id] of ids.entries()) expect(Buffer.alloc(674, i).equals(slab.get(id))).toBe(true)
})

test('reuses freed space', () => {
  const slab = createSlab()
  for (let round = 0; round < 20; round += 1) {
    const ids = Array.from({ length: 1000 }, (_, i) => slab.add(Buffer.alloc(i % 674)))
    for (const id of ids) slab.remove(id)
  }
  expect(slab.capacity).toBe(megabyte)
})

test('refuses an id that it never returned', () => {
  expect(() => createSlab().get(1)).toThrow(RangeError)
})
