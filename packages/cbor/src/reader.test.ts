import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { fromHex, toHex } from './bytes.js'
import { CborReader } from './reader.js'
import { normalForm, readEncoded, readMapOf, readSet } from './structure.js'
import { isWellFormed } from './well-formed.js'
import { CborWriter } from './writer.js'

const reader = (hex: string): CborReader => new CborReader(fromHex(hex))
const failure = (code: string, offset = 0): unknown => expect.objectContaining({ code, offset })

describe('integers', () => {
  it.each([
    ['00', 0n],
    ['17', 23n],
    ['1800', 0n],
    ['190001', 1n],
    ['1a00000001', 1n],
    ['1b0000000000000001', 1n],
    ['1b0020000000000000', 2n ** 53n],
    ['1b0020000000000001', 2n ** 53n + 1n],
    ['1bffffffffffffffff', 2n ** 64n - 1n],
    ['20', -1n],
    ['3863', -100n],
    ['3b0020000000000000', -(2n ** 53n) - 1n],
    ['3bffffffffffffffff', -(2n ** 64n)],
    ['c249010000000000000000', 2n ** 64n],
    ['c349010000000000000000', -(2n ** 64n) - 1n],
    ['c240', 0n],
  ])('%s is %s', (hex, value) => {
    const integer = reader(hex)
    expect(integer.readInteger()).toBe(value)
    integer.assertEnd()
  })

  it('refuses integers outside the requested range or type', () => {
    expect(reader('19ffff').readUint(0xffff)).toBe(0xffff)
    expect(() => reader('1a00010000').readUint(0xffff)).toThrow(failure('CBOR_OUT_OF_RANGE'))
    expect(() => reader('1b0020000000000000').readUint()).toThrow(failure('CBOR_OUT_OF_RANGE'))
    expect(() => reader('20').readUint64()).toThrow(failure('CBOR_UNEXPECTED_TYPE'))
    expect(() => reader('c24101').readInt64()).toThrow(failure('CBOR_UNEXPECTED_TYPE'))
    expect(reader('3b7fffffffffffffff').readInt64()).toBe(-(2n ** 63n))
    expect(() => reader('3b8000000000000000').readInt64()).toThrow(failure('CBOR_OUT_OF_RANGE'))
    expect(() => reader('1b8000000000000000').readInt64()).toThrow(failure('CBOR_OUT_OF_RANGE'))
    // Like cborg: a bignum has a one-byte tag and a definite-length byte string.
    expect(() => reader('d8024101').readInteger()).toThrow(failure('CBOR_UNEXPECTED_TYPE'))
    expect(() => reader('c25f4101ff').readInteger()).toThrow(failure('CBOR_UNEXPECTED_TYPE', 1))
    expect(() => reader('1c').readUint()).toThrow(failure('CBOR_RESERVED_ADDITIONAL_INFORMATION'))
    expect(() => reader('1f').readUint()).toThrow(failure('CBOR_RESERVED_ADDITIONAL_INFORMATION'))
    expect(() => reader('19ff').readUint()).toThrow(failure('CBOR_END_OF_INPUT', 2))
  })

  it('reads back what the writer wrote, up to 512 bits and beyond 64', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(2n ** 600n), max: 2n ** 600n }), (value) => {
        const bytes = new CborWriter().int(value).toBytes()
        expect(isWellFormed(bytes)).toBe(true)
        if (value >= -(2n ** 512n) && value < 2n ** 512n)
          expect(new CborReader(bytes).readInteger()).toBe(value)
      }),
    )
    expect(
      toHex(
        new CborWriter()
          .uint(2n ** 64n - 1n)
          .uint(256)
          .int(-1)
          .int(-(2n ** 64n) - 1n)
          .toBytes(),
      ),
    ).toBe('1bffffffffffffffff19010020c349010000000000000000')
    expect(() => new CborWriter().uint(-1)).toThrow(RangeError)
    expect(() => new CborWriter().uint(2n ** 64n)).toThrow(RangeError)
    expect(() => new CborWriter().uint(1.5)).toThrow(RangeError)
  })
})

