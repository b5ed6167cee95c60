import { KeyExists, KeyMissing } from '../errors.js'
import { asBuffer, blake2b256 } from '../hash.js'

/** One step of a batch. To give a key another value, delete it and insert it again. */
export type Operation =
  | { type: 'insert'; key: Uint8Array; value: Uint8Array }
  | { type: 'delete'; key: Uint8Array }

/** What a batch does to one key, all its operations taken together. */
export interface KeyChange {
  path: Uint8Array
  /** The key, for errors. */
  key: Uint8Array
  /** Whether the map must hold the key before the batch. */
  present: boolean
  /** The hash of the value that the key has afterwards; none where it is gone. */
  valueHash: Uint8Array | undefined
}

/**
 * Reduces a batch to one change a key, sorted by path. The operations on one key take effect in their order, so that
 * what is inserted may be deleted again within the batch, and the other way round.
 *
 * @throws {KeyExists} when a key is inserted twice
 * @throws {KeyMissing} when a key is deleted twice
 */
export function reduceOperations(operations: Iterable<Operation>): KeyChange[] {
  const sorted = sortByPath(Array.from(operations, toChange))
  const changes: KeyChange[] = []
  let last: KeyChange | undefined
  for (const change of sorted) {
    if (last !== undefined && asBuffer(last.path).equals(change.path)) {
      const exists = last.valueHash !== undefined
      if (change.present !== exists) throw exists ? new KeyExists(change.key) : new KeyMissing(change.key)
      last.valueHash = change.valueHash
    } else {
      last = change
      changes.push(change)
    }
  }
  return changes
}

function toChange(operation: Operation): KeyChange {
  const { key } = operation
  const insert = operation.type === 'insert'
  return {
    path: blake2b256(key),
    key,
    present: !insert,
    valueHash: insert ? blake2b256(operation.value) : undefined,
  }
}

/** Six bytes of a path decide nearly always, and are compared as numbers. */
const ORDER_LENGTH = 6

function sortByPath(changes: KeyChange[]): KeyChange[] {
  return changes
    .map((change) => ({ change, order: asBuffer(change.path).readUIntBE(0, ORDER_LENGTH) }))
    .sort((a, b) => a.order - b.order || Buffer.compare(a.change.path, b.change.path))
    .map(({ change }) => change)
}
