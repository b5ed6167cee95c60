import { fromHex } from '@ratatosk/cbor'
import { describe, expect, it } from 'vitest'
import { plutusJson } from './plutus-json.js'

describe('Plutus data as JSON', () => {
  it.each([
    ['182a', { int: 42n }],
    ['29', { int: -10n }],
    ['c249010000000000000000', { int: 2n ** 64n }],
    ['c349010000000000000000', { int: -1n - 2n ** 64n }],
    ['c25f41014100ff', { int: 256n }],
    ['43010203', { bytes: '010203' }],
    ['5f41014102ff', { bytes: '0102' }],
    ['820102', { list: [{ int: 1n }, { int: 2n }] }],
    ['9f0102ff', { list: [{ int: 1n }, { int: 2n }] }],
    ['a10140', { map: [{ k: { int: 1n }, v: { bytes: '' } }] }],
    ['d87980', { constructor: 0, fields: [] }],
    ['d905009f01ff', { constructor: 7, fields: [{ int: 1n }] }],
    ['d8668218c88101', { constructor: 200, fields: [{ int: 1n }] }],
    ['d8669f18c88101ff', { constructor: 200, fields: [{ int: 1n }] }],
  ])('%s', (hex, json) => {
    expect(plutusJson(fromHex(hex))).toEqual(json)
  })
})
