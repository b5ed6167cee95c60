import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { openLmdbStore } from '../store/lmdb.js'
import { createMemoryStore } from '../store/memory.js'
import type { TrieStore } from '../store/store.js'
import { createTrie, type Trie } from '../trie.js'

/** A new folder, gone when the test is over. */
export async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'ratatosk-trie-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  return folder
}

/** The trie in an LMDB folder, closed when the test is over. */
export function openTrie(path: string): Trie {
  const trie = createTrie({ store: openLmdbStore({ path }), history: 5 })
  onTestFinished(() => trie.close())
  return trie
}

/** Every kind of store, empty, closed when the test is over. */
export const stores: [name: string, open: () => Promise<TrieStore>][] = [
  ['memory', async () => createMemoryStore()],
  [
    'LMDB',
    async () => {
      const store = openLmdbStore({ path: await temporaryFolder() })
      onTestFinished(() => store.close())
      return store
    },
  ],
]
