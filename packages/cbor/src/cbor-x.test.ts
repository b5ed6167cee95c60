import fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'
import { concatBytes, fromHex } from './bytes.js'
import { CborReader } from './reader.js'
import {
  compare,
  decodedByCborX,
  decoder,
  encoder,
  type Feature,
  normalized,
  readItem,
  show,
} from './test/cbor-x.js'
import { assertWellFormed, isWellFormed } from './well-formed.js'
import { CborWriter } from './writer.js'

// The native string extractor of cbor-x 1.6.8 fails on valid 8262c2805b0000000000000000, unlike its
// JavaScript.
vi.hoisted(() => {
  process.env.CBOR_NATIVE_ACCELERATION_DISABLED = 'true'
})

/*
 * cbor-x is the independent second opinion: where it and this package both implement RFC 8949, they must
 * agree. Where they differ on purpose, the tests below name the difference, and any other difference fails
 * them.
 */
/** Encodings of one head: the shortest, and every wider one. */
const head = (major: number, argument: bigint, width: number): Uint8Array => {
  const shortest =
    argument < 24n ? 0 : argument < 0x100n ? 1 : argument < 0x1_0000n ? 2 : argument < 2n ** 32n ? 4 : 8
  const size = Math.max(shortest, [0, 1, 2, 4, 8][width] ?? 0)
  const bytes = new Uint8Array(1 + size)
  if (size === 0) bytes[0] = (major << 5) | Number(argument)
  else {
    bytes[0] = (major << 5) | (24 + Math.log2(size))
    bytes.set(fromHex(argument.toString(16).padStart(2 * size, '0')), 1)
  }
  return bytes
}

const width = fc.nat(4)
const uint64 = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n })
const framed = (major: number, argument: number, use: number, ...content: Uint8Array[]): Uint8Array =>
  concatBytes(head(major, BigInt(argument), use), ...content)

/** Items in every encoding of the common subset. */
const { item } = fc.letrec<{ item: Uint8Array }>((tie) => {
  const items = fc.array(tie('item'), { maxLength: 4 })
  return {
    item: fc.oneof(
      { maxDepth: 5, withCrossShrink: true },
      fc
        .tuple(fc.constantFrom(0, 1), fc.oneof(uint64, fc.bigInt(0n, 300n)), width)
        .map((parts) => head(...parts)),
      fc
        .tuple(fc.uint8Array({ maxLength: 80 }), width)
        .map(([bytes, use]) => framed(2, bytes.length, use, bytes)),
      fc.tuple(fc.string({ unit: 'binary', maxLength: 80 }), width).map(([text, use]) => {
        const bytes = new TextEncoder().encode(text)
        return framed(3, bytes.length, use, bytes)
      }),
      fc
        .constantFrom('f4', 'f5', 'f6', 'f7', 'f93c00', 'f90001', 'fa47c35000', 'fb7e37e43c8800759c')
        .map(fromHex),
      fc.double().map((value) => concatBytes(Uint8Array.of(0xfb), float64(value))),
      fc
        .tuple(fc.constantFrom(2, 3), fc.uint8Array({ maxLength: 20 }))
        .map(([tag, bytes]) => concatBytes(head(6, BigInt(tag), 0), framed(2, bytes.length, 0, bytes))),
      fc
        .tuple(fc.constantFrom(24, 30, 102, 121, 127, 1280, 1400), fc.nat(3), tie('item'))
        .map(([tag, use, content]) => framed(6, tag, use, content)),
      fc.tuple(items, width).map(([members, use]) => framed(4, members.length, use, ...members)),
      items.map((members) => concatBytes(Uint8Array.of(0x9f), ...members, Uint8Array.of(0xff))),
      fc.tuple(items, width).map(([values, use]) => framed(5, values.length, use, ...keyed(values))),
      items.map((values) => concatBytes(Uint8Array.of(0xbf), ...keyed(values), Uint8Array.of(0xff))),
    ),
  }
})

const keyed = (values: readonly Uint8Array[]): Uint8Array[] =>
  values.map((value, key) => concatBytes(Uint8Array.of(key), value))

