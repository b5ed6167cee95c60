import { CborWriter } from '@ratatosk/cbor'
import fc from 'fast-check'

/** Writes data in one of the encodings that the ledger has of it. */
type Write = (writer: CborWriter) => void

const chunksOf =
  (content: Uint8Array, size: number): Write =>
  (writer) => {
    writer.raw(Uint8Array.of(0x5f))
    for (let start = 0; start < content.length; start += size)
      writer.bytes(content.subarray(start, start + size))
    writer.break()
  }

const string: fc.Arbitrary<Write> = fc
  .tuple(fc.uint8Array({ maxLength: 100 }), fc.boolean(), fc.integer({ min: 1, max: 64 }))
  .map(([content, isChunked, size]) =>
    isChunked || content.length > 64 ? chunksOf(content, size) : (writer) => void writer.bytes(content),
  )

const integer: fc.Arbitrary<Write> = fc.oneof(
  fc.bigInt({ min: -(2n ** 70n), max: 2n ** 70n }).map(
    (value): Write =>
      (writer) =>
        void writer.int(value),
  ),
  // A bignum with zeros before a small number.
  fc.tuple(fc.constantFrom(2, 3), fc.uint8Array({ maxLength: 12 })).map(
    ([tag, magnitude]): Write =>
      (writer) =>
        void writer.tag(tag).bytes(magnitude),
  ),
)

const sequence =
  (items: readonly Write[], isOpen: boolean): Write =>
  (writer) => {
    if (isOpen) writer.indefiniteArray()
    else writer.array(items.length)
    for (const write of items) write(writer)
    if (isOpen) writer.break()
  }

const { data } = fc.letrec<{ data: Write; list: Write }>((tie) => ({
  list: fc.tuple(fc.array(tie('data'), { maxLength: 4 }), fc.boolean()).map((parts) => sequence(...parts)),
  data: fc.oneof(
    { depthSize: 'small' },
    integer,
    string,
    tie('list'),
    fc.tuple(fc.array(fc.tuple(tie('data'), tie('data')), { maxLength: 3 }), fc.boolean()).map(
      ([entries, isOpen]): Write =>
        (writer) => {
          if (isOpen) writer.indefiniteMap()
          else writer.map(entries.length)
          for (const write of entries.flat()) write(writer)
          if (isOpen) writer.break()
        },
    ),
    fc.tuple(fc.constantFrom(121, 127, 1280, 1400), tie('list')).map(
      ([tag, fields]): Write =>
        (writer) =>
          fields(writer.tag(tag)),
    ),
    fc.tuple(fc.constantFrom(0n, 6n, 7n, 127n, 128n, 2n ** 64n - 1n), tie('list'), fc.boolean()).map(
      ([index, fields, isOpen]): Write =>
        (writer) =>
          sequence([(inner) => void inner.uint(index), fields], isOpen)(writer.tag(102)),
    ),
  ),
}))

/** The CBOR of any Plutus data, in any encoding that the ledger accepts. */
export const plutusData: fc.Arbitrary<Uint8Array> = data.map((write) => {
  const writer = new CborWriter()
  write(writer)
  return writer.toBytes()
})
