import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createMemoryStore } from '../store/memory.js'
import { bytes, crowdedKeys, hex, keysUnder, naiveRoot, pathOf } from '../test/maps.js'
import { createTrie, type Trie } from '../trie.js'
import { proofFromCbor, proofFromJson, proofToCbor, proofToJson } from './formats.js'
import type { Proof } from './proof.js'
import { rootExcluding, rootIncluding, verifyExclusion, verifyInclusion } from './verify.js'

const anyValue = bytes('cafe')

function trieOf(keys: readonly string[]): Trie {
  const trie = createTrie({ store: createMemoryStore() })
  trie.update(keys.map((key) => ({ type: 'insert', key: bytes(key), value: anyValue })))
  return trie
}

const rootOf = (keys: readonly string[]): string =>
  naiveRoot(new Map(keys.map((key) => [key, hex(anyValue)])))

const proofOf = (trie: Trie, key: string): Proof =>
  trie.has(bytes(key)) ? trie.prove(bytes(key)) : trie.proveAbsence(bytes(key))

describe('any proof', () => {
  test('determines the root with the key and without it', () => {
    fc.assert(
      fc.property(fc.shuffledSubarray(crowdedKeys), fc.constantFrom(...crowdedKeys), (keys, key) => {
        const trie = trieOf(keys)
        const proof = proofOf(trie, key)
        const others = keys.filter((other) => other !== key)
        expect(hex(rootIncluding(bytes(key), anyValue, proof))).toBe(rootOf([...others, key]))
        expect(hex(rootExcluding(bytes(key), proof))).toBe(rootOf(others))
        expect(verifyInclusion(trie.root, bytes(key), anyValue, proof)).toBe(keys.includes(key))
        expect(verifyExclusion(trie.root, bytes(key), proof)).toBe(!keys.includes(key))
      }),
      { numRuns: 200 },
    )
  })

  test('survives encoding as JSON and as Plutus data', () => {
    fc.assert(
      fc.property(fc.shuffledSubarray(crowdedKeys), fc.constantFrom(...crowdedKeys), (keys, key) => {
        const proof = proofOf(trieOf(keys), key)
        expect(proofFromJson(JSON.parse(JSON.stringify(proofToJson(proof))))).toStrictEqual(proof)
        expect(proofFromCbor(proofToCbor(proof))).toStrictEqual(proof)
      }),
    )
  })

  test('is not valid for another root, key or value', () => {
    const trie = trieOf(crowdedKeys)
    const [key = '', other = ''] = crowdedKeys
    const proof = trie.prove(bytes(key))
    expect(verifyInclusion(new Uint8Array(32), bytes(key), anyValue, proof)).toBe(false)
    expect(verifyInclusion(trie.root, bytes(other), anyValue, proof)).toBe(false)
    expect(verifyInclusion(trie.root, bytes(key), bytes('beef'), proof)).toBe(false)
    expect(verifyExclusion(trie.root, bytes(key), proof)).toBe(false)
  })

  test('fails with any of its bits changed', () => {
    fc.assert(
      fc.property(
        fc.shuffledSubarray(crowdedKeys, { minLength: 2 }),
        fc.constantFrom(...crowdedKeys),
        fc.nat(),
        (keys, key, bit) => {
          const trie = trieOf(keys)
          const cbor = proofToCbor(proofOf(trie, key))
          const index = (bit >> 3) % cbor.length
          cbor[index]! ^= 1 << (bit & 7)
          let proof: Proof
          try {
            proof = proofFromCbor(cbor)
          } catch (error) {
            expect(error).toMatchObject({ code: 'TRIE_PROOF_MALFORMED' })
            return
          }
          const verified = keys.includes(key)
            ? verifyInclusion(trie.root, bytes(key), anyValue, proof)
            : verifyExclusion(trie.root, bytes(key), proof)
          expect(verified).toBe(false)
        },
      ),
      { numRuns: 1000 },
    )
  })
})

