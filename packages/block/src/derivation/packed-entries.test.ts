import { toHex } from '@ratatosk/cbor'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { createPackedEntries } from './packed-entries.js'

it('has what a map has, whatever the lengths', () => {
  const key = fc.oneof(fc.uint8Array({ maxLength: 2 }), fc.uint8Array({ minLength: 1020, maxLength: 1030 }))
  const entry = fc.tuple(key, fc.uint8Array({ maxLength: 3000 }))
  fc.assert(
    fc.property(fc.array(entry, { maxLength: 200 }), key, (entries, other) => {
      const packed = createPackedEntries()
      const map = new Map<string, Uint8Array>()
      for (const [name, value] of entries) {
        packed.add([name, value])
        map.set(toHex(name), value)
      }
      const hex = (value: Uint8Array | undefined) => value && toHex(value)
      expect(Array.from(packed.all(), ([name, value]) => [toHex(name), toHex(value)])).toEqual(
        Array.from(map, ([name, value]) => [name, toHex(value)]),
      )
      for (const name of [...entries.map(([each]) => each), other])
        expect(hex(packed.valueOf(name))).toBe(hex(map.get(toHex(name))))
    }),
  )
})
