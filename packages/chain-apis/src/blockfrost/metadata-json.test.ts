import { CborWriter, fromHex } from '@ratatosk/cbor'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { encodeJson } from '../json.js'
import { metadataJson, metadatumJson } from './metadata-json.js'

it.each([
  ['182a', 42n],
  ['29', -10n],
  ['1bffffffffffffffff', 2n ** 64n - 1n],
  ['43010203', '0x010203'],
  ['5f41014102ff', '0x0102'],
  ['6548656c6c6f', 'Hello'],
  ['7f624865636c6c6fff', 'Hello'],
  ['8201616b', [1n, 'k']],
  ['9f01ff', [1n]],
  ['a36161014102616203820102', { a: 1n, '0x02': 'b', '3': [1n, 2n] }],
  ['a182010203', { '0x820102': 3n }],
  ['a1a1010203', { '0xa10102': 3n }],
  ['a19f01ff02', { '0x9f01ff': 2n }],
])('a metadatum as JSON: %s', (hex, json) => {
  expect(metadatumJson(fromHex(hex))).toEqual(json)
})

/** Writes an arbitrary metadatum; lists and maps are also keys. */
type Write = (writer: CborWriter) => void
const { metadatum } = fc.letrec<{ metadatum: Write }>((tie) => {
  const item = tie('metadatum')
  return {
    metadatum: fc.oneof(
      { maxDepth: 6 },
      fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }).map(
        (n): Write =>
          (writer) =>
            writer.uint(n),
      ),
      fc.uint8Array({ maxLength: 64 }).map(
        (bytes): Write =>
          (writer) =>
            writer.bytes(bytes),
      ),
      fc.string({ maxLength: 15, unit: 'binary' }).map(
        (text): Write =>
          (writer) =>
            writer.text(text),
      ),
      fc.array(item, { maxLength: 4 }).map(
        (items): Write =>
          (writer) => {
            writer.array(items.length)
            for (const write of items) write(writer)
          },
      ),
      fc.array(fc.tuple(item, item), { maxLength: 4 }).map(
        (entries): Write =>
          (writer) => {
            writer.map(entries.length)
            for (const write of entries.flat()) write(writer)
          },
      ),
    ),
  }
})

it('JSON is at most 16 times as long as CBOR', () => {
  fc.assert(
    fc.property(metadatum, (write) => {
      const writer = new CborWriter(65_536)
      write(writer)
      const cbor = writer.toBytes()
      expect(encodeJson(metadatumJson(cbor)).length).toBeLessThanOrEqual(16 * cbor.length)
    }),
  )
})

it('the length of keys does not double on each level', () => {
  const depth = 1000
  const writer = new CborWriter(65_536)
  for (let level = 0; level < depth; level++) writer.map(1)
  writer.uint(0)
  for (let level = 0; level < depth; level++) writer.uint(0)
  const cbor = writer.toBytes()
  expect(encodeJson(metadatumJson(cbor)).length).toBeLessThan(3 * cbor.length)
})

it('refuses auxiliary data whose JSON could be longer than 1 MiB', () => {
  // One label, a list of 65,536 integers.
  const bytes = new Uint8Array(7 + 65_536)
  bytes.set([0xa1, 0x00, 0x9a, 0x00, 0x01, 0x00, 0x00])
  expect(() => metadataJson({ bytes, scripts: [] })).toThrow(expect.objectContaining({ statusCode: 400 }))
})
