import { fromHex } from '@ratatosk/cbor'
import { expect, it } from 'vitest'
import { metadatumJson } from './metadata-json.js'

it.each([
  ['6161', 'a'],
  ['7f61616162ff', 'ab'],
  ['3bffffffffffffffff', -(2n ** 64n)],
  ['82016161', [1n, 'a']],
  ['a26161800181617a', { a: [], 1: ['z'] }],
  ['43010203', undefined],
  ['8143010203', undefined],
  ['a1800', undefined],
  ['a1430102036161', undefined],
  ['a2016161613161622', undefined],
])('converts %s', (hex, json) => {
  expect(metadatumJson(fromHex(hex.length % 2 === 0 ? hex : `${hex}0`))).toEqual(json)
})
