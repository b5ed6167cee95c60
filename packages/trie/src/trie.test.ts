import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { blake2b256 } from '#hash'
import { verifyInclusion } from './proof/verify.js'
import { createMemoryStore } from './store/memory.js'
import { hex, naiveRoot, utf8 } from './test/maps.js'
import { stores } from './test/stores.js'
import { createTrie, type Trie } from './trie.js'
import type { TrieOperation } from './update/edit.js'
import { rootOf } from './update/entries.js'

const emptyRootHex = '00'.repeat(32)

const insert = (key: string, value = key): TrieOperation => ({
  type: 'insert',
  key: utf8(key),
  value: utf8(value),
})
const remove = (key: string): TrieOperation => ({ type: 'delete', key: utf8(key) })

describe.each(stores)('a trie in %s', (_, open) => {
  const createFilled = async (): Promise<Trie> => {
    const trie = createTrie({ store: await open() })
    trie.update(['a', 'b', 'c', 'd'].map((key) => insert(key)))
    return trie
  }

  test('is empty at first', async () => {
    const trie = createTrie({ store: await open() })
    expect(hex(trie.root)).toBe(emptyRootHex)
    expect(trie.size).toBe(0)
    expect(trie.has(utf8('a'))).toBe(false)
    expect(trie.roots.map(hex)).toStrictEqual([emptyRootHex])
  })

  test('holds the hashes of values', async () => {
    const trie = await createFilled()
    expect(trie.has(utf8('a'))).toBe(true)
    expect(trie.valueHash(utf8('a'))).toStrictEqual(Uint8Array.from(blake2b256(utf8('a'))))
    expect(trie.has(utf8('e'))).toBe(false)
    expect(trie.valueHash(utf8('e'))).toBeUndefined()
    expect(trie.size).toBe(4)
  })

  test('reports each key that a batch deletes, with the hash of its value', async () => {
    const trie = await createFilled()
    const deleted = new Map<string, string>()
    const batch = [remove('a'), insert('a', 'other'), remove('d'), insert('e'), remove('e')]
    trie.update(batch, (key, valueHash) => deleted.set(hex(key), hex(valueHash)))
    expect(deleted).toEqual(new Map(['a', 'd'].map((key) => [hex(utf8(key)), hex(blake2b256(utf8(key)))])))
    const refused = () => trie.update([remove('b'), remove('none')], () => deleted.clear())
    expect(refused).toThrow()
    expect(deleted.size).toBe(2)
  })

  test('a draft changes nothing until it is committed, and is refused when the map has changed', async () => {
    const trie = await createFilled()
    const { root } = trie
    const outdated = expect.objectContaining({ code: 'TRIE_DRAFT_OUTDATED' })
    const reported: string[] = []
    const draft = trie.draft()
    draft.add([remove('a'), insert('e')], (key) => reported.push(hex(key)))
    draft.add([])
    expect(reported).toStrictEqual([hex(utf8('a'))])
    expect(trie.root).toStrictEqual(root)
    expect(trie.has(utf8('a'))).toBe(true)
    const broken = trie.draft()
    expect(() => broken.add([insert('f'), insert('b')])).toThrow(
      expect.objectContaining({ code: 'TRIE_KEY_EXISTS' }),
    )
    expect(broken.isCurrent).toBe(false)
    expect(() => broken.add([])).toThrow(outdated)
    expect(() => broken.commit()).toThrow(outdated)

    const rival = trie.draft()
    expect([draft.isCurrent, rival.isCurrent]).toStrictEqual([true, true])
    draft.commit()
    expect(trie.has(utf8('e'))).toBe(true)
    expect(trie.undo()).toStrictEqual(root)
    expect(() => draft.commit()).toThrow(outdated)
    // The map is the one that it was begun on, again.
    rival.add([remove('b')])
    rival.commit()
    expect(trie.has(utf8('b'))).toBe(false)
    expect(trie.draft().commit()).toStrictEqual(trie.root)
  })

  test('is empty again after every key is deleted', async () => {
    const trie = await createFilled()
    const single = createTrie({ store: createMemoryStore() })
    single.insert(utf8('b'), utf8('b'))
    trie.update([remove('a'), remove('c'), remove('d')])
    expect(trie.root).toStrictEqual(single.root)
    trie.delete(utf8('b'))
    expect(hex(trie.root)).toBe(emptyRootHex)
    expect(trie.size).toBe(0)
  })

  test.each([
    ['a key to insert exists', 'TRIE_KEY_EXISTS', [insert('e'), insert('a')]],
    ['a key to delete is missing', 'TRIE_KEY_MISSING', [insert('e'), remove('f')]],
    ['a key is inserted twice', 'TRIE_KEY_EXISTS', [insert('e'), insert('e')]],
    ['a key is deleted twice', 'TRIE_KEY_MISSING', [remove('a'), remove('a')]],
    ['an existing key is inserted and deleted', 'TRIE_KEY_EXISTS', [insert('a'), remove('a')]],
    ['a missing key is deleted and inserted', 'TRIE_KEY_MISSING', [remove('e'), insert('e')]],
  ] satisfies [string, string, TrieOperation[]][])(
    'refuses a whole batch when %s',
    async (_, code, batch) => {
      const trie = await createFilled()
      const before = trie.root
      expect(() => trie.update(batch)).toThrow(expect.objectContaining({ code }))
      expect(trie.root).toStrictEqual(before)
      expect(trie.size).toBe(4)
      expect(trie.roots).toHaveLength(2)
      trie.update([insert('e')])
      expect(trie.size).toBe(5)
    },
  )

  test('names the key in errors', async () => {
    const trie = await createFilled()
    expect(() => trie.insert(utf8('a'), utf8(''))).toThrow(expect.objectContaining({ key: utf8('a') }))
    expect(() => trie.delete(utf8('e'))).toThrow('The key 65 is not in the trie')
    expect(() => trie.prove(utf8('e'))).toThrow(expect.objectContaining({ code: 'TRIE_KEY_MISSING' }))
    expect(() => trie.proveAbsence(utf8('a'))).toThrow(expect.objectContaining({ code: 'TRIE_KEY_EXISTS' }))
  })

  test('applies operations on the same key in order', async () => {
    const trie = await createFilled()
    const before = trie.root
    trie.update([insert('e'), remove('e')])
    expect(trie.root).toStrictEqual(before)
    trie.update([remove('a'), insert('a', 'new'), remove('a'), insert('a', 'newer')])
    expect(trie.valueHash(utf8('a'))).toStrictEqual(Uint8Array.from(blake2b256(utf8('newer'))))
    expect(trie.size).toBe(4)
  })

  test('creates a version for an empty batch', async () => {
    const trie = await createFilled()
    const before = trie.root
    trie.update([])
    expect(trie.roots).toHaveLength(3)
    expect(trie.undo()).toStrictEqual(before)
    expect(hex(trie.undo())).toBe(emptyRootHex)
  })

  test('undoes updates one by one until no version is left', async () => {
    const trie = await createFilled()
    const before = trie.root
    trie.update([remove('a'), remove('b'), insert('e')])
    expect(trie.undo()).toStrictEqual(before)
    expect(trie.has(utf8('a'))).toBe(true)
    expect(trie.has(utf8('e'))).toBe(false)
    expect(hex(trie.undo())).toBe(emptyRootHex)
    expect(() => trie.undo()).toThrow(expect.objectContaining({ code: 'TRIE_NOTHING_TO_UNDO' }))
  })

  test('continues after an undo', async () => {
    const trie = await createFilled()
    trie.update([remove('a'), insert('e')])
    trie.undo()
    trie.update([remove('b'), insert('f')])
    expect(['a', 'b', 'e', 'f'].filter((key) => trie.has(utf8(key)))).toStrictEqual(['a', 'f'])
  })

  test('reverts to the newest version with a root', async () => {
    const trie = await createFilled()
    const root = trie.root
    trie.insert(utf8('e'), utf8(''))
    trie.delete(utf8('e'))
    trie.insert(utf8('f'), utf8(''))
    trie.revert(root)
    expect(trie.root).toStrictEqual(root)
    expect(trie.roots).toHaveLength(4)
    expect(() => trie.revert(blake2b256(root))).toThrow(
      expect.objectContaining({ code: 'TRIE_ROOT_UNKNOWN' }),
    )
  })

  test('reads an older version until it is pruned or undone', async () => {
    const trie = await createFilled()
    const older = trie.at(trie.root)
    trie.update([remove('a')])
    const newer = trie.at(trie.root)
    expect([older.size, older.has(utf8('a'))]).toStrictEqual([4, true])
    expect([newer.size, newer.has(utf8('a'))]).toStrictEqual([3, false])
    trie.undo()
    expect(() => newer.has(utf8('a'))).toThrow(expect.objectContaining({ code: 'TRIE_ROOT_UNKNOWN' }))
    trie.update([remove('a')])
    expect(() => newer.size).toThrow(expect.objectContaining({ code: 'TRIE_ROOT_UNKNOWN' }))
    trie.prune(0)
    expect(() => older.has(utf8('a'))).toThrow(expect.objectContaining({ code: 'TRIE_ROOT_UNKNOWN' }))
    expect(() => trie.undo()).toThrow(expect.objectContaining({ code: 'TRIE_NOTHING_TO_UNDO' }))
    expect(trie.has(utf8('b'))).toBe(true)
  })

  test('keeps as many older versions as `history` says', async () => {
    const trie = createTrie({ store: await open(), history: 2 })
    const roots = ['a', 'b', 'c', 'd'].map((key) => hex(trie.update([insert(key)])))
    expect(trie.roots.map(hex)).toStrictEqual(roots.slice(1))
    trie.prune(1)
    expect(trie.roots.map(hex)).toStrictEqual(roots.slice(2))
    expect(hex(trie.undo())).toBe(roots[2])
    expect(['a', 'b', 'c'].every((key) => trie.has(utf8(key)))).toBe(true)
  })

  test('is rebuilt from an async iterable of entries in any order', async () => {
    const trie = await createFilled()
    const root = trie.root
    trie.update([remove('a')])
    async function* entries() {
      for (const key of ['d', 'b', 'a', 'c']) yield [utf8(key), utf8(key)] as const
    }
    expect(await trie.rebuild(entries())).toStrictEqual(root)
    expect(trie.size).toBe(4)
    expect(trie.roots).toStrictEqual([root])
    trie.update([remove('d')])
    expect(trie.undo()).toStrictEqual(root)
    expect(hex(await trie.rebuild([]))).toBe(emptyRootHex)
    expect(trie.size).toBe(0)
  })

  test('is unchanged if a rebuild fails', async () => {
    const trie = await createFilled()
    const before = trie.root
    const entries = ['x', 'y', 'z', 'y'].map((key) => [utf8(key), utf8('')] as const)
    await expect(trie.rebuild(entries)).rejects.toMatchObject({ code: 'TRIE_KEY_DUPLICATE', entries: [1, 3] })
    expect(trie.root).toStrictEqual(before)
    expect(trie.has(utf8('a'))).toBe(true)
    trie.update([remove('a'), insert('e')])
    expect(trie.undo()).toStrictEqual(before)
  })

  test('returns copies of its roots', async () => {
    const trie = await createFilled()
    const root = hex(trie.root)
    trie.root.fill(0)
    trie.roots.at(-1)!.fill(0)
    expect(hex(trie.root)).toBe(root)
  })
})

