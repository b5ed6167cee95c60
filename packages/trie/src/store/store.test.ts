import { existsSync } from 'node:fs'
import { open, stat, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import fc from 'fast-check'
import { open as openLmdb } from 'lmdb'
import { describe, expect, onTestFinished, test } from 'vitest'
import { decodeNode } from '../node/node.js'
import { blockOperations, bytes, keysUnder } from '../test/maps.js'
import { openTrie, temporaryFolder } from '../test/stores.js'
import { createTrie, type Trie } from '../trie.js'
import type { TrieOperation } from '../update/edit.js'
import { openLmdbStore, openUndamaged } from './lmdb.js'
import { encodeIds, obsoleteIds } from './lmdb-rows.js'
import { createMemoryStore, createSlab } from './memory.js'
import type { TrieStore } from './store.js'

describe('lmdb file', () => {
  /** A folder with the trie of some blocks, closed. */
  async function filledFolder(): Promise<string> {
    const path = await temporaryFolder()
    const trie = openTrie(path)
    for (let block = 0; block < 9; block += 1) trie.update(blockOperations(block))
    await trie.close()
    return path
  }

  async function overwrite(file: string, position: number, length: number): Promise<void> {
    const handle = await open(file, 'r+')
    await handle.write(Buffer.alloc(length, 0x5a), 0, length, position)
    await handle.close()
  }

  const pageSize = 4096

  test.each<[damage: string, reason: RegExp, change: (file: string) => Promise<void>]>([
    ['cut to half', /cut off/, async (file) => truncate(file, Math.floor((await stat(file)).size / 2))],
    ['cut after its head', /cut off/, (file) => truncate(file, 2 * pageSize)],
    ['cut within its head', /beginning .* damaged/, (file) => truncate(file, 20)],
    ['cut within its second page', /beginning .* damaged/, (file) => truncate(file, pageSize + 20)],
    ['overwritten at its head', /beginning .* damaged/, (file) => overwrite(file, 0, pageSize)],
    ['overwritten at its second page', /beginning .* damaged/, (file) => overwrite(file, pageSize, pageSize)],
  ])('refuses a file that was %s', async (_damage, reason, change) => {
    const path = await filledFolder()
    await change(join(path, 'data.mdb'))
    expect(() => openLmdbStore({ path })).toThrow(
      expect.objectContaining({ code: 'TRIE_STORE_CORRUPT', message: expect.stringMatching(reason) }),
    )
  })

  test('refuses a file in place of the folder', async () => {
    const path = join(await temporaryFolder(), 'trie')
    await writeFile(path, 'x')
    expect(() => openLmdbStore({ path })).toThrow(/it is a file, not a folder/)
  })

  test('takes an empty file for a new store', async () => {
    const path = await temporaryFolder()
    await writeFile(join(path, 'data.mdb'), '')
    expect(openTrie(path).size).toBe(0)
  })

  test('refuses a folder at whose opening two processes in a row have died, and no other', async () => {
    const path = await filledFolder()
    const marker = join(path, 'opening')
    const marked = openUndamaged(path, () => existsSync(marker))
    expect(marked).toBe(true)
    expect(existsSync(marker)).toBe(false)
    expect(() => openUndamaged(path, () => expect.fail('an error of the one that opens'))).toThrow(/an error/)
    expect(openTrie(path).size).toBeGreaterThan(0)
    await writeFile(marker, '1')
    expect(() => openUndamaged(path, () => expect.fail('an error'))).toThrow(/an error/)
    expect(existsSync(marker)).toBe(false)
    await writeFile(marker, '2')
    expect(() => openLmdbStore({ path })).toThrow(/two processes have died while they opened the folder/)
  })
})

describe('obsolete ids', () => {
  test('ids of all rows are taken in order, in pieces', () => {
    const rows = [[70, 2 ** 40, 3], [], [5, 4], [60]].map(encodeIds)
    const ids = obsoleteIds(rows)
    expect(ids.left).toBe(6)
    while (ids.readRow());
    expect(ids.left).toBe(6)
    expect(ids.take(2)).toEqual([3, 4])
    expect(ids.left).toBe(4)
    expect(ids.take(3)).toEqual([5, 60, 70])
    expect(ids.take(3)).toEqual([2 ** 40])
    expect(ids.left).toBe(0)
    expect(ids.take(3)).toEqual([])
  })

  test('rows are read one at a time', () => {
    const ids = obsoleteIds([encodeIds([1]), encodeIds([2])])
    expect([ids.readRow(), ids.readRow(), ids.readRow()]).toEqual([true, true, false])
  })
})

describe('slab', () => {
  const megabyte = 2 ** 20

  test('keeps every byte string until it is removed', () => {
    const anyStep = fc.oneof(
      fc.uint8Array({ maxLength: 700 }),
      fc.nat().map((pick) => ({ remove: pick })),
    )
    fc.assert(
      fc.property(fc.array(anyStep, { maxLength: 200 }), (steps) => {
        const slab = createSlab()
        const kept = new Map<number, Uint8Array>()
        for (const step of steps) {
          if (step instanceof Uint8Array) {
            const id = slab.add(step)
            expect(id).toBeGreaterThan(0)
            expect(kept.has(id)).toBe(false)
            kept.set(id, step)
          } else if (kept.size > 0) {
            const id = [...kept.keys()][step.remove % kept.size]!
            slab.remove(id)
            kept.delete(id)
          }
          for (const [id, bytes] of kept) expect(Buffer.compare(slab.get(id), bytes)).toBe(0)
        }
      }),
      { numRuns: 50 },
    )
  })

  test('keeps more than a chunk of byte strings', () => {
    const slab = createSlab()
    const ids = Array.from({ length: 5000 }, (_, i) => slab.add(Buffer.alloc(674, i)))
    expect(slab.capacity).toBe(4 * megabyte)
    for (const [i, id] of ids.entries()) expect(Buffer.alloc(674, i).equals(slab.get(id))).toBe(true)
  })

  test('reuses freed space', () => {
    const slab = createSlab()
    for (let round = 0; round < 20; round += 1) {
      const ids = Array.from({ length: 1000 }, (_, i) => slab.add(Buffer.alloc(i % 674)))
      for (const id of ids) slab.remove(id)
    }
    expect(slab.capacity).toBeLessThan(megabyte)
  })

  test('is small for few byte strings', () => {
    const slab = createSlab()
    const ids = Array.from({ length: 50 }, (_, i) => slab.add(Buffer.alloc(70, i)))
    expect(slab.capacity).toBeLessThan(2 ** 14)
    for (const [i, id] of ids.entries()) expect(Buffer.alloc(70, i).equals(slab.get(id))).toBe(true)
  })

  test('refuses an id that it never returned', () => {
    expect(() => createSlab().get(1)).toThrow(RangeError)
  })
})

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
  const nodes = openLmdb({ path, noSubdir: false, overlappingSync: false }).openDB<Buffer, number>({
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
  const nodes = openLmdb({ path, noSubdir: false, overlappingSync: false }).openDB<Buffer, number>({
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
