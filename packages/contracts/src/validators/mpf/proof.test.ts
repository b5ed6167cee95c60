import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { fromHex } from '@ratatosk/ledger'
import {
  createMemoryStore,
  createTrie,
  type Proof,
  proofToCbor,
  type Trie,
  verifyExclusion,
  verifyInclusion,
} from '@ratatosk/trie'
import { describe, expect, it } from 'vitest'
import { engines } from '../../test/evaluate.js'
import { type ClaimOfProof, checkOnChain } from '../../test/mpf/proofs.js'

/** The repository's root, on which a relative folder of vectors is based. */
const repository = new URL('../../../../../', import.meta.url)
const folder = new URL(`${process.env.RATATOSK_VECTORS ?? '../shared/vectors'}/mpf/`, repository)
const absent = !existsSync(folder)
if (absent && process.env.CI) throw new Error(`The vectors are missing: ${fileURLToPath(folder)}`)

interface Reference {
  readonly root: string
  readonly proofs: readonly {
    kind: 'membership' | 'non-membership'
    key: string
    value?: string
    cbor: string
  }[]
}
interface Published {
  readonly root: string
  readonly entries: readonly { key: string; value: string }[]
}

const files: (Reference | Published)[] = absent
  ? []
  : readdirSync(folder).map((name) => JSON.parse(readFileSync(new URL(name, folder), 'utf8')))
const references = files.filter((file): file is Reference => 'proofs' in file)
const published = files.filter((file): file is Published => !('proofs' in file))

const text = (value: string) => new TextEncoder().encode(value)
const number = (value: number) => text(`entry ${value}`)

function trieOf(entries: Iterable<readonly [key: Uint8Array, value: Uint8Array]>): Trie {
  const trie = createTrie({ store: createMemoryStore() })
  trie.update(Array.from(entries, ([key, value]) => ({ type: 'insert' as const, key, value })))
  return trie
}

describe.each(Object.entries(engines))(
  'proofs on chain, judged by %s',
  { timeout: 120_000 },
  (_name, evaluate) => {
    const shows = (claim: ClaimOfProof) => checkOnChain(claim, evaluate).ok

    it.skipIf(absent)('shows what the reference implementation proves', () => {
      expect(references).not.toEqual([])
      for (const { root, proofs } of references) {
        for (const { kind, key, value, cbor } of proofs) {
          const claim = { root: fromHex(root), key: fromHex(key), proof: fromHex(cbor) }
          if (kind === 'membership') {
            const held = { ...claim, value: fromHex(value ?? '') }
            expect(shows({ ...held, kind: 'has' })).toBe(true)
            expect(shows({ ...held, kind: 'misses' })).toBe(false)
            expect(shows({ ...held, kind: 'has', value: text('another') })).toBe(false)
          } else {
            expect(shows({ ...claim, kind: 'misses' })).toBe(true)
            expect(shows({ ...claim, kind: 'has' })).toBe(false)
          }
        }
      }
    })

    it.skipIf(absent)('follows the published map through an insertion and a deletion of each entry', () => {
      expect(published).not.toEqual([])
      for (const { root, entries } of published) {
        const trie = trieOf(entries.map(({ key, value }) => [text(key), text(value)]))
        expect(trie.root).toEqual(fromHex(root))
        for (const entry of entries) {
          const [key, value] = [text(entry.key), text(entry.value)]
          const proof = trie.prove(key)
          trie.delete(key)
          const [without, within] = [trie.root, fromHex(root)]
          expect(shows({ kind: 'deletes', root: within, key, value, proof, next: without })).toBe(true)
          expect(shows({ kind: 'inserts', root: without, key, value, proof, next: within })).toBe(true)
          expect(shows({ kind: 'inserts', root: without, key, value, proof, next: without })).toBe(false)
          trie.insert(key, value)
        }
      }
    })

    it('begins with the empty map', () => {
      const trie = createTrie({ store: createMemoryStore() })
      const [key, value] = [text('key'), text('value')]
      const empty = trie.root
      const proof = trie.proveAbsence(key)
      trie.insert(key, value)
      expect(shows({ kind: 'inserts', root: empty, key, value, proof, next: trie.root })).toBe(true)
      expect(shows({ kind: 'deletes', root: trie.root, key, value, proof, next: empty })).toBe(true)
    })

    it('says the same as the trie of proofs that somebody has altered', () => {
      const keys = Array.from({ length: 40 }, (_, i) => number(i))
      const trie = trieOf(keys.map((key) => [key, key]))
      let refused = 0
      for (const key of keys.slice(0, 3)) {
        for (const proof of altered(trie.prove(key))) {
          const has = verifyInclusion(trie.root, key, key, proof)
          const misses = verifyExclusion(trie.root, key, proof)
          expect(shows({ kind: 'has', root: trie.root, key, value: key, proof: proofToCbor(proof) })).toBe(
            has,
          )
          expect(shows({ kind: 'misses', root: trie.root, key, proof: proofToCbor(proof) })).toBe(misses)
          if (!has && !misses) refused++
        }
      }
      expect(refused).toBeGreaterThan(15)
    })
  },
)

/** One alteration of each kind at each step. */
function* altered(proof: Proof): Generator<Proof> {
  for (let i = 0; i < proof.length; i++) {
    const step = proof[i]!
    const replaced = (other: Proof[number]): Proof => [...proof.slice(0, i), other, ...proof.slice(i + 1)]
    yield [...proof.slice(0, i), ...proof.slice(i + 1)]
    yield replaced({ ...step, skip: step.skip + 1 })
    switch (step.type) {
      case 'branch':
        yield replaced({ ...step, neighbors: step.neighbors.slice(1) })
        yield replaced({
          ...step,
          neighbors: step.neighbors.map((byte, at) => (at === 40 ? byte ^ 1 : byte)),
        })
        break
      case 'fork':
        yield replaced({ ...step, neighbor: { ...step.neighbor, nibble: (step.neighbor.nibble + 1) % 16 } })
        yield replaced({ ...step, neighbor: { ...step.neighbor, prefix: Uint8Array.of(0) } })
        yield replaced({ ...step, neighbor: { ...step.neighbor, root: new Uint8Array(31) } })
        break
      case 'leaf':
        yield replaced({
          ...step,
          neighbor: { ...step.neighbor, key: step.neighbor.key.map((byte) => byte ^ 0x10) },
        })
        yield replaced({ ...step, neighbor: { ...step.neighbor, value: new Uint8Array(33) } })
        break
    }
  }
}