test.each([-1, 0.5, Number.NaN])('refuses a history of %d', (history) => {
  expect(() => createTrie({ store: createMemoryStore(), history })).toThrow(RangeError)
  expect(() => createTrie({ store: createMemoryStore() }).prune(history)).toThrow(RangeError)
})

describe('the root of entries', () => {
  const entries = fc.uniqueArray(fc.tuple(fc.uint8Array({ maxLength: 3 }), fc.uint8Array({ maxLength: 3 })), {
    maxLength: 300,
    selector: ([key]) => hex(key),
  })

  test('is the root of the map, with pauses or without', async () => {
    await fc.assert(
      fc.asyncProperty(entries, async (given) => {
        const naive = naiveRoot(new Map(given.map(([key, value]) => [hex(key), hex(value)])))
        expect(hex(await rootOf(given))).toBe(naive)
        expect(hex(await rootOf(given, async () => undefined))).toBe(naive)
      }),
      { numRuns: 50 },
    )
  })

  test('is right for two maps whose hashing takes turns', async () => {
    const given = ['a', 'b'].map((name) =>
      Array.from({ length: 9000 }, (_, n) => [utf8(`${name}${n}`), utf8(name)] as const),
    )
    const alone = await Promise.all(given.map((each) => rootOf(each)))
    const pause = async () => undefined
    expect(await Promise.all(given.map((each) => rootOf(each, pause)))).toEqual(alone)
  })

  test('needs each key once', async () => {
    const twice = ['a', 'b', 'a'].map((key) => [utf8(key), utf8(key)] as const)
    await expect(rootOf(twice)).rejects.toMatchObject({ code: 'TRIE_KEY_DUPLICATE', entries: [0, 2] })
    await expect(rootOf(twice.slice(1))).resolves.toHaveLength(32)
    await expect(rootOf([twice[0]!, twice[2]!])).rejects.toMatchObject({ code: 'TRIE_KEY_DUPLICATE' })
  })
})

