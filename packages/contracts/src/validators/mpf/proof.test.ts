import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fromHex, toHex } from '@ratatosk/cbor'
import { vectorsFolder } from '@ratatosk/fixtures/vectors'
import { blake2b256 } from '@ratatosk/ledger'
import { constrOf, decodePlutusData, encodePlutusData, PlutusDataError } from '@ratatosk/ledger/plutus-data'
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
import { engines, testedEngines } from '../../test/evaluate.js'
import {
  branchHash,
  type ClaimOfProof,
  checkOnChain,
  checkTranslated,
  childrenRoot,
  leafHash,
  nibbleOf,
  nibblesOf,
} from '../../test/mpf/proofs.js'

const folder = vectorsFolder('mpf')

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

const files: (Reference | Published)[] =
  folder === undefined
    ? []
    : readdirSync(folder).map((name) => JSON.parse(readFileSync(join(folder, name), 'utf8')))
const references = files.filter((file): file is Reference => 'proofs' in file)
const published = files.filter((file): file is Published => !('proofs' in file))

/** Proofs on each engine; `RATATOSK_PROOFS=10000` is the long run. */
const randomProofs = Number(process.env.RATATOSK_PROOFS ?? 20)

const text = (value: string) => new TextEncoder().encode(value)
const number = (value: number) => text(`entry ${value}`)

function trieOf(entries: Iterable<readonly [key: Uint8Array, value: Uint8Array]>): Trie {
  const trie = createTrie({ store: createMemoryStore() })
  trie.update(Array.from(entries, ([key, value]) => ({ type: 'insert' as const, key, value })))
  return trie
}