describe('the steps of a proof', () => {
  /** Type and skip of each step, with the neighbour's nibble and prefix for a fork. */
  const stepsOf = (keys: readonly string[], key: string): string[] =>
    proofOf(trieOf(keys), key).map((step) =>
      step.type === 'fork'
        ? `fork ${step.skip} ${step.neighbor.nibble.toString(16)} ${hex(step.neighbor.prefix)}`
        : `${step.type} ${step.skip}`,
    )

  const one = (prefix: string): string => keysUnder([prefix], 1)[0]!

  test('are empty for the empty map and for the only key', () => {
    expect(stepsOf([], one('a'))).toStrictEqual([])
    expect(stepsOf([one('a')], one('a'))).toStrictEqual([])
  })

  test('beside one leaf, at the root', () => {
    expect(stepsOf([one('a'), one('b')], one('a'))).toStrictEqual(['leaf 0'])
    expect(stepsOf([one('a1b'), one('a1c')], one('a1b'))).toStrictEqual(['leaf 2'])
    expect(stepsOf([one('a1b'), one('a2')], one('a1b'))).toStrictEqual(['leaf 1'])
  })

  test('beside two leaves, at the root', () => {
    expect(stepsOf([one('a'), one('b'), one('c')], one('a'))).toStrictEqual(['branch 0'])
    expect(stepsOf([one('a1'), one('a2'), one('a3')], one('a1'))).toStrictEqual(['branch 1'])
  })

  test('beside one branch, at the root', () => {
    const branch = [one('b1'), one('b2')]
    expect(stepsOf([one('a'), ...branch], one('a'))).toStrictEqual(['fork 0 b '])
    const deep = [one('b31'), one('b32')]
    expect(stepsOf([one('a'), ...deep], one('a'))).toStrictEqual(['fork 0 b 03'])
    expect(stepsOf([one('b4'), ...deep], one('b4'))).toStrictEqual(['fork 1 3 '])
  })

  test('continue past a leaf and past a fork', () => {
    const keys = [one('a'), one('b31'), one('b32'), one('b4')]
    expect(stepsOf(keys, one('b31'))).toStrictEqual(['leaf 0', 'leaf 0', 'leaf 0'])
    expect(stepsOf([...keys, one('a2')], one('b31'))).toHaveLength(3)
    expect(stepsOf([one('a1'), one('a2'), one('b31'), one('b32')], one('b31'))).toStrictEqual([
      'fork 0 a ',
      'leaf 1',
    ])
  })

  test('for an absent key beside a leaf that is the whole map', () => {
    expect(stepsOf([one('a')], one('b'))).toStrictEqual(['leaf 0'])
    expect(stepsOf([one('a1b')], one('a1c'))).toStrictEqual(['leaf 2'])
  })

  test('for an absent key where a branch has no child', () => {
    expect(stepsOf([one('a'), one('b')], one('c'))).toStrictEqual(['branch 0'])
  })

  test('for an absent key that leaves the prefix of a branch', () => {
    const keys = [one('a1b'), one('a1c')]
    expect(stepsOf(keys, one('b'))).toStrictEqual(['fork 0 a 01'])
    expect(stepsOf(keys, one('a2'))).toStrictEqual(['fork 1 1 '])
  })
})

describe('verification refuses a proof', () => {
  const key = keysUnder(['a1'], 1)[0]!
  const root = new Uint8Array(32)
  const leaf = (changes: object): Proof => [
    { type: 'leaf', skip: 0, neighbor: { key: new Uint8Array(32), value: new Uint8Array(32), ...changes } },
  ]
  const fork = (changes: object, skip = 0): Proof => [
    { type: 'fork', skip, neighbor: { nibble: 0, prefix: new Uint8Array(), root, ...changes } },
  ]

  test.each([
    ['with a skip below 0', [{ type: 'branch', skip: -1, neighbors: new Uint8Array(128) }]],
    ['with a skip that is no integer', [{ type: 'branch', skip: 0.5, neighbors: new Uint8Array(128) }]],
    ['with a skip beyond the path', [{ type: 'branch', skip: 64, neighbors: new Uint8Array(128) }]],
    [
      'with more steps than the path has nibbles',
      Array(65).fill({ type: 'branch', skip: 0, neighbors: new Uint8Array(128) }),
    ],
    ['with three neighbors in a branch', [{ type: 'branch', skip: 0, neighbors: new Uint8Array(96) }]],
    ['with a short key in a leaf', leaf({ key: new Uint8Array(31) })],
    ['with a short value in a leaf', leaf({ value: new Uint8Array(31) })],
    ['with a leaf that leaves the path elsewhere', leaf({ key: bytes(`a${'0'.repeat(63)}`) })],
    ['with a fork under the nibble of the path', fork({ nibble: 10 })],
    ['with a nibble of 16', fork({ nibble: 16 })],
    ['with a nibble of 16 in a prefix', fork({ prefix: Uint8Array.of(16) })],
    ['with a prefix beyond the path', fork({ prefix: new Uint8Array(63) })],
    ['with a short root in a fork', fork({ root: new Uint8Array(31) })],
  ] satisfies [string, Proof][])('%s', (_, proof) => {
    const malformed = expect.objectContaining({ code: 'TRIE_PROOF_MALFORMED' })
    expect(() => rootIncluding(bytes(key), anyValue, proof)).toThrow(malformed)
    expect(() => rootExcluding(bytes(key), proof)).toThrow(malformed)
    expect(verifyInclusion(root, bytes(key), anyValue, proof)).toBe(false)
    expect(verifyExclusion(root, bytes(key), proof)).toBe(false)
  })

  test('that names the key as its own neighbour', () => {
    const trie = trieOf([key])
    const proof: Proof = [
      { type: 'leaf', skip: 0, neighbor: { key: bytes(pathOf(key)), value: trie.valueHash(bytes(key))! } },
    ]
    expect(verifyExclusion(trie.root, bytes(key), proof)).toBe(false)
  })
})

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
