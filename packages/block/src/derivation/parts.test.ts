import { CborWriter, concatBytes } from '@ratatosk/cbor'
import { expect, test } from 'vitest'
import { partsOf } from './parts.js'

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
