import fc from 'fast-check'
import { expect, it } from 'vitest'
import { bytes, Column } from './column.js'

it('has what was set last, and zeros elsewhere, on any page', () => {
  const slot = fc.oneof(fc.nat(200), fc.integer({ min: 4000, max: 4200 }), fc.nat(20_000))
  const items = fc.uint8Array({ minLength: 3, maxLength: 3 })
  fc.assert(
    fc.property(fc.array(fc.tuple(slot, items), { maxLength: 100 }), slot, (given, other) => {
      const column = new Column(bytes, 3)
      const set = new Map<number, Uint8Array>()
      for (const [slot, items] of given) {
        column.put(slot, items)
        set.set(slot, items)
      }
      const of = (slot: number) => set.get(slot) ?? new Uint8Array(3)
      const target = new Uint8Array(5)
      for (const slot of [...set.keys(), other]) {
        column.copy(slot, target, 1)
        expect([column.view(slot), target.subarray(1, 4)]).toEqual([of(slot), of(slot)])
        expect(Math.sign(column.compare(slot, other))).toBe(Buffer.compare(of(slot), of(other)))
      }
    }),
  )
})

it('has one item in a slot of width one', () => {
  const column = new Column((length) => new Int32Array(length))
  for (const slot of [0, 63, 64, 4095, 4096]) column.set(slot, -slot)
  expect([0, 63, 64, 4095, 4096, 4097, 9000].map((slot) => column.get(slot) + 0)).toEqual([
    0, -63, -64, -4095, -4096, 0, 0,
  ])
})
