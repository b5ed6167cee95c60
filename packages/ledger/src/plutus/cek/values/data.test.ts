import { CborReader } from '@ratatosk/cbor'
import fc from 'fast-check'
import { expect, it, test } from 'vitest'
import { constr, decodePlutusData, encodePlutusData } from '../../../plutus-data/index.js'
import { readPlutusData } from '../../../transaction/script/plutus-data.js'
import { dataNodes, dataSize, lesserDataSize } from '../costs/measures.js'
import { constructorData, type DataValue, decodeData, encodeData, equalData } from './data.js'
import { cons, listOf } from './list.js'

const { data } = fc.letrec<{ data: DataValue }>((tie) => ({
  data: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc
      .bigInt({ min: -(2n ** 600n), max: 2n ** 600n })
      .map((value): DataValue => ({ kind: 'integer', value })),
    fc.uint8Array({ maxLength: 150 }).map((value): DataValue => ({ kind: 'bytes', value })),
    fc
      .array(tie('data'), { maxLength: 4 })
      .map((items): DataValue => ({ kind: 'list', items: listOf(items) })),
    fc
      .tuple(fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }), fc.array(tie('data'), { maxLength: 4 }))
      .map(([index, fields]): DataValue => ({ kind: 'constructor', index, fields: listOf(fields) })),
    fc.array(fc.tuple(tie('data'), tie('data')), { maxLength: 3 }).map(
      (entries): DataValue => ({
        kind: 'map',
        entries: listOf(entries.map(([first, second]) => ({ first, second }))),
      }),
    ),
  ),
}))

function decode(bytes: Uint8Array): DataValue {
  const reader = new CborReader(bytes)
  readPlutusData(reader)
  reader.assertEnd()
  return decodeData(new CborReader(bytes))
}

test('data survives encoding and decoding, and the ledger accepts the encoding', () => {
  fc.assert(
    fc.property(data, (value) => {
      const bytes = encodeData(value)
      const again = decode(bytes)
      expect(equalData(again, value)).toBe(true)
      expect(encodeData(again)).toEqual(bytes)
    }),
  )
})

test('data is equal if and only if its encoding is', () => {
  fc.assert(
    fc.property(data, data, (a, b) => {
      expect(equalData(a, b)).toBe(Buffer.compare(encodeData(a), encodeData(b)) === 0)
    }),
  )
})

test('the size of data does not depend on the limit, and lesserDataSize is the minimum', () => {
  fc.assert(
    fc.property(data, data, fc.nat(500), (a, b, limit) => {
      const [first, second] = [dataSize(a, Number.MAX_SAFE_INTEGER), dataSize(b, Number.MAX_SAFE_INTEGER)]
      const bounded = dataSize(a, limit)
      if (first <= limit) expect(bounded).toBe(first)
      else expect(bounded).toBeGreaterThan(limit)
      expect(lesserDataSize(a, b, Number.MAX_SAFE_INTEGER)).toBe(Math.min(first, second))
      expect(dataNodes(a, Number.MAX_SAFE_INTEGER)).toBeLessThanOrEqual(first)
    }),
  )
})

/** 2^300 nodes in 300 objects. */
function shared(): DataValue {
  let value: DataValue = { kind: 'integer', value: 1n }
  for (let i = 0; i < 300; i++) value = { kind: 'list', items: cons(value, cons(value, null)) }
  return value
}

test('data with shared parts is measured only up to the limit', () => {
  expect(dataSize(shared(), 10_000)).toBeGreaterThan(10_000)
  expect(lesserDataSize(shared(), shared(), 10_000)).toBeGreaterThan(10_000)
  expect(lesserDataSize(shared(), { kind: 'integer', value: 5n }, 10_000)).toBe(5)
})

test('data may be nested as deep as a script can build it', () => {
  let value: DataValue = { kind: 'integer', value: 1n }
  for (let i = 0; i < 200_000; i++) value = { kind: 'list', items: cons(value, null) }
  let other: DataValue = { kind: 'integer', value: 2n }
  for (let i = 0; i < 200_000; i++) other = { kind: 'list', items: cons(other, null) }
  expect(dataSize(value, Number.MAX_SAFE_INTEGER)).toBe(800_005)
  expect(equalData(value, other)).toBe(false)
  expect(encodeData(value).length).toBe(400_001)
})

it('constructors 0 to 127 are encoded as the machine encodes them, and decoded', () => {
  for (let index = 0; index <= 127; index++) {
    const bytes = encodePlutusData(constr(index))
    expect(bytes).toEqual(encodeData(constructorData(index, [])))
    expect(encodeData(decodeData(new CborReader(bytes)))).toEqual(bytes)
    expect(decodePlutusData(bytes)).toEqual(constr(index))
  }
})

it.each(['d87880', 'd88080', 'd904ff80', 'd9057980'])('%s is no constructor with a tag of its own', (hex) => {
  expect(() => decodePlutusData(Uint8Array.from(Buffer.from(hex, 'hex')))).toThrow(
    expect.objectContaining({ name: 'PlutusDataError' }),
  )
})
