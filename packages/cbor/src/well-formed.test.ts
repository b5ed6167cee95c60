import { describe, expect, it } from 'vitest'
import { fromHex } from './bytes.js'
import { assertWellFormed, isWellFormed } from './well-formed.js'
import { CborWriter } from './writer.js'

/** RFC 8949, appendix A: every example. */
const APPENDIX_A = `
00 01 0a 17 1818 1819 1864 1903e8 1a000f4240 1b000000e8d4a51000 1bffffffffffffffff c249010000000000000000
3bffffffffffffffff c349010000000000000000 20 29 3863 3903e7
f90000 f98000 f93c00 fb3ff199999999999a f93e00 f97bff fa47c35000 fa7f7fffff fb7e37e43c8800759c f90001 f90400
f9c400
fbc010666666666666 f97c00 f97e00 f9fc00 fa7f800000 fa7fc00000 faff800000 fb7ff0000000000000 fb7ff8000000000000
fbfff0000000000000 f4 f5 f6 f7 f0 f8ff
c074323031332d30332d32315432303a30343a30305a c11a514b67b0 c1fb41d452d9e8200000 d74401020304 d818456449455446
d82076687474703a2f2f7777772e6578616d706c652e636f6d
40 4401020304 60 6161 6449455446 62225c 62c3bc 63e6b0b4 64f0908591
80 83010203 8301820203820405 98190102030405060708090a0b0c0d0e0f101112131415161718181819
a0 a201020304 a26161016162820203 826161a161626163 a56161614161626142616361436164614461656145
5f42010243030405ff 7f657374726561646d696e67ff 9fff 9f018202039f0405ffff 9f01820203820405ff 83018202039f0405ff
83019f0203ff820405 9f0102030405060708090a0b0c0d0e0f101112131415161718181819ff bf61610161629f0203ffff
826161bf61626163ff bf6346756ef563416d7421ff`
  .trim()
  .split(/\s+/)

/** RFC 8949, appendix F: examples that are not well-formed, by kind. */
const APPENDIX_F: readonly (readonly [subkind: string, code: string, examples: string])[] = [
  [
    'end of input in a head',
    'CBOR_END_OF_INPUT',
    '18 19 1a 1b 1901 1a0102 1b01020304050607 38 58 78 98 9a01ff00 b8 d8 f8 f900 fa0000 fb000000',
  ],
  [
    'definite strings too short',
    'CBOR_END_OF_INPUT',
    '41 61 5affffffff00 5bffffffffffffffff010203 7affffffff00 7b7fffffffffffffff010203',
  ],
  [
    'definite containers not closed',
    'CBOR_END_OF_INPUT',
    '81 818181818181818181 8200 a1 a20102 a100 a2000000',
  ],
  ['a tag without content', 'CBOR_END_OF_INPUT', 'c0'],
  ['indefinite strings not closed', 'CBOR_END_OF_INPUT', '5f4100 7f6100'],
  [
    'indefinite containers not closed',
    'CBOR_END_OF_INPUT',
    '9f 9f0102 bf bf01020102 819f 9f8000 9f9f9f9f9fffffffff 9f819f819f9fffffff',
  ],
  [
    'reserved additional information',
    'CBOR_RESERVED_ADDITIONAL_INFORMATION',
    '1c 1d 1e 3c 3d 3e 5c 5d 5e 7c 7d 7e 9c 9d 9e bc bd be dc dd de fc fd fe',
  ],
  ['reserved two-byte simple values', 'CBOR_INVALID_SIMPLE_VALUE', 'f800 f801 f818 f81f'],
  [
    'indefinite chunks of a wrong type',
    'CBOR_INVALID_CHUNK',
    '5f00ff 5f21ff 5f6100ff 5f80ff 5fa0ff 5fc000ff 5fe0ff 7f4100ff',
  ],
  ['nested indefinite strings', 'CBOR_INVALID_CHUNK', '5f5f4100ffff 7f7f6100ffff'],
  ['a break at the top level', 'CBOR_UNEXPECTED_BREAK', 'ff'],
  [
    'a break in a definite container or tag',
    'CBOR_UNEXPECTED_BREAK',
    '81ff 8200ff a1ff00 a100ff 9f81ff 9f829f819f9fffffffff c0ff',
  ],
  ['a break in a map that the input is too short for', 'CBOR_END_OF_INPUT', 'a1ff a20000ff'],
  ['a break instead of a map value', 'CBOR_UNEXPECTED_BREAK', 'bf00ff bf000000ff'],
  ['indefinite integers and tags', 'CBOR_RESERVED_ADDITIONAL_INFORMATION', '1f 3f df'],
]

