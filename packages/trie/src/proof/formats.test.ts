import { describe, expect, test } from 'vitest'
import { bytes, hex } from '../test/keys.js'
import { proofFromJson, proofToJson } from './json.js'
import { proofFromCbor, proofToCbor } from './plutus-data.js'
import type { Proof } from './proof.js'

const malformed = expect.objectContaining({ code: 'TRIE_PROOF_MALFORMED' })

const proof: Proof = [
  { type: 'branch', skip: 0, neighbors: new Uint8Array(128).fill(1) },
  {
    type: 'fork',
    skip: 2,
    neighbor: { nibble: 15, prefix: Uint8Array.of(1, 2), root: new Uint8Array(32).fill(2) },
  },
  {
    type: 'leaf',
    skip: 24,
    neighbor: { key: new Uint8Array(32).fill(3), value: new Uint8Array(32).fill(4) },
  },
]

const [one, two, three, four] = ['01', '02', '03', '04'].map((byte) => byte.repeat(32))
const half = `${one}${one}`

describe('JSON', () => {
  const json = [
    { type: 'branch', skip: 0, neighbors: `${half}${half}` },
    { type: 'fork', skip: 2, neighbor: { prefix: '0102', nibble: 15, root: two } },
    { type: 'leaf', skip: 24, neighbor: { key: three, value: four } },
  ]

  test('is encoded and decoded as by the reference implementation', () => {
    expect(proofToJson(proof)).toStrictEqual(json)
    expect(proofFromJson(json)).toStrictEqual(proof)
    expect(proofFromJson(JSON.parse(JSON.stringify(json).toUpperCase().toLowerCase()))).toStrictEqual(proof)
  })

  test.each([
    ['nothing', undefined],
    ['an object', {}],
    ['a step that is null', [null]],
    ['an unknown step', [{ type: 'twig', skip: 0, neighbor: {} }]],
    ['a skip in a string', [{ type: 'branch', skip: '0', neighbors: '' }]],
    ['half a byte', [{ type: 'branch', skip: 0, neighbors: '0' }]],
    ['no hex', [{ type: 'branch', skip: 0, neighbors: 'zz' }]],
    ['a leaf without its neighbor', [{ type: 'leaf', skip: 0 }]],
    ['a fork without a nibble', [{ type: 'fork', skip: 0, neighbor: { prefix: '', root: '' } }]],
  ])('refuses %s', (_, json) => {
    expect(() => proofFromJson(json)).toThrow(malformed)
  })
})

describe('Plutus data', () => {
  const cbor =
    `9fd8799f005f5840${half}5840${half}ffff` +
    `d87a9f02d8799f0f4201025820${two}ffff` +
    `d87b9f18185820${three}5820${four}ffff`

  test('is encoded and decoded as by the reference implementation', () => {
    expect(hex(proofToCbor(proof))).toBe(cbor)
    expect(proofFromCbor(bytes(cbor))).toStrictEqual(proof)
    expect(hex(proofToCbor([]))).toBe('9fff')
  })

  test('is decoded with definite lengths too', () => {
    const definite =
      `83d87982005880${half}${half}` +
      `d87a8202d879830f4201025820${two}` +
      `d87b8318185820${three}5820${four}`
    expect(proofFromCbor(bytes(definite))).toStrictEqual(proof)
    expect(proofFromCbor(bytes('80'))).toStrictEqual([])
  })

  test('is refused if it is truncated anywhere', () => {
    for (let length = 0; length < cbor.length; length += 2) {
      expect(() => proofFromCbor(bytes(cbor.slice(0, length)))).toThrow(malformed)
    }
  })

  test.each([
    ['bytes after it', '9fff00'],
    ['an item that is not a list', '00'],
    ['a step that is not a constructor', '9f00ff'],
    ['an unknown constructor', '9fd87c9f0040ffff'],
    ['a map', '9fa0ff'],
    ['a negative integer', '9fd8799f2040ffff'],
    ['a tag without a list', '9fd87900ff'],
    ['a branch with three fields', '9fd8799f004040ffff'],
    ['a leaf with two fields', '9fd87b9f0040ffff'],
    ['a fork whose neighbour has two fields', '9fd87a9f00d8799f0040ffffff'],
    ['a number in place of bytes', '9fd8799f0000ffff'],
    ['bytes in place of a number', '9fd8799f4040ffff'],
    ['a chunk that is a number', '9fd8799f005f00ffffff'],
    ['a chunk within a chunk', '9fd8799f005f5f40ffffffff'],
    ['a reserved length', '1c'],
    ['a break alone', 'ff'],
    ['an enormous length', '5bffffffffffffffff'],
    ['an enormous list', '9bffffffffffffffff'],
    ['endless nesting', '9f'.repeat(100_000)],
  ])('refuses %s', (_, cbor) => {
    expect(() => proofFromCbor(bytes(cbor))).toThrow(malformed)
  })
})
