import type { TrieOperation } from '../update/operations.js'
import { utf8 } from './keys.js'

const blockSize = 300

/** A block that inserts 300 keys and deletes every other one that the block before it has inserted. */
export function blockOperations(block: number): TrieOperation[] {
  const keyOf = (height: number, i: number): Uint8Array => utf8(`${height}/${i}`)
  const operations: TrieOperation[] = []
  for (let i = 0; i < blockSize; i += 1) {
    operations.push({ type: 'insert', key: keyOf(block, i), value: utf8(`${i}`) })
    if (block > 0 && i % 2 === 0) operations.push({ type: 'delete', key: keyOf(block - 1, i) })
  }
  return operations
}