describe.each(Object.entries(testedEngines))(
  'on-chain proofs, checked by %s',
  { timeout: 120_000 },
  (_name, evaluate) => {
    const shows = (claim: ClaimOfProof) => checkOnChain(claim, evaluate).ok
    /** False also for bytes that are no Plutus data: no transaction can carry them. */
    const showsAnything = (claim: ClaimOfProof) => {
      try {
        return shows(claim)
      } catch {
        return false
      }
    }

    it.skipIf(folder === undefined)('accepts the proofs of the reference implementation', () => {
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

    it.skipIf(folder === undefined)(
      'accepts an insertion and a deletion of each entry of the published map',
      () => {
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
      },
    )

    it('accepts an insertion into the empty map', () => {
      const trie = createTrie({ store: createMemoryStore() })
      const [key, value] = [text('key'), text('value')]
      const empty = trie.root
      const proof = trie.proveAbsence(key)
      trie.insert(key, value)
      expect(shows({ kind: 'inserts', root: empty, key, value, proof, next: trie.root })).toBe(true)
      expect(shows({ kind: 'deletes', root: trie.root, key, value, proof, next: empty })).toBe(true)
    })

    it(`accepts ${randomProofs} random proofs, and none with a flipped bit that it reads`, () => {
      const keys = Array.from({ length: 3000 }, (_, i) => number(i))
      const trie = trieOf(keys.map((key) => [key, key]))
      let refused = 0
      for (let n = 0; n < randomProofs; n++) {
        const key = number(Math.floor(Math.random() * 6000))
        const isThere = trie.has(key)
        const proof = proofToCbor(isThere ? trie.prove(key) : trie.proveAbsence(key))
        const claim = { root: trie.root, key, ...(isThere && { value: key }) }
        const kind = isThere ? 'has' : 'misses'
        expect(shows({ ...claim, kind, proof })).toBe(true)
        const flipped = Uint8Array.from(proof)
        const at = Math.floor(Math.random() * flipped.length)
        flipped[at] = (flipped[at] ?? 0) ^ (1 << Math.floor(Math.random() * 8))
        if (readsTheSame(flipped, proof)) continue
        expect(showsAnything({ ...claim, kind, proof: flipped })).toBe(false)
        refused++
      }
      expect(refused).toBeGreaterThan(randomProofs / 2)
    }, 3_600_000)

    it('agrees with @ratatosk/trie on altered proofs', () => {
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

describe('every bit of a proof', () => {
  const proofs = Math.max(1, Math.floor(randomProofs / 100))

  it(`of ${proofs} makes a difference to the checker, if it is read`, { timeout: 3_600_000 }, () => {
    const keys = Array.from({ length: 3000 }, (_, i) => number(i))
    const trie = trieOf(keys.map((key) => [key, key]))
    let unread = 0
    for (let n = 0; n < proofs; n++) {
      const key = number(Math.floor(Math.random() * 6000))
      const isThere = trie.has(key)
      const proof = proofToCbor(isThere ? trie.prove(key) : trie.proveAbsence(key))
      const claim = {
        kind: isThere ? ('has' as const) : ('misses' as const),
        root: trie.root,
        key,
        ...(isThere && { value: key }),
      }
      for (let bit = 0; bit < proof.length * 8; bit++) {
        const flipped = flip(proof, bit)
        const isUnread = readsTheSame(flipped, proof)
        const isAccepted = rulingOn({ ...claim, proof: flipped }) === 'accepted'
        expect(isAccepted, `bit ${bit} of ${toHex(proof)}`).toBe(isUnread)
        if (isAccepted && ++unread <= 3)
          expect(checkOnChain({ ...claim, proof: flipped }, engines.cek).ok).toBe(true)
      }
    }
  })
})

function flip(bytes: Uint8Array, bit: number): Uint8Array {
  return bytes.map((byte, at) => (at === bit >> 3 ? byte ^ (1 << (bit & 7)) : byte))
}

/** `no data` for what no transaction can carry, and for maps, which the checker refuses wherever it reads. */
function rulingOn(claim: ClaimOfProof) {
  try {
    return checkTranslated(claim)
  } catch (error) {
    if (error instanceof PlutusDataError) return 'no data'
    throw error
  }
}

/** Whether bytes differ from a proof only in what the checker does not read. */
function readsTheSame(one: Uint8Array, other: Uint8Array): boolean {
  try {
    return Buffer.compare(readIn(one), readIn(other)) === 0
  } catch {
    return false
  }
}

/** The bytes that the checker reads of a proof: no neighbour's constructor; unknown steps are leaves. */
function readIn(proof: Uint8Array): Uint8Array {
  const steps = decodePlutusData(proof)
  if (!Array.isArray(steps)) throw new TypeError('A proof is a list')
  return encodePlutusData(
    steps.map((step) => {
      const { index, fields } = constrOf(step, 'a step')
      if (index !== 1) return { index: Math.min(index, 2), fields }
      const [skip = [], neighbor = []] = fields
      return { index, fields: [skip, { index: 0, fields: constrOf(neighbor, 'a neighbour').fields }] }
    }),
  )
}

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

/** The index of the first nibble in which two paths differ. */
function divergence(a: Uint8Array, b: Uint8Array): number {
  let index = 0
  while (nibbleOf(a, index) === nibbleOf(b, index)) index++
  return index
}

const key = text('key')
const path = blake2b256(key)
const valueHash = blake2b256(key)

/** A key whose path begins with the same nibble as that of `key`, or with another. */
function neighborWith(sameNibble: boolean): Uint8Array {
  for (let i = 0; ; i++) {
    const candidate = text(`neighbor ${i}`)
    if (divergence(blake2b256(candidate), path) > 0 === sameNibble) return candidate
  }
}

/** The root of a map in which every key has itself as its value. */
function rootOf(...keys: Uint8Array[]): Uint8Array {
  const trie = createTrie({ store: createMemoryStore() })
  return trie.update(keys.map((each) => ({ type: 'insert', key: each, value: each })))
}

describe.each(Object.entries(testedEngines))('forged proofs, checked by %s', (_name, evaluate) => {
  const shows = (claim: ClaimOfProof) => checkOnChain(claim, evaluate).ok

  it('do not show that a key is absent by making it its own neighbour', () => {
    const proof: Proof = [{ type: 'leaf', skip: 0, neighbor: { key: path, value: valueHash } }]
    expect(leafHash(path, 0, valueHash)).toEqual(rootOf(key))
    expect(shows({ kind: 'misses', root: rootOf(key), key, proof })).toBe(false)
  })

  it('do not show that a key is absent by passing its leaf off as a branch', () => {
    // The leaf's first byte, 0xff, as a nibble and its packed path as a prefix: the same bytes are hashed.
    const neighbor = { nibble: 0xff, prefix: path, root: valueHash }
    expect(branchHash(Uint8Array.of(0xff, ...path), valueHash)).toEqual(rootOf(key))
    const proof: Proof = [{ type: 'fork', skip: 0, neighbor }]
    expect(shows({ kind: 'misses', root: rootOf(key), key, proof })).toBe(false)
    expect(verifyExclusion(rootOf(key), key, proof)).toBe(false)
  })

  it('do not show that a key is absent by making the branch above it its neighbour', () => {
    const other = neighborWith(true)
    const otherPath = blake2b256(other)
    const fork = divergence(path, otherPath)
    const children = childrenRoot(
      new Map([
        [nibbleOf(path, fork), leafHash(path, fork + 1, valueHash)],
        [nibbleOf(otherPath, fork), leafHash(otherPath, fork + 1, blake2b256(other))],
      ]),
    )
    expect(branchHash(nibblesOf(path, 0, fork), children)).toEqual(rootOf(key, other))
    const neighbor = { nibble: nibbleOf(path, 0), prefix: nibblesOf(path, 1, fork), root: children }
    const proof: Proof = [{ type: 'fork', skip: 0, neighbor }]
    expect(shows({ kind: 'misses', root: rootOf(key, other), key, proof })).toBe(false)
    expect(verifyExclusion(rootOf(key, other), key, proof)).toBe(false)
  })

  it('do not insert a key at a place where its neighbour is lost', () => {
    const other = neighborWith(false)
    const otherPath = blake2b256(other)
    // The paths differ at nibble 0; this is the next nibble at which they differ.
    let fork = 1
    while (nibbleOf(path, fork) === nibbleOf(otherPath, fork)) fork++
    const proof: Proof = [
      { type: 'leaf', skip: fork, neighbor: { key: otherPath, value: blake2b256(other) } },
    ]
    const children = childrenRoot(
      new Map([
        [nibbleOf(path, fork), leafHash(path, fork + 1, valueHash)],
        [nibbleOf(otherPath, fork), leafHash(otherPath, fork + 1, blake2b256(other))],
      ]),
    )
    const next = branchHash(nibblesOf(path, 0, fork), children)
    expect(shows({ kind: 'inserts', root: rootOf(other), key, value: key, proof, next })).toBe(false)

    const right: Proof = [{ type: 'leaf', skip: 0, neighbor: { key: otherPath, value: blake2b256(other) } }]
    const inserted = {
      kind: 'inserts',
      root: rootOf(other),
      key,
      value: key,
      next: rootOf(key, other),
    } as const
    expect(shows({ ...inserted, proof: right })).toBe(true)
  })

  it('do not show a leaf whose hash of a value has another length than 32', () => {
    const leads = (value: Uint8Array) => ({
      kind: 'leads' as const,
      root: leafHash(path, 0, value),
      key: path,
      value,
      proof: [],
    })
    expect(shows(leads(valueHash))).toBe(true)
    for (const length of [1, 31, 33]) expect(shows(leads(new Uint8Array(length).fill(7)))).toBe(false)
  })

  it('do not show a branch as a leaf by a path that ends early', () => {
    // The branch's bytes: its prefix of no nibble, and a root of 32 bytes, of which the first is 0xff.
    const root = Uint8Array.of(0xff, ...valueHash.subarray(1))
    const forged = { kind: 'leads', root: blake2b256(root), key: new Uint8Array(), proof: [] } as const
    expect(shows({ ...forged, value: root.subarray(1) })).toBe(false)
  })
})