test('reads a store whose methods are of an object, and read each node into the same Buffer', () => {
  const kept = createMemoryStore()
  const own = {
    node: Buffer.alloc(1024),
    read(id: number): Uint8Array {
      const bytes = kept.read(id)
      this.node.set(bytes)
      return this.node.subarray(0, bytes.length)
    },
  }
  const trie = createTrie({ store: Object.setPrototypeOf(own, kept) })
  trie.update(['a', 'b', 'c', 'd'].map((key) => insert(key)))
  const hashes = ['a', 'b', 'c', 'd'].map((key) => trie.valueHash(utf8(key)))
  expect(hashes).toStrictEqual(['a', 'b', 'c', 'd'].map((key) => Uint8Array.from(blake2b256(utf8(key)))))
  expect(trie.at(trie.root).has(utf8('e'))).toBe(false)
})

test.each(stores)('a trie in %s is rebuilt with pauses, and unchanged until then', async (_, open) => {
  const store = await open()
  const trie = createTrie({ store })
  trie.insert(utf8('a'), utf8('a'))
  const before = trie.root
  const entries = Array.from({ length: 20_000 }, (_, n) => [utf8(`key ${n}`), utf8(`value ${n}`)] as const)
  let pauses = 0
  const pause = async () => {
    pauses += 1
    expect(trie.root).toStrictEqual(before)
  }
  const root = await trie.rebuild(entries, pause)
  expect(root).toStrictEqual(await rootOf(entries))
  const { length } = entries
  expect(trie.size).toBe(length)
  const [key, value] = entries[7]!
  expect(verifyInclusion(root, key, value, trie.prove(key))).toBe(true)
  if (store.stage !== undefined) expect(pauses).toBeGreaterThanOrEqual(16)
  const twice = [...entries, entries[3]!]
  await expect(trie.rebuild(twice, async () => undefined)).rejects.toMatchObject({ entries: [3, 20_000] })
  expect(trie.root).toStrictEqual(root)
})