describe('strings', () => {
  it('returns byte strings as views of the input, without a Buffer', () => {
    const bytes = fromHex('43010203')
    expect(new CborReader(bytes).readBytes().buffer).toBe(bytes.buffer)
    expect(new CborReader(Buffer.from(bytes)).readBytes()).toEqual(Uint8Array.of(1, 2, 3))
  })

  it('requires definite lengths and valid UTF-8', () => {
    expect(reader('64f0908591').readText()).toBe('\u{10151}')
    expect(reader('63efbbbf').readText()).toBe('\ufeff')
    expect(() => reader('5f4101ff').readBytes()).toThrow(failure('CBOR_UNEXPECTED_TYPE'))
    expect(() => reader('7f6161ff').readText()).toThrow(failure('CBOR_UNEXPECTED_TYPE'))
    expect(toHex(reader('62c3bc').readUtf8())).toBe('c3bc')
    expect(() => reader('62c328').readUtf8()).toThrow(failure('CBOR_INVALID_UTF8'))
    expect(() => reader('62c328').readText()).toThrow(failure('CBOR_INVALID_UTF8'))
    expect(() => reader('63eda080').readText()).toThrow(failure('CBOR_INVALID_UTF8'))
    expect(() => reader('4201').readBytes()).toThrow(failure('CBOR_END_OF_INPUT', 2))
    expect(() => reader('420102').readBytesOf(3)).toThrow(failure('CBOR_UNEXPECTED_SIZE'))
    expect(() => reader('6161').readBytes()).toThrow(failure('CBOR_UNEXPECTED_TYPE'))
  })

  it('writes byte strings of Plutus data over 64 bytes in chunks', () => {
    const written = new CborWriter().boundedBytes(new Uint8Array(65)).toBytes()
    expect(toHex(written)).toBe(`5f5840${'00'.repeat(64)}4100ff`)
    expect(toHex(new CborWriter().boundedBytes(new Uint8Array(64)).toBytes())).toBe(`5840${'00'.repeat(64)}`)
  })
})

describe('containers', () => {
  it('enters arrays of definite and indefinite length', () => {
    for (const hex of ['83010203', '9f010203ff', '9b0000000000000003010203']) {
      const list = reader(hex)
      const count = list.readArray()
      const items: number[] = []
      while (list.hasNext(count, items.length)) items.push(list.readUint())
      list.assertEnd()
      expect(items).toEqual([1, 2, 3])
    }
  })

  it('refuses arrays and maps that claim more items than the input can hold', () => {
    expect(() => reader('9b1000000000000000').readArray()).toThrow(failure('CBOR_END_OF_INPUT'))
    expect(() => reader('a2000100').readMap()).toThrow(failure('CBOR_END_OF_INPUT'))
  })

  it('reads sets with and without tag 258 and refuses duplicate members, whatever their encoding', () => {
    const read = (hex: string): number[] => readSet(reader(hex), (inner) => inner.readUint(), String)
    expect(read('820102')).toEqual([1, 2])
    expect(read('d90102820102')).toEqual([1, 2])
    expect(read('d901029f0102ff')).toEqual([1, 2])
    expect(() => read('82011801')).toThrow(expect.objectContaining({ code: 'CBOR_DUPLICATE', path: '[1]' }))
    expect(() => read('d90103820102')).toThrow(failure('CBOR_UNEXPECTED_TAG'))
  })

  it('reads maps and refuses duplicate keys', () => {
    const read = (hex: string): Map<number, number> =>
      readMapOf(
        reader(hex),
        (key) => key.readUint(),
        (value) => value.readUint(),
      )
    expect(read('bf01020304ff')).toEqual(
      new Map([
        [1, 2],
        [3, 4],
      ]),
    )
    expect(() => read('a20102180103')).toThrow(failure('CBOR_DUPLICATE', 3))
    expect(() => read('a10161ff')).toThrow(expect.objectContaining({ path: '[1]' }))
  })

  it('reads CBOR inside byte strings to the end, with offsets in the whole input', () => {
    expect(readEncoded(reader('d8184101'), (inner) => inner.readUint())).toBe(1)
    expect(() => readEncoded(reader('d818420102'), (inner) => inner.readUint())).toThrow(
      failure('CBOR_TRAILING_BYTES', 4),
    )
    expect(() => readEncoded(reader('d8185f4101ff'), (inner) => inner.readUint())).toThrow(
      failure('CBOR_UNEXPECTED_TYPE', 2),
    )
  })
})

describe('normalForm', () => {
  const normal = (hex: string): string => normalForm({ bytes: fromHex(hex) })

  it.each([
    ['the width of numbers', '83010203', '83180119000203'],
    ['whether lengths are definite', '82018102', '9f019f02ffff'],
    ['the order of keys', 'a201020304', 'bf03040102ff'],
    ['the tag of sets', '820102', 'd90102820102'],
  ])('ignores %s', (_, one, other) => {
    expect(normal(one)).toBe(normal(other))
  })

  it.each([
    ['numbers', '01', '20'],
    ['order of lists', '820102', '820201'],
    ['types', '4161', '6161'],
    ['tags', 'd81e01', '01'],
    ['nesting', '82018102', '83010102'],
    ['simple values', 'f6', 'f4'],
    ['texts that look alike', '8261616162', '8163612c62'],
  ])('distinguishes %s', (_, one, other) => {
    expect(normal(one)).not.toBe(normal(other))
  })
})
