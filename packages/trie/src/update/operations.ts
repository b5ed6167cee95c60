import { compareBytes, equalBytes } from '@ratatosk/cbor'
import { blake2b256 } from '#hash'
import { keyExists, keyMissing } from '../errors.js'
import { readUint16 } from '../hash/memory.js'
import { sortedIndexes } from './sort.js'

/**
 * One step of a batch. To change the value of a key, delete it and insert it again. Instead of a value, its
 * Blake2b-256 can be inserted.
 */
export type TrieOperation = { key: Uint8Array } & KnownPath &
  ({ type: 'insert'; value: Uint8Array } | { type: 'insert'; valueHash: Uint8Array } | { type: 'delete' })

/** A hash that the caller has already; it is not computed again, and not checked. */
export interface KnownPath {
  /** Blake2b-256 of the key. */
  path?: Uint8Array
}

/** The net effect of a batch on one key. */
export interface KeyChange {
  path: Uint8Array
  /** The key, for errors. */
  key: Uint8Array
  present: boolean
  /** The hash of the key's value before the batch, once the edit has found it. */
  before?: Uint8Array
  /** The hash of the key's value after the batch; undefined if the key is gone. */
  valueHash: Uint8Array | undefined
}

/**
 * Reduces a batch to one change per key, sorted by path. Operations on a key take effect in order, so a batch
 * may delete a key that it inserts, and the reverse. Throws `TRIE_KEY_EXISTS`, `TRIE_KEY_MISSING`.
 */
export function reduceOperations(operations: Iterable<TrieOperation>): KeyChange[] {
  const sorted = sortByPath(Array.from(operations, toChange))
  const changes: KeyChange[] = []
  let last: KeyChange | undefined
  for (const change of sorted) {
    if (last !== undefined && equalBytes(last.path, change.path)) {
      const exists = last.valueHash !== undefined
      if (change.present !== exists) throw exists ? keyExists(change.key) : keyMissing(change.key)
      last.valueHash = change.valueHash
    } else {
      last = change
      changes.push(change)
    }
  }
  return changes
}

function toChange(operation: TrieOperation): KeyChange {
  const { key, path = blake2b256(key) } = operation
  if (operation.type === 'delete') return { path, key, present: true, valueHash: undefined }
  const valueHash = 'value' in operation ? blake2b256(operation.value) : operation.valueHash
  return { path, key, present: false, valueHash }
}

function sortByPath(changes: readonly KeyChange[]): KeyChange[] {
  const pathOf = (index: number): Uint8Array => (changes[index] as KeyChange).path
  const order = sortedIndexes(
    changes.length,
    (index) => readUint16(pathOf(index), 0),
    (a, b) => compareBytes(pathOf(a), pathOf(b)),
  )
  return Array.from(order, (index) => changes[index] as KeyChange)
}
