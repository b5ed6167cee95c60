import fc from 'fast-check'
import { expect, test } from 'vitest'
import { fromHex, toHex } from '../../bytes.js'
import { CborWriter } from '../../cbor/writer.js'
import { withDefiniteLengths } from './definite-lengths.js'

test.each([
  ['an array', '9f0102ff', '820102'],
  ['a map', 'bf01020304ff', 'a201020304'],
  ['a byte string in chunks', '5f41014202 03ff'.replace(' ', ''), '43010203'],
  ['a text in chunks', '7f61616162ff', '626162'],
  ['what is nested', 'a1009f9fff81bf00d9010280ffff', 'a100828081a100d9010280'],
  ['what a byte string holds', '439f01ff', '439f01ff'],
])('writes %s in definite length', (_, indefinite, definite) => {
  expect(toHex(withDefiniteLengths(fromHex(indefinite)))).toBe(definite)
})

interface Item {
  readonly definite: (writer: CborWriter) => void
  readonly indefinite: (writer: CborWriter) => void
}

const { item } = fc.letrec<{ item: Item }>((tie) => ({
  item: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc
      .maxSafeInteger()
      .map((value): Item => ({ definite: (w) => w.int(value), indefinite: (w) => w.int(value) })),
    fc.uint8Array({ maxLength: 30 }).map(
      (value): Item => ({
        definite: (w) => w.bytes(value),
        indefinite: (w) =>
          w.raw(Uint8Array.of(0x5f)).bytes(value.subarray(0, 5)).bytes(value.subarray(5)).break(),
      }),
    ),
    fc.array(tie('item'), { maxLength: 5 }).map(
      (items): Item => ({
        definite: (w) => {
          w.array(items.length)
          for (const each of items) each.definite(w)
        },
        indefinite: (w) => {
          w.indefiniteArray()
          for (const each of items) each.indefinite(w)
          w.break()
        },
      }),
    ),
  ),
}))

test('gives the definite form whichever form it is given', () => {
  fc.assert(
    fc.property(item, ({ definite, indefinite }) => {
      const wanted = new CborWriter()
      const given = new CborWriter()
      definite(wanted)
      indefinite(given)
      expect(withDefiniteLengths(given.toBytes())).toEqual(wanted.toBytes())
      expect(withDefiniteLengths(wanted.toBytes())).toEqual(wanted.toBytes())
    }),
  )
})
