import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  BytesMap,
  BytesSet,
  bigintOf,
  compareBytes,
  concatBytes,
  equalBytes,
  fromHex,
  plainBytes,
  toHex,
} from './bytes.js'
import { CborError, DecodeError, isCborError, isDecodeError } from './errors.js'

const bytes = fc.uint8Array({ maxLength: 100 })

describe('hex', () => {
  it('agrees with Node.js, for inputs of several chunks too', () => {
    fc.assert(
      fc.property(
        fc.oneof(bytes, fc.uint8Array({ minLength: 4000, maxLength: 10_000, size: 'max' })),
        (value) => {
          const text = Buffer.from(value).toString('hex')
          expect(toHex(value)).toBe(text)
          expect(fromHex(text)).toEqual(value)
          expect(fromHex(text.toUpperCase())).toEqual(value)
        },
      ),
    )
  })

  it.each(['0', '0g', 'g0', '0x', ' 0', '00 0', '０0', '0\u{1f600}0'])('refuses %j', (text) => {
    expect(() => fromHex(text)).toThrow(RangeError)
  })
})

it('refuses the hex of bytes in place of the bytes', () => {
  expect(() => toHex('abab' as never)).toThrow('toHex takes bytes, not string')
})

describe('bytes', () => {
  it('compares like Node.js', () => {
    fc.assert(
      fc.property(bytes, bytes, (a, b) => {
        expect(Math.sign(compareBytes(a, b))).toBe(Buffer.compare(a, b))
        expect(equalBytes(a, b)).toBe(Buffer.compare(a, b) === 0)
        expect(equalBytes(a, Uint8Array.from(a))).toBe(true)
        expect(concatBytes(a, b)).toEqual(Uint8Array.from([...a, ...b]))
      }),
    )
  })

  it('views a Buffer as a Uint8Array over the same memory', () => {
    const buffer = Buffer.from([1, 2, 3]).subarray(1)
    const plain = plainBytes(buffer)
    expect(plain.constructor).toBe(Uint8Array)
    expect([plain.buffer, plain.byteOffset, plain.length]).toEqual([buffer.buffer, buffer.byteOffset, 2])
  })

  it('reads big-endian integers', () => {
    expect([bigintOf(fromHex('')), bigintOf(fromHex('00ff')), bigintOf(fromHex('ff'.repeat(9)))]).toEqual([
      0n,
      255n,
      2n ** 72n - 1n,
    ])
  })
})

describe('error guards', () => {
  it('recognise the errors of this package, and of another copy of it', async () => {
    const errors: string = './errors.js?copy'
    const copy = await import(errors)
    for (const [DecodeErrorClass, CborErrorClass] of [
      [DecodeError, CborError],
      [copy.DecodeError, copy.CborError],
    ]) {
      const [decode, cbor] = [
        new DecodeErrorClass('CBOR_EMPTY', 0, ''),
        new CborErrorClass('CBOR_TOO_DEEP', 0, ''),
      ]
      expect([decode, cbor].map(isDecodeError)).toEqual([true, true])
      expect([decode, cbor].map(isCborError)).toEqual([false, true])
    }
    expect(copy.DecodeError).not.toBe(DecodeError)
    for (const other of [new Error('no'), { name: 'DecodeError' }, undefined]) {
      expect([isDecodeError(other), isCborError(other)]).toEqual([false, false])
    }
  })
})

const [one, two] = [Uint8Array.of(0, 255), Uint8Array.of(255, 0)]

it('maps byte strings by content, in the order of insertion', () => {
  const map = new BytesMap([[one, 'one']]).set(two, 'two').set(one.slice(), 'again')
  expect([...map]).toEqual([
    [one, 'again'],
    [two, 'two'],
  ])
  expect([[...map.keys()], [...map.values()], map.size]).toEqual([[one, two], ['again', 'two'], 2])
  expect([map.get(two.slice()), map.get(new Uint8Array()), map.has(one.subarray(0, 1))]).toEqual([
    'two',
    undefined,
    false,
  ])
  expect([map.delete(one.slice()), map.delete(one), map.has(one)]).toEqual([true, false, false])
  map.clear()
  expect(map.size).toBe(0)
})

it('holds byte strings by content', () => {
  const set = new BytesSet([one, two, one.slice()])
  expect([[...set], set.size]).toEqual([[one, two], 2])
  expect([set.delete(one.slice()), set.has(one), set.has(two.slice())]).toEqual([true, false, true])
  expect(set.add(one).size).toBe(2)
})

it('distinguishes long byte strings', () => {
  const long = new Uint8Array(64 * 1024 * 1024)
  const other = long.with(long.length - 1, 1)
  const set = new BytesSet([long])
  expect([set.has(long.slice()), set.has(other)]).toEqual([true, false])
  const [kept] = set
  expect(kept && equalBytes(kept, long)).toBe(true)
})

it('keeps copies: a change of the given bytes changes nothing', () => {
  const bytes = Uint8Array.of(1, 2)
  const [map, set] = [new BytesMap([[bytes, 'one']]), new BytesSet([bytes])]
  bytes.fill(0)
  expect([[...map.keys()], [...set]]).toEqual([[Uint8Array.of(1, 2)], [Uint8Array.of(1, 2)]])
  expect([map.get(Uint8Array.of(1, 2)), set.has(bytes)]).toEqual(['one', false])
})
