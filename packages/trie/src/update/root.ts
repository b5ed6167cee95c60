import { hashMemory } from '#hash'
import { allocate, hashLength } from '../hash/memory.js'
import { hashLeaf } from '../node/hasher.js'
import { childrenLength } from '../node/merkle.js'
import { pathLength } from '../path.js'
import { createRecords, type TrieEntry } from './records.js'

/** Entries that are hashed in one turn of the event loop: some 10 ms. */
const entriesInTurn = 8192

/** About 10 ms of hashing. */
const entriesBetweenPauses = 4096

/**
 * The root of the map of these entries, in any order: what `rebuild` would return, without keeping anything.
 * An entry is read before the next one is asked for, so they may share memory.
 *
 * @param pause awaited at intervals; without it the whole work is one turn of the event loop
 * @returns 32 bytes; `emptyRoot()` without entries
 * @throws TrieError (rejects) `TRIE_KEY_DUPLICATE`
 * @example
 * equalBytes(await rootOf([[key, value]]), trie.root) // true if the trie holds just that
 */
export async function rootOf(entries: Iterable<TrieEntry>, pause?: () => Promise<void>): Promise<Uint8Array> {
  const builder = createRootBuilder()
  let added = 0
  for (const entry of entries) {
    if (pause !== undefined && ++added % entriesBetweenPauses === 0) await pause()
    builder.add(entry)
  }
  return builder.root(pause)
}

/** Collects entries in any order and computes the root of their map, but none of its nodes. */
interface RootBuilder {
  add(entry: TrieEntry): void
  /** The root, 32 bytes; rejects with `TRIE_KEY_DUPLICATE`. `pause` is awaited at intervals of some 10 ms. */
  root(pause?: () => Promise<void>): Promise<Uint8Array>
}

/** Where the hashes of the children of branches are while they are computed: a place for each height. */
const heights = hashMemory.reserve(pathLength * childrenLength)
const digest = hashMemory.reserve(hashLength)
const digestBytes = hashMemory.bytes.subarray(digest, digest + hashLength)

function createRootBuilder(): RootBuilder {
  const { bytes } = hashMemory
  const records = createRecords()

  /** The position after the entries that share the nibble at `fork` with the one at `from`. */
  function endOfChild(order: Uint32Array, from: number, end: number, fork: number): number {
    const nibble = records.nibble(order[from] as number, fork)
    let to = from + 1
    while (to < end && records.nibble(order[to] as number, fork) === nibble) to += 1
    return to
  }

  /** Hashes the map of the sorted entries from `from` to `end` to the offset `output`. */
  function hash(
    output: number,
    order: Uint32Array,
    from: number,
    end: number,
    depth: number,
    height: number,
  ): void {
    const first = order[from] as number
    if (end - from === 1) {
      records.putLeaf(first)
      hashLeaf(output, depth)
      return
    }
    const fork = records.fork(first, order[end - 1] as number, depth)
    const children = heights + height * childrenLength
    bytes.fill(0, children, children + childrenLength)
    let mask = 0
    for (let start = from; start < end; ) {
      const to = endOfChild(order, start, end, fork)
      const nibble = records.nibble(order[start] as number, fork)
      hash(children + nibble * hashLength, order, start, to, fork + 1, height + 1)
      mask |= 1 << nibble
      start = to
    }
    records.hashBranch(output, first, depth, fork, children, mask)
  }

  return {
    add: records.add,

    async root(pause) {
      const order = pause === undefined ? records.sorted() : await records.sortedInTurns(pause)
      const root = allocate(hashLength)
      if (order.length === 0) return root
      if (pause === undefined || order.length === 1) hash(digest, order, 0, order.length, 0, 0)
      else await hashInTurns(order, 0, order.length, 0, 0, pause)
      root.set(digestBytes)
      return root
    },
  }

  /** {@link hash} to `digest`, with pauses before the children of the topmost branches. */
  async function hashInTurns(
    order: Uint32Array,
    from: number,
    end: number,
    depth: number,
    height: number,
    pause: () => Promise<void>,
  ): Promise<void> {
    if (end - from < entriesInTurn) {
      await pause()
      hash(digest, order, from, end, depth, height)
      return
    }
    const first = order[from] as number
    const fork = records.fork(first, order[end - 1] as number, depth)
    // Others may use the memory for hashing during a pause.
    const hashes = new Uint8Array(childrenLength)
    let mask = 0
    for (let start = from; start < end; ) {
      const to = endOfChild(order, start, end, fork)
      const nibble = records.nibble(order[start] as number, fork)
      await hashInTurns(order, start, to, fork + 1, height + 1, pause)
      hashes.set(digestBytes, nibble * hashLength)
      mask |= 1 << nibble
      start = to
    }
    const children = heights + height * childrenLength
    bytes.set(hashes, children)
    records.hashBranch(digest, first, depth, fork, children, mask)
  }
}