function float64(value: number): Uint8Array {
  const bytes = new Uint8Array(8)
  new DataView(bytes.buffer).setFloat64(0, value)
  return bytes
}

describe('cbor-x', () => {
  it('decodes items of every common form as this package does', () => {
    fc.assert(
      fc.property(item, (bytes) => {
        expect(compare(bytes)).toBe('both')
      }),
      { numRuns: 2_000 },
    )
  })

  it('accepts and refuses damaged items as this package does, but for the listed differences', () => {
    const damage = fc.array(fc.tuple(fc.nat(), fc.nat(255), fc.nat(2)), { minLength: 1, maxLength: 3 })
    const seen = { both: 0, neither: 0, different: 0 }
    fc.assert(
      fc.property(item, damage, (bytes, changes) => {
        const damaged = changes.reduce((current, [position, byte, drop]) => {
          const at = position % (current.length + 1)
          return concatBytes(current.subarray(0, at), Uint8Array.of(byte), current.subarray(at + drop))
        }, bytes)
        seen[compare(damaged)]++
      }),
      { numRuns: 5_000 },
    )
    for (const count of Object.values(seen)) expect(count).toBeGreaterThan(100)
  })

  it('accepts and refuses short inputs as this package does, but for the listed differences', () => {
    for (let first = 0; first < 256; first++) {
      compare(Uint8Array.of(first))
      for (let second = 0; second < 256; second++) compare(Uint8Array.of(first, second))
    }
  })

  it('decodes what CborWriter writes', () => {
    fc.assert(
      fc.property(
        fc.bigInt({ min: -(2n ** 200n), max: 2n ** 200n }),
        fc.string({ unit: 'binary' }),
        fc.uint8Array(),
        (number, text, bytes) => {
          const writer = new CborWriter().indefiniteArray().map(1).int(number).text(text)
          const written = writer.tag(121).array(2).bytes(bytes).boolean(true).null().break().toBytes()
          const expected = [{ pairs: [[number, text]] }, { tag: 121, content: [bytes, true] }, null] as const
          expect(show(normalized(decoder.decode(written)))).toBe(show(expected))
        },
      ),
    )
  })

  it('encodes what this package reads', () => {
    const { value } = fc.letrec<{ value: unknown }>((tie) => ({
      value: fc.oneof(
        { maxDepth: 4 },
        fc.bigInt({ min: -(2n ** 200n), max: 2n ** 200n }),
        fc.integer(),
        fc.double(),
        fc.string({ unit: 'binary' }),
        fc.uint8Array(),
        fc.constantFrom(true, false, null, undefined),
        fc.array(tie('value'), { maxLength: 5 }),
        fc
          .array(tie('value'), { maxLength: 5 })
          .map((values) => new Map(values.map((each, key) => [key, each]))),
      ),
    }))
    fc.assert(
      fc.property(value, (value) => {
        const bytes = encoder.encode(value)
        expect(isWellFormed(bytes)).toBe(true)
        expect(show(readItem(new CborReader(bytes), new Set()))).toBe(show(normalized(value)))
      }),
    )
  })

  it.each<[Feature, string]>([
    ['indefinite-length string', '5f4101ff'],
    ['other simple value', 'f0'],
    ['invalid UTF-8', '61ff'],
    ['tag other than bignums and those of Cardano', 'd9010280'],
    ['bignum without a byte string', 'c200'],
    ['duplicate key', 'a201000100'],
  ])('differs on purpose: %s', (feature, hex) => {
    const noted = new Set<Feature>()
    const ours = readItem(new CborReader(fromHex(hex)), noted)
    expect([...noted]).toEqual([feature])
    const theirs = decodedByCborX(fromHex(hex))
    expect(theirs === undefined ? undefined : show(normalized(theirs.value))).not.toBe(show(ours))
  })

  it.each([
    ['CBOR_UNEXPECTED_BREAK', '81ff'],
    ['CBOR_INVALID_SIMPLE_VALUE', 'f814'],
  ])('is lenient where this package throws %s', (code, hex) => {
    expect(() => assertWellFormed(fromHex(hex))).toThrow(expect.objectContaining({ code }))
    expect(decodedByCborX(fromHex(hex))).toBeDefined()
  })
})
