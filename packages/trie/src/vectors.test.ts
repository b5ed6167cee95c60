import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { vectorsFolder } from '@ratatosk/fixtures/vectors'
import { describe, expect, test } from 'vitest'
import {
  type ProofStepJson,
  proofFromCbor,
  proofFromJson,
  proofToCbor,
  proofToJson,
} from './proof/formats.js'
import { verifyExclusion, verifyInclusion } from './proof/verify.js'
import { createMemoryStore } from './store/memory.js'
import { bytes, hex, utf8 } from './test/maps.js'
import { stores } from './test/stores.js'
import { createTrie } from './trie.js'
import type { TrieOperation } from './update/edit.js'

const folder = vectorsFolder('mpf')

const vectorsAreMissing = folder === undefined

interface ReferenceRun {
  steps: { insert?: string; delete?: string; value?: string; root: string }[]
  proofs: {
    kind: 'membership' | 'non-membership'
    key: string
    value?: string
    proof: ProofStepJson[]
    cbor: string
  }[]
  /** The proof of the key of a map that has no other. */
  single: ProofStepJson[]
  root: string
  entries: number
}

interface PublishedMap {
  root: string
  entries: { key: string; value: string }[]
}

const files =
  folder === undefined
    ? []
    : readdirSync(folder)
        .filter((name) => name.endsWith('.json'))
        .map((name) => ({ name, content: JSON.parse(readFileSync(join(folder, name), 'utf8')) }))

const referenceRuns: [name: string, run: ReferenceRun][] = files
  .filter(({ content }) => 'steps' in content)
  .map(({ name, content }) => [name, content])

const publishedMaps: [name: string, map: PublishedMap][] = files
  .filter(({ content }) => !('steps' in content))
  .map(({ name, content }) => [name, content])

const toOperation = (step: ReferenceRun['steps'][number]): TrieOperation =>
  step.insert === undefined
    ? { type: 'delete', key: bytes(step.delete!) }
    : { type: 'insert', key: bytes(step.insert), value: bytes(step.value!) }

describe.skipIf(vectorsAreMissing)('the reference implementation (needs mpf/ in RATATOSK_VECTORS)', () => {
  test('has vectors of both kinds', () => {
    expect(referenceRuns.length).toBeGreaterThan(0)
    expect(publishedMaps.length).toBeGreaterThan(0)
  })

  describe.each(referenceRuns)('%s', (_, { steps, proofs, single, root, entries }) => {
    test.each(stores)('gives the same root after each step (%s)', async (_, open) => {
      const trie = createTrie({ store: await open() })
      for (const step of steps) {
        expect(hex(trie.update([toOperation(step)]))).toBe(step.root)
      }
      expect(trie.size).toBe(entries)
      expect(hex(trie.root)).toBe(root)
    })

    test.each(stores)('undoes through the same roots (%s)', async (_, open) => {
      const trie = createTrie({ store: await open(), history: steps.length })
      for (const step of steps) trie.update([toOperation(step)])
      for (const step of steps.slice(0, -1).reverse()) {
        expect(hex(trie.undo())).toBe(step.root)
      }
      expect(hex(trie.undo())).toBe('00'.repeat(32))
    })

    test.each([7, 50, steps.length])('gives the same root after batches of %i', (length) => {
      const trie = createTrie({ store: createMemoryStore() })
      for (let start = 0; start < steps.length; start += length) {
        const batch = steps.slice(start, start + length)
        expect(hex(trie.update(batch.map(toOperation)))).toBe(batch.at(-1)!.root)
      }
    })

    test.each(stores)('gives the same proofs, as JSON and as Plutus data (%s)', async (_, open) => {
      const trie = createTrie({ store: await open() })
      trie.update(steps.map(toOperation))
      for (const { kind, key, proof: json, cbor } of proofs) {
        const included = kind === 'membership'
        const proof = included ? trie.prove(bytes(key)) : trie.proveAbsence(bytes(key))
        expect(JSON.stringify(proofToJson(proof))).toBe(JSON.stringify(json))
        expect(hex(proofToCbor(proof))).toBe(cbor)
      }
    })

    test('reads and verifies those proofs', () => {
      for (const { kind, key, value, proof: json, cbor } of proofs) {
        const proof = proofFromJson(json)
        expect(proofFromCbor(bytes(cbor))).toStrictEqual(proof)
        const included = kind === 'membership'
        const verified = included
          ? verifyInclusion(bytes(root), bytes(key), bytes(value!), proof)
          : verifyExclusion(bytes(root), bytes(key), proof)
        expect(verified).toBe(true)
      }
    })

    test('proves the only key of a map', () => {
      const trie = createTrie({ store: createMemoryStore() })
      trie.insert(utf8('key'), utf8('value'))
      expect(proofToJson(trie.prove(utf8('key')))).toStrictEqual(single)
    })
  })

  describe.each(publishedMaps)('%s', (_, { root, entries }) => {
    const all = entries.map(({ key, value }) => [utf8(key), utf8(value)] as const)

    test.each(stores)('gives the published root, one by one and at once (%s)', async (_, open) => {
      const trie = createTrie({ store: await open() })
      for (const [key, value] of all) trie.insert(key, value)
      expect(hex(trie.root)).toBe(root)
      expect(hex(await trie.rebuild(all.toReversed()))).toBe(root)
    })
  })
})
