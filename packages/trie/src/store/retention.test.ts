import { open } from 'lmdb'
import { expect, onTestFinished, test } from 'vitest'
import { decodeNode } from '../node/codec.js'
import { bytes, keysUnder } from '../test/keys.js'
import { temporaryFolder } from '../test/stores.js'
import { createTrie, type Trie } from '../trie.js'
import type { TrieOperation } from '../update/operations.js'
import { openLmdbStore } from './lmdb.js'
import { createMemoryStore } from './memory.js'
import type { TrieStore } from './store.js'

const keys = keysUnder(['1', '2a', '2b', '3cc'], 400)

/** Deletes every key and inserts every other one, of a window of keys that moves with each round. */
function turnOver(trie: Trie, round: number): void {
  const window = Array.from({ length: 60 }, (_, i) => keys[(round * 37 + i) % keys.length]!)
  trie.update(
    window.map((key): TrieOperation => {
      const present = trie.has(bytes(key))
      return present
        ? { type: 'delete', key: bytes(key) }
        : { type: 'insert', key: bytes(key), value: bytes(key) }
    }),
  )
}

/** The nodes that the kept versions are made of. */
function reachable(store: TrieStore): Set<number> {
  const found = new Set<number>()
  const visit = (id: number, path: Uint8Array, depth: number): void => {
    if (id === 0 || found.has(id)) return
    found.add(id)
    const node = decodeNode(store.read(id), id, path, depth)
    if (node.kind === 'branch') for (const child of node.ids) visit(child, node.path, node.fork + 1)
  }
  for (const version of store.versions) visit(version.node, new Uint8Array(32), 0)
  return found
}

test('LMDB keeps exactly the nodes of the kept versions', async () => {
  const path = await temporaryFolder()
  const store = openLmdbStore({ path })
  const nodes = open({ path, noSubdir: false, overlappingSync: false }).openDB<Buffer, number>({
    name: 'nodes',
    encoding: 'binary',
  })
  onTestFinished(() => store.close())
  const trie = createTrie({ store, history: 3 })
  const expectNoOther = (): void => {
    nodes.resetReadTxn()
    expect([...nodes.getKeys()]).toStrictEqual([...reachable(store)].sort((a, b) => a - b))
  }
  for (let round = 0; round < 40; round += 1) {
    turnOver(trie, round)
    if (round % 5 === 4) trie.undo()
    expectNoOther()
  }
  trie.prune(0)
  expectNoOther()
  await trie.rebuild(keys.map((key) => [bytes(key), bytes(key)] as const))
  expectNoOther()
})

test('LMDB frees nodes later in pieces, whatever happens in between', async () => {
  const path = await temporaryFolder()
  const nodes = open({ path, noSubdir: false, overlappingSync: false }).openDB<Buffer, number>({
    name: 'nodes',
    encoding: 'binary',
  })
  let store = openLmdbStore({ path, freesLater: true })
  let trie = createTrie({ store, history: 3 })
  const freeAll = (): void => {
    while (trie.free(50) > 0);
  }
  const idsThere = (): Set<number> => {
    nodes.resetReadTxn()
    return new Set(nodes.getKeys())
  }
  let pieces = 0
  let lastLeft = 0
  for (let round = 0; round < 400; round += 1) {
    turnOver(trie, round)
    if (round % 5 === 4) trie.undo()
    const { root } = trie
    // Sometimes in the middle of freeing, the process begins anew.
    for (let piece = 0; piece < (round % 4) * 30; piece += 1) {
      const left = trie.free(50)
      if (left > 0 && left !== lastLeft) pieces += 1
      lastLeft = left
    }
    expect(trie.root).toStrictEqual(root)
    if (round % 17 === 16) {
      await trie.close()
      store = openLmdbStore({ path, freesLater: true })
      trie = createTrie({ store, history: 3 })
      expect(trie.root).toStrictEqual(root)
    }
    const there = idsThere()
    for (const id of reachable(store)) expect(there.has(id)).toBe(true)
  }
  expect(pieces).toBeGreaterThan(100)
  freeAll()
  // The rest belongs to fewer versions than are freed together.
  expect(idsThere().size).toBeLessThan(reachable(store).size + 64 * 200)
  for (let round = 400; round < 480; round += 1) turnOver(trie, round)
  const before = idsThere().size
  freeAll()
  expect(idsThere().size).toBeLessThan(before)
  await trie.rebuild(keys.map((key) => [bytes(key), bytes(key)] as const))
  expect(trie.free(50)).toBe(0)
  expect(idsThere()).toStrictEqual(reachable(store))
  await trie.close()
})

test('memory reuses the space of old nodes', () => {
  const store = createMemoryStore()
  const trie = createTrie({ store, history: 3 })
  for (let round = 0; round < 300; round += 1) {
    turnOver(trie, round)
    if (round % 5 === 4) trie.undo()
  }
  // Each of the 300 updates writes about 40 KB.
  expect(store.bytes).toBeLessThanOrEqual(2 ** 20)
  expect(reachable(store).size).toBeGreaterThan(200)
})
