import { equalBytes } from '@ratatosk/cbor'
import { describe, expect, test } from 'vitest'
import { extendPath, nibbleAt, nibblesOf } from '../path.js'
import { createMemoryStore } from '../store/memory.js'
import { bytes, crowdedKeys, pathOf as hexPathOf } from '../test/maps.js'
import { createTrie } from '../trie.js'
import { childHash, type MapBranch, nodeHash, stepAway, stepBeside } from './map-node.js'
import { branchesOnWay } from './verify.js'

const pathOf = (key: string): Uint8Array => bytes(hexPathOf(key))
const [absent = '', ...present] = crowdedKeys
const trie = createTrie({ store: createMemoryStore() })
trie.update(present.map((key) => ({ type: 'insert', key: bytes(key), value: bytes(key) })))

describe('a path', () => {
  test('opens as its key does', () => {
    for (const key of present) {
      const { hash, proof } = trie.openPath(pathOf(key))
      expect(hash).toEqual(trie.valueHash(bytes(key)))
      expect(proof).toEqual(trie.prove(bytes(key)))
    }
    expect(trie.openPath(pathOf(absent))).toEqual({ proof: trie.proveAbsence(bytes(absent)) })
  })
})

describe('the node at a depth of a path', () => {
  test('leads from the root down to the leaf of a key', () => {
    for (const key of present) {
      const path = pathOf(key)
      let [depth, hash] = [0, trie.root]
      for (;;) {
        const node = trie.nodeAt(path, depth)
        expect(node && nodeHash(node, depth)).toEqual(hash)
        if (node?.kind !== 'branch') {
          expect(node).toEqual({ kind: 'leaf', path, valueHash: trie.valueHash(bytes(key)) })
          break
        }
        expect(nibblesOf(node.path, 0, node.fork)).toEqual(nibblesOf(path, 0, node.fork))
        hash = childHash(node, nibbleAt(path, node.fork))!
        depth = node.fork + 1
      }
    }
  })

  test('is the same within its prefix, and missing beside it', () => {
    const path = pathOf(present[0]!)
    for (let depth = 0; depth <= 64; depth++) {
      const [node, same] = [path, extendPath(path, depth, new Uint8Array(64 - depth))].map((each) =>
        trie.nodeAt(each, depth),
      )
      expect(node && nodeHash(node, depth)).toBeInstanceOf(Uint8Array)
      expect(same && nodeHash(same, depth)).toEqual(node && nodeHash(node, depth))
    }
    const beside = Uint8Array.from(path)
    beside[31] = (beside[31] ?? 0) ^ 1
    expect(trie.nodeAt(beside, 64)).toBeUndefined()
  })

  test('has as many keys below as begin with the nibbles, up to a limit', () => {
    for (const key of crowdedKeys) {
      const path = pathOf(key)
      for (let depth = 0; depth <= 64; depth++) {
        const nibbles = nibblesOf(path, 0, depth)
        const size = present.filter((each) => equalBytes(nibblesOf(pathOf(each), 0, depth), nibbles)).length
        expect(trie.sizeAt(path, depth, present.length)).toBe(size)
        expect(trie.sizeAt(path, depth, 2)).toBe(Math.min(size, 2))
      }
    }
  })

  test('is among the branches that a proof passes', () => {
    for (const key of present) {
      const path = pathOf(key)
      const { hash = path, proof } = trie.openPath(path)
      const passed = branchesOnWay(path, hash, proof)
      expect(passed.map(({ step }) => step)).toEqual(proof)
      for (const { depth, fork, hash: posted, step, branch } of passed) {
        const node = trie.nodeAt(path, depth)!
        expect(node).toMatchObject({ kind: 'branch', fork })
        expect(nodeHash(node, depth)).toEqual(posted)
        if (step.type === 'branch') expect(branch).toBeUndefined()
        else expect(branch).toMatchObject({ children: (node as MapBranch).children })
      }
    }
  })

  test('gives the steps of proofs', () => {
    const seen = new Set<string>()
    for (const key of crowdedKeys) {
      const path = pathOf(key)
      let depth = 0
      for (const step of trie.openPath(path).proof) {
        const node = trie.nodeAt(path, depth)!
        const isAway = node.kind === 'leaf' || step.skip < node.fork - depth
        if (isAway) expect(stepAway(node, depth, path)).toEqual(step)
        else if (step.type === 'branch')
          expect(stepBeside(node, depth, nibbleAt(path, node.fork))).toEqual(step)
        seen.add(isAway ? 'away' : step.type)
        depth += step.skip + 1
      }
    }
    expect(seen).toContain('away')
    expect(seen).toContain('branch')
  })
})
