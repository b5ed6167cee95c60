import { DuplicateKey } from '../errors.js'
import { blake2b256AnyInto, HASH_LENGTH } from '../hash.js'
import { createBranch, type Node, setChild } from '../node/node.js'
import { divergence, nibbleAt, PATH_LENGTH } from '../path.js'
import type { WriteNode } from '../store/store.js'
import type { NodeSealer } from './seal.js'

/** A key with its value. */
export type Entry = readonly [key: Uint8Array, value: Uint8Array]

/** Collects entries in any order, at 64 bytes each, and builds a trie in which each node is hashed once. */
export interface TrieBuilder {
  /** How many entries there are. */
  readonly size: number
  add(entry: Entry): void
  /**
   * Writes all nodes but the root.
   *
   * @returns the root; none where there is no entry
   * @throws {DuplicateKey}
   */
  build(write: WriteNode): Node | undefined
}

const RECORD_LENGTH = 2 * HASH_LENGTH

export function createTrieBuilder(sealer: NodeSealer): TrieBuilder {
  let records = Buffer.allocUnsafe(1024 * RECORD_LENGTH)
  let size = 0

  /** One half of a record: the path is the first, the hash of the value the second. */
  function half(entry: number, which: 0 | 1): Buffer {
    const start = entry * RECORD_LENGTH + which * HASH_LENGTH
    return records.subarray(start, start + HASH_LENGTH)
  }

  /** Makes the node above the entries in `order`, which is sorted, and seals what is below it. */
  function node(order: Uint32Array, depth: number, write: WriteNode): Node {
    const first = order[0] ?? 0
    const last = order.at(-1) ?? 0
    const path = half(first, 0)
    if (first === last) return { kind: 'leaf', id: 0, path, valueHash: half(first, 1) }
    const fork = divergence(path, half(last, 0), depth)
    if (fork === PATH_LENGTH) throw new DuplicateKey(Math.min(first, last), Math.max(first, last))
    const branch = createBranch(path, fork)
    for (let start = 0; start < order.length; ) {
      const nibble = nibbleOf(order, start, fork)
      let end = start + 1
      while (end < order.length && nibbleOf(order, end, fork) === nibble) end += 1
      setChild(branch, nibble, node(order.subarray(start, end), fork + 1, write))
      sealer.sealChildren(branch, write)
      start = end
    }
    return branch
  }

  function nibbleOf(order: Uint32Array, index: number, fork: number): number {
    return nibbleAt(records, (order[index] ?? 0) * RECORD_LENGTH * 2 + fork)
  }

  return {
    get size() {
      return size
    },

    add([key, value]) {
      if ((size + 1) * RECORD_LENGTH > records.length) records = Buffer.concat([records], records.length * 2)
      blake2b256AnyInto(half(size, 0), key)
      blake2b256AnyInto(half(size, 1), value)
      size += 1
    },

    build(write) {
      return size === 0 ? undefined : node(sortedByPath(records, size), 0, write)
    },
  }
}

/** The numbers of the entries, sorted by their paths. */
function sortedByPath(records: Buffer, size: number): Uint32Array {
  // Six bytes decide nearly always, and compare faster as a number.
  const prefixes = Float64Array.from({ length: size }, (_, entry) =>
    records.readUIntBE(entry * RECORD_LENGTH, 6),
  )
  const compare = (a: number, b: number): number => {
    const difference = (prefixes[a] ?? 0) - (prefixes[b] ?? 0)
    if (difference !== 0) return difference
    const startA = a * RECORD_LENGTH
    const startB = b * RECORD_LENGTH
    return records.compare(records, startB, startB + HASH_LENGTH, startA, startA + HASH_LENGTH)
  }
  return Uint32Array.from({ length: size }, (_, entry) => entry).sort(compare)
}