describe('assertWellFormed', () => {
  it.each(APPENDIX_A)('accepts %s of RFC 8949, appendix A', (hex) => {
    assertWellFormed(fromHex(hex))
    expect(isWellFormed(fromHex(`${hex}00`))).toBe(false)
  })

  it(
    'accepts items that are well-formed but not valid: duplicate keys, invalid UTF-8, bignums of ' +
      'numbers',
    () => {
      for (const hex of ['a200000001', '61ff', 'c200', 'd9010200'])
        expect(isWellFormed(fromHex(hex))).toBe(true)
    },
  )

  it('accepts numbers, lengths and tags in any width', () => {
    for (const hex of [
      '1b0000000000000001',
      '9b000000000000000100',
      'bb00000000000000010000',
      'db000000000000000200',
    ]) {
      assertWellFormed(fromHex(hex))
    }
  })
})

describe('assertWellFormed on malformed input', () => {
  for (const [subkind, code, examples] of APPENDIX_F) {
    it.each(examples.split(' '))(`refuses ${subkind}: %s`, (hex) => {
      expect(() => assertWellFormed(fromHex(hex))).toThrow(
        expect.objectContaining({ name: 'CborError', code }),
      )
    })
  }

  it('reports the offset of the wrong item', () => {
    expect(() => assertWellFormed(fromHex('8301ff03'))).toThrow(expect.objectContaining({ offset: 2 }))
    expect(() => assertWellFormed(fromHex('0000'))).toThrow(
      expect.objectContaining({ code: 'CBOR_TRAILING_BYTES', offset: 1 }),
    )
    expect(() => assertWellFormed(new Uint8Array())).toThrow(
      expect.objectContaining({ code: 'CBOR_END_OF_INPUT', offset: 0 }),
    )
  })
})

describe('limits', () => {
  const size = 16_384
  const bombs: readonly (readonly [string, Uint8Array])[] = [
    ['arrays', new Uint8Array(size).fill(0x81)],
    ['indefinite arrays', new Uint8Array(size).fill(0x9f)],
    ['maps', new Uint8Array(size).fill(0xa1).map((byte, index) => (index % 2 === 0 ? byte : 0))],
    ['tags', new Uint8Array(size).fill(0xc6)],
    ['map keys', new Uint8Array(size).fill(0xa1)],
  ]

  it.each(bombs)('refuses 16 kB of nested %s', (_, bytes) => {
    expect(() => assertWellFormed(bytes)).toThrow(expect.objectContaining({ code: 'CBOR_TOO_DEEP' }))
  })

  it('refuses 16 kB of nested indefinite-length arrays that are closed', () => {
    const closed = new Uint8Array(2 * size).fill(0x9f, 0, size).fill(0xff, size)
    expect(() => assertWellFormed(closed)).toThrow(expect.objectContaining({ code: 'CBOR_TOO_DEEP' }))
  })

  it('accepts nesting up to the limit and refuses one level more', () => {
    const nested = (depth: number): Uint8Array => Uint8Array.from([...new Array(depth).fill(0x81), 0])
    expect(isWellFormed(nested(1024))).toBe(true)
    expect(isWellFormed(nested(1025))).toBe(false)
    expect(isWellFormed(nested(3), { maxDepth: 3 })).toBe(true)
    expect(isWellFormed(nested(4), { maxDepth: 3 })).toBe(false)
  })

  it.each([
    ['array', '9b1000000000000000'],
    ['map', 'bb1000000000000000'],
    ['byte string', '5b1000000000000000'],
    ['text', '7b1000000000000000'],
    ['nested array', 'a1009b1000000000000000'],
  ])('refuses a %s that claims 2^60 items or bytes, without allocating', (_, hex) => {
    const before = process.memoryUsage().heapUsed
    expect(() => assertWellFormed(fromHex(hex))).toThrow(
      expect.objectContaining({ code: 'CBOR_END_OF_INPUT' }),
    )
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(16 * 2 ** 20)
  })

  it('limits the number of items, including chunks, and the length', () => {
    const numbers = new CborWriter().array(4).uint(1).uint(2).uint(3).uint(4).toBytes()
    expect(isWellFormed(numbers, { maxItems: 5 })).toBe(true)
    expect(() => assertWellFormed(numbers, { maxItems: 4 })).toThrow(
      expect.objectContaining({ code: 'CBOR_TOO_MANY_ITEMS' }),
    )
    const chunks = fromHex('5f414141414141ff')
    expect(() => assertWellFormed(chunks, { maxItems: 2 })).toThrow(
      expect.objectContaining({ code: 'CBOR_TOO_MANY_ITEMS' }),
    )
    expect(isWellFormed(numbers, { maxLength: 5 })).toBe(true)
    expect(() => assertWellFormed(numbers, { maxLength: 4 })).toThrow(
      expect.objectContaining({ code: 'CBOR_TOO_LONG' }),
    )
  })
})
