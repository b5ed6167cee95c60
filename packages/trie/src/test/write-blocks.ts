import { writeSync } from 'node:fs'
import { openLmdbStore } from '../store/lmdb.js'
import { createTrie } from '../trie.js'
import { blockOperations } from './maps.js'

// Run by a test, to be killed: writes block after block into a folder, and prints the count after each.
const [path = '', first] = process.argv.slice(2)
const trie = createTrie({ store: openLmdbStore({ path }), history: 5 })
for (let block = Number(first); ; block += 1) {
  trie.update(blockOperations(block))
  writeSync(1, `${block + 1}\n`)
}
