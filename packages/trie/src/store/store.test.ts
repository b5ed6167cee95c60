import { existsSync } from 'node:fs'
import { open, stat, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, onTestFinished, test } from 'vitest'
import { blockOperations } from '../test/blocks.js'
import { temporaryFolder } from '../test/stores.js'
import { createTrie, type Trie } from '../trie.js'
import { openLmdbStore, openUndamaged } from './lmdb.js'
import { encodeIds } from './lmdb-rows.js'
import { createSlab } from './memory.js'
import { obsoleteIds } from './obsolete-ids.js'

describe('lmdb file', () => {
  function openTrie(path: string): Trie {
    const trie = createTrie({ store: openLmdbStore({ path }), history: 5 })
    onTestFinished(() => trie.close())
    return trie
  }

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
