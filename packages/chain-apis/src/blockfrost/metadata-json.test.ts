import { fromHex } from '@ratatosk/cbor'
import { expect, it } from 'vitest'
import { metadatumJson } from './metadata-json.js'

it.each([
  ['182a', 42n],
  ['29', -10n],
  ['1bffffffffffffffff', 2n ** 64n - 1n],
  ['43010203', '0x010203'],
  ['5f41014102ff', '0x0102'],
  ['6548656c6c6f', 'Hello'],
  ['7f624865636c6c6fff', 'Hello'],
  ['8201616b', [1n, 'k']],
  ['9f01ff', [1n]],
  ['a36161014102616203820102', { a: 1n, '0x02': 'b', '3': [1n, 2n] }],
  ['a182010203', { '[1,2]': 3n }],
])('a metadatum as JSON: %s', (hex, json) => {
  expect(metadatumJson(fromHex(hex))).toEqual(json)
})
