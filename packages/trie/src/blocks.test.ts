import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createMemoryStore } from './store/memory.js'
import { bytes, crowdedKeys, hex, naiveRoot } from './test/maps.js'
import { stores } from './test/stores.js'
import { createTrie } from './trie.js'
import type { TrieOperation } from './update/edit.js'
import { rootOf } from './update/entries.js'

/** The value of a key after a block, or nothing. */
type Block = ReadonlyMap<string, string | undefined>

const anyBlock = fc
  .uniqueArray(
    fc.tuple(fc.constantFrom(...crowdedKeys), fc.option(fc.constantFrom('', '01', '02'), { nil: undefined })),
    {
      selector: ([key]) => key,
      maxLength: crowdedKeys.length,
    },
  )
  .map((changes): Block => new Map(changes))

/** The operations that take `entries` to where the block wants them, which is done to `entries` at once. */
function operationsOf(block: Block, entries: Map<string, string>): TrieOperation[] {
  return [...block].flatMap(([key, value]) => {
    const operations: TrieOperation[] = []
    if (entries.delete(key)) operations.push({ type: 'delete', key: bytes(key) })
    if (value !== undefined) {
      operations.push({ type: 'insert', key: bytes(key), value: bytes(value) })
      entries.set(key, value)
    }
    return operations
  })
}

describe.each(stores)('in %s', (_, open) => {
  test('has the root of the definition after every block and after undoing it', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(anyBlock, { maxLength: 8 }), async (blocks) => {
        const trie = createTrie({ store: await open() })
        const entries = new Map<string, string>()
        const roots = [hex(trie.root)]
        for (const block of blocks) {
          trie.update(operationsOf(block, entries))
          expect(hex(trie.root)).toBe(naiveRoot(entries))
          expect(trie.size).toBe(entries.size)
          roots.push(hex(trie.root))
        }
        for (const root of roots.slice(0, -1).reverse()) expect(hex(trie.undo())).toBe(root)
      }),
      { numRuns: 25 },
    )
  })
})

test('a draft leads where one update does, however its operations are split', async () => {
  const anySplit = fc.array(fc.array(anyBlock, { minLength: 1, maxLength: 4 }), { maxLength: 5 })
  await fc.assert(
    fc.asyncProperty(anySplit, async (updates) => {
      const [plain, drafted] = [
        createTrie({ store: createMemoryStore() }),
        createTrie({ store: createMemoryStore() }),
      ]
      const entries = new Map<string, string>()
      for (const batches of updates) {
        const before = new Map(entries)
        const parts = batches.map((batch) => operationsOf(batch, entries))
        plain.update(parts.flat())
        const draft = drafted.draft()
        for (const part of parts) {
          draft.add(part)
          expect(hex(drafted.root)).toBe(naiveRoot(before))
        }
        expect(hex(draft.commit())).toBe(hex(plain.root))
        expect(drafted.size).toBe(entries.size)
        expect(drafted.roots).toStrictEqual(plain.roots)
      }
      expect(hex(drafted.root)).toBe(naiveRoot(entries))
      expect(drafted.roots.slice(1).map(() => hex(drafted.undo()))).toStrictEqual(
        plain.roots.slice(1).map(() => hex(plain.undo())),
      )
    }),
    { numRuns: 40 },
  )
})

test('the root of entries is that of the trie which holds them', async () => {
  const random = randomNumbers(7)
  for (const size of [0, 1, 2, 3, 17, 300, 20_000]) {
    const entries = Array.from(
      { length: size },
      (_, i) =>
        [
          `${i.toString(16).padStart(8, '0')}`,
          random(2 ** 32)
            .toString(16)
            .padStart(8, '0')
            .repeat(i % 300),
        ] as const,
    )
    const pairs = entries.map(([key, value]) => [bytes(key), bytes(value)] as const)
    const rebuilt = createTrie({ store: createMemoryStore() })
    await rebuilt.rebuild(pairs)
    const updated = createTrie({ store: createMemoryStore() })
    updated.update(pairs.map(([key, value]) => ({ type: 'insert', key, value })))
    let pauses = 0
    // Another root is computed in each pause: the two share working memory.
    const pause = async (): Promise<void> => {
      pauses += 1
      await rootOf(pairs.slice(0, 50))
    }
    const root = hex(await rootOf(pairs, pause))
    expect(root).toBe(hex(rebuilt.root))
    expect(root).toBe(hex(updated.root))
    if (size <= 300) expect(root).toBe(naiveRoot(new Map(entries)))
    expect(pauses > 0).toBe(size > 1)
    // Of that many, a part is hashed at a time.
    expect(pauses > 8).toBe(size > 8192)
  }
})

test('gives the same root whatever the order of a batch', () => {
  fc.assert(
    fc.property(fc.shuffledSubarray(crowdedKeys), fc.shuffledSubarray(crowdedKeys), (first, second) => {
      const trie = createTrie({ store: createMemoryStore() })
      trie.update(first.map((key) => ({ type: 'insert', key: bytes(key), value: bytes(key) })))
      const gone = second.filter((key) => first.includes(key))
      const come = second.filter((key) => !first.includes(key))
      const operations: TrieOperation[] = [
        ...gone.map((key): TrieOperation => ({ type: 'delete', key: bytes(key) })),
        ...come.map((key): TrieOperation => ({ type: 'insert', key: bytes(key), value: bytes(key) })),
      ]
      const forwards = hex(trie.update(operations))
      trie.undo()
      for (const operation of operations.toReversed()) trie.update([operation])
      expect(hex(trie.root)).toBe(forwards)
    }),
  )
})

test('equals the trie rebuilt from its entries after 1,000 random blocks, and undoes each', async () => {
  const trie = createTrie({ store: createMemoryStore(), history: 1000 })
  const rebuilt = createTrie({ store: createMemoryStore() })
  const entries = new Map<string, string>()
  const roots: string[] = []
  const random = randomNumbers(1)
  for (let block = 0; block < 1000; block += 1) {
    roots.push(hex(trie.root))
    const changes = new Map<string, string | undefined>()
    for (let i = 0; i < 20; i += 1) {
      const key = random(2000).toString(16).padStart(4, '0')
      changes.set(key, random(2) === 0 ? undefined : random(256).toString(16).padStart(2, '0'))
    }
    trie.update(operationsOf(changes, entries))
    if (block % 50 === 49) {
      await rebuilt.rebuild(Array.from(entries, ([key, value]) => [bytes(key), bytes(value)] as const))
      expect(trie.root).toStrictEqual(rebuilt.root)
    }
  }
  expect(hex(trie.root)).toBe(naiveRoot(entries))
  for (const root of roots.reverse()) expect(hex(trie.undo())).toBe(root)
})

/** Numbers below a limit that are the same in each run. */
function randomNumbers(seed: number): (limit: number) => number {
  let state = seed
  return (limit) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return Math.floor((state / 2 ** 32) * limit)
  }
}
