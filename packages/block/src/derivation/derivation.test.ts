import { CborWriter, concatBytes, toHex } from '@ratatosk/cbor'
import fc from 'fast-check'
import { describe, expect, it, test } from 'vitest'
import { countWithinChunks, createChunker, maxChunks } from './chunks.js'
import { bytes, Column } from './output-table.js'
import { partsOf } from './parts.js'
import {
  decodeOutputRecord,
  decodeTransactionRecord,
  encodeOutputRecord,
  encodeTransactionRecord,
  transactionKey,
} from './records.js'
import { createPackedEntries } from './transactions-map.js'

describe('chunks', () => {
  const none = new Uint8Array()
  const zeros = new Uint8Array(16_384)

  /** The chunks of transactions with these lengths, as a block is cut. */
  function chunksOf(lengths: readonly number[]): number {
    let chunks = 0
    const chunker = createChunker(() => chunks++)
    // A transaction has a head of one byte, which no chunk has.
    for (const length of lengths)
      chunker.add({ body: zeros.subarray(0, length - 1), witnessSet: none, rest: none })
    chunker.end()
    expect(chunker.count).toBe(chunks)
    return chunks
  }

  it('counts the transactions that fit into a block', () => {
    const length = fc.integer({ min: 1, max: 16_384 })
    fc.assert(
      fc.property(fc.array(length, { minLength: 50, maxLength: 50 }), (some) => {
        const lengths = Array.from({ length: 2500 }, (_, n) => some[(n * n) % 50] as number)
        const { transactions: count, chunks } = countWithinChunks(lengths)
        expect(chunks).toBeLessThanOrEqual(maxChunks)
        expect(chunksOf(lengths.slice(0, count))).toBe(chunks)
        if (count < lengths.length) expect(chunksOf(lengths.slice(0, count + 1))).toBe(maxChunks + 1)
      }),
      { numRuns: 20 },
    )
  })

  it.each([
    [6133, 2 * maxChunks],
    [6134, maxChunks],
    [12_277, maxChunks],
    [12_278, maxChunks],
  ])('takes of transactions of %i bytes the first %i', (length, count) => {
    const lengths = new Array<number>(3000).fill(length)
    expect(countWithinChunks(lengths)).toEqual({ transactions: count, chunks: maxChunks })
  })
})

describe('column', () => {
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
})

describe('packed entries', () => {
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
})

describe('parts', () => {
  test('takes nothing apart that is nested deeper than 65,536 levels', () => {
    const nested = (depth: number) => new Uint8Array(depth + 1).fill(0x81, 0, depth)
    const body = new CborWriter().map(3).uint(0).array(0).uint(1).array(0).uint(2).uint(0).toBytes()
    const lengthsOf = (first: Uint8Array, second: Uint8Array) => {
      const parts = partsOf(concatBytes(Uint8Array.of(0x84), first, second, Uint8Array.of(0xf5, 0xf6)))
      return [parts.body, parts.witnessSet, parts.rest].map(({ length }) => length)
    }
    const deep = nested(65_536)
    expect(lengthsOf(body, deep)).toEqual([body.length, 65_537, 2])
    expect(lengthsOf(deep, deep)).toEqual([65_537, 65_537, 2])
    const deeper = nested(65_537)
    expect(lengthsOf(body, deeper)).toEqual([body.length + 65_541, 0, 0])
    expect(lengthsOf(deeper, deep)).toEqual([131_078, 0, 0])
  })
})

describe('records', () => {
  describe('records', () => {
    it('decode to what was encoded', () => {
      const position = fc.option(fc.nat(2 ** 40), { nil: undefined })
      const hash = fc.uint8Array({ minLength: 32, maxLength: 32 })
      fc.assert(
        fc.property(
          fc.record({
            createdBy: position,
            spentBy: fc.oneof(position, fc.constant('bridge' as const)),
            outputHash: hash,
          }),
          fc.record({
            kind: fc.constantFrom('deposit' as const, 'withdrawalOrder' as const, 'transaction' as const),
            id: hash,
            witnessSetHash: hash,
            resolved: hash,
            feesSoFar: fc.bigInt(0n, 2n ** 64n - 1n),
            bodyLength: fc.nat(2 ** 32 - 1),
            witnessSetLength: fc.nat(2 ** 32 - 1),
          }),
          (output, transaction) => {
            expect(decodeOutputRecord(encodeOutputRecord(output))).toEqual(output)
            expect(decodeTransactionRecord(encodeTransactionRecord(transaction))).toEqual(transaction)
          },
        ),
      )
      expect(toHex(transactionKey(2 ** 40 + 258))).toBe('0000010000000102')
    })

    it('of another length are refused', () => {
      expect(() => decodeOutputRecord(new Uint8Array(49))).toThrow(RangeError)
      expect(() => decodeTransactionRecord(new Uint8Array(105))).toThrow(RangeError)
      expect(() => decodeTransactionRecord(new Uint8Array(113).fill(9))).toThrow(RangeError)
    })
  })
})
