import { type Branch, createBranch, setChild, type TrieNode } from '../node/node.js'
import type { WriteNode } from '../store/store.js'
import { createRecords, type TrieEntry } from './records.js'
import type { NodeSealer } from './seal.js'

/** Collects entries in any order, 64 bytes for each, and builds a trie, hashing each node once. */
interface TrieBuilder {
  readonly size: number
  add(entry: TrieEntry): void
  /** Writes all nodes but the root, which it returns, if any. Throws `TRIE_KEY_DUPLICATE`. */
  build(write: WriteNode): TrieNode | undefined
  /** The same. @param pause awaited at intervals of some 10 ms */
  buildInTurns(write: WriteNode, pause: () => Promise<void>): Promise<TrieNode | undefined>
}

/** Entries whose nodes are written in one turn, which takes longer. */
const writtenInTurn = 2048

export function createTrieBuilder(sealer: NodeSealer): TrieBuilder {
  const records = createRecords()
  const { half } = records

  /** Creates the node above the entries in `order`, which is sorted, and seals its descendants. */
  function node(order: Uint32Array, depth: number, write: WriteNode): TrieNode {
    const first = order[0] ?? 0
    if (order.length === 1) return { kind: 'leaf', id: 0, path: half(first, 0), valueHash: half(first, 1) }
    const branch = branchOver(order, depth)
    for (const [nibble, child] of childrenOf(order, branch.fork)) {
      setChild(branch, nibble, node(child, branch.fork + 1, write))
      sealer.sealChildren(branch, write)
    }
    return branch
  }

  /** {@link node}, with pauses before the children of the topmost branches. */
  async function nodeInTurns(
    order: Uint32Array,
    depth: number,
    write: WriteNode,
    pause: () => Promise<void>,
  ): Promise<TrieNode> {
    if (order.length < writtenInTurn) {
      await pause()
      return node(order, depth, write)
    }
    const branch = branchOver(order, depth)
    for (const [nibble, child] of childrenOf(order, branch.fork)) {
      setChild(branch, nibble, await nodeInTurns(child, branch.fork + 1, write, pause))
      sealer.sealChildren(branch, write)
    }
    return branch
  }

  function branchOver(order: Uint32Array, depth: number): Branch {
    const first = order[0] ?? 0
    return createBranch(half(first, 0), records.fork(first, order.at(-1) ?? 0, depth))
  }

  function* childrenOf(order: Uint32Array, fork: number): Generator<[nibble: number, child: Uint32Array]> {
    for (let start = 0; start < order.length; ) {
      const nibble = nibbleOf(order, start, fork)
      let end = start + 1
      while (end < order.length && nibbleOf(order, end, fork) === nibble) end += 1
      yield [nibble, order.subarray(start, end)]
      start = end
    }
  }

  function nibbleOf(order: Uint32Array, index: number, fork: number): number {
    return records.nibble(order[index] ?? 0, fork)
  }

  return {
    get size() {
      return records.size
    },

    add: records.add,

    build(write) {
      return records.size === 0 ? undefined : node(records.sorted(), 0, write)
    },

    async buildInTurns(write, pause) {
      if (records.size === 0) return undefined
      return nodeInTurns(await records.sortedInTurns(pause), 0, write, pause)
    },
  }
}
