import { expect, test } from 'vitest'
import { verifyInclusion } from './proof/verify.js'
import { utf8 } from './test/keys.js'
import { stores } from './test/stores.js'
import { createTrie } from './trie.js'
import { rootOf } from './update/root.js'

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
