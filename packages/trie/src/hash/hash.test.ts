import fc from 'fast-check'
import { expect, test } from 'vitest'
import { allocate, copyOf, readUint16, readUint48, writeUint16, writeUint48 } from './memory.js'
import * as node from './node.js'
import * as web from './web.js'

test('noble hashes as libsodium does, whatever the length', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), (input) => {
      const hash = node.blake2b256(input)
      expect(web.blake2b256(input)).toStrictEqual(Uint8Array.from(hash))
      for (const into of [
        node.blake2b256Into,
        node.blake2b256AnyInto,
        web.blake2b256Into,
        web.blake2b256AnyInto,
      ]) {
        const output = allocate(32)
        into(output, copyOf(input))
        expect(output).toStrictEqual(hash)
      }
    }),
  )
})

test.each([
  ['WebAssembly', node.hashMemory],
  ['noble', web.hashMemory],
])('the memory of %s hashes as libsodium does', (_, { bytes, reserve, hash, hashPair, copyPair }) => {
  const place = reserve(4096)
  expect(place % 16).toBe(0)
  const read = (offset: number, length: number) => bytes.slice(offset, offset + length)
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 600 }), fc.nat(40), (input, shift) => {
      bytes.set(input, place + shift)
      hash(place + 2000, place + shift, input.length)
      expect(read(place + 2000, 32)).toStrictEqual(Uint8Array.from(node.blake2b256(input)))
      expect(read(place + shift, input.length)).toStrictEqual(input)
    }),
    {
      examples: [0, 1, 64, 127, 128, 129, 256, 257, 600].map((length) => [new Uint8Array(length).fill(7), 3]),
    },
  )
  fc.assert(
    fc.property(
      fc.uint8Array({ minLength: 128, maxLength: 128 }),
      fc.constantFrom(0, 3, 2000),
      (input, shift) => {
        const hashes = [input.slice(0, 64), input.slice(64)].flatMap((each) => [...node.blake2b256(each)])
        bytes.set(input, place + shift)
        copyPair(place + 3000, place + shift)
        expect(read(place + 3000, 64)).toStrictEqual(input.slice(0, 64))
        // The output may be where the input is.
        hashPair(place + 2000, place + shift)
        expect([...read(place + 2000, 64)]).toStrictEqual(hashes)
      },
    ),
  )
  expect(() => reserve(65_536)).toThrow(RangeError)
})

test('allocates zeroed bytes that do not overlap', () => {
  const views = Array.from({ length: 1000 }, (_, i) => allocate(i % 40).fill(i))
  views.forEach((view, i) => {
    expect(view.length).toBe(i % 40)
    expect(view.every((byte) => byte === (i & 0xff))).toBe(true)
  })
  expect(allocate(2000)).toStrictEqual(new Uint8Array(2000))
  expect(allocate(40)).toStrictEqual(new Uint8Array(40))
})

test('reads the numbers that it wrote, as Node.js does', () => {
  fc.assert(
    fc.property(fc.nat(0xffff), fc.nat(2 ** 48 - 1), (short, long) => {
      const bytes = new Uint8Array(10)
      writeUint16(bytes, 1, short)
      writeUint48(bytes, 3, long)
      expect([readUint16(bytes, 1), readUint48(bytes, 3)]).toStrictEqual([short, long])
      const buffer = Buffer.from(bytes)
      expect([buffer.readUInt16BE(1), buffer.readUIntBE(3, 6)]).toStrictEqual([short, long])
      expect([bytes[0], bytes[9]]).toStrictEqual([0, 0])
    }),
  )
})
