import { blake2b256 } from '@ratatosk/ledger'
import { createMemoryStore, createTrie, type Proof, verifyExclusion } from '@ratatosk/trie'
import { describe, expect, it } from 'vitest'
import { testedEngines } from '../../test/evaluate.js'
import { branchHash, childrenRoot, leafHash, nibbleOf, nibblesOf } from '../../test/mpf/naive-map.js'
import { type ClaimOfProof, checkOnChain } from '../../test/mpf/proofs.js'

const text = (value: string) => new TextEncoder().encode(value)

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
