import { compareBytes, equalBytes } from '@ratatosk/cbor'
import { blake2b256 } from '#hash'
import { keyExists, keyMissing } from '../errors.js'
import { readUint16 } from '../hash/memory.js'
import {
  type Branch,
  countChildren,
  createBranch,
  firstChild,
  type Leaf,
  setChild,
  type TrieNode,
} from '../node/node.js'
import { divergence, extendPath, nibbleAt } from '../path.js'
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
interface KeyChange {
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

/** Reads a node from a store; see `decodeNode`. */
export type LoadNode = (id: number, path: Uint8Array, depth: number) => TrieNode

/** A map open for changes, one batch after another, none of which is hashed or written yet. */
interface Edit {
  /** The root after the changes, with the nodes on the way to them open; undefined if the map is empty. */
  readonly root: TrieNode | undefined
  /** Nodes that the map before the changes has, and that it no longer uses, or uses in another form. */
  readonly superseded: readonly number[]
  /**
   * Computes the shape of the map after further changes, at most one per path, sorted. It hashes and writes
   * nothing, so that a contradiction is found before anything must be reverted, and each node is hashed once.
   * After an error the edit is of no use. Throws `TRIE_KEY_EXISTS`, `TRIE_KEY_MISSING`.
   */
  change(changes: readonly KeyChange[]): void
}

/** @param before id of the root before; 0 for the empty map */
export function editTrie(before: number, load: LoadNode): Edit {
  const superseded: number[] = []

  /** Opens a node for changes. A branch is rewritten even if only its position changes; a leaf is not. */
  function open(id: number, path: Uint8Array, depth: number): TrieNode {
    const node = load(id, path, depth)
    if (node.kind === 'branch') superseded.push(id)
    return node
  }

  /** @param path a path that leads through the child */
  function openChild(branch: Branch, nibble: number, path: Uint8Array): TrieNode | undefined {
    if ((branch.mask & (1 << nibble)) === 0) return undefined
    return branch.changed[nibble] ?? open(branch.ids[nibble] ?? 0, path, branch.fork + 1)
  }

  /** Changes a node by those of the changes from `from` to `to`. */
  function edit(
    node: TrieNode | undefined,
    changes: readonly KeyChange[],
    from: number,
    to: number,
    depth: number,
  ): TrieNode | undefined {
    if (node === undefined) {
      if (to - from === 1) return insertedLeaf(changes[from] as KeyChange)
      return join(insertedLeaves(changes.slice(from, to)), depth)
    }
    if (node.kind === 'leaf') return join(editLeaf(node, changes.slice(from, to)), depth)
    return editBranch(node, changes, from, to, depth)
  }

  function editLeaf(leaf: Leaf, own: readonly KeyChange[]): Leaf[] {
    const target = own.find((change) => equalBytes(change.path, leaf.path))
    if (target === undefined) return withNode(insertedLeaves(own), leaf)
    if (!target.present) throw keyExists(target.key)
    if (leaf.id !== 0) superseded.push(leaf.id)
    target.before = leaf.valueHash
    return insertedLeaves(own.map((change) => (change === target ? { ...change, present: false } : change)))
  }

  function editBranch(
    branch: Branch,
    changes: readonly KeyChange[],
    from: number,
    to: number,
    depth: number,
  ): TrieNode | undefined {
    const isBelow = ({ path }: KeyChange): boolean => divergence(path, branch.path, depth) >= branch.fork
    // They are sorted: if the first and the last are below the branch, all are.
    if (isBelow(changes[from] as KeyChange) && isBelow(changes[to - 1] as KeyChange))
      return editChildren(branch, changes, from, to)
    const own = changes.slice(from, to)
    const below = own.filter(isBelow)
    const node = below.length === 0 ? branch : editChildren(branch, below, 0, below.length)
    const beside = insertedLeaves(own.filter((change) => !isBelow(change)))
    return join(node === undefined ? beside : withNode(beside, node), depth)
  }

  function editChildren(
    branch: Branch,
    changes: readonly KeyChange[],
    from: number,
    to: number,
  ): TrieNode | undefined {
    for (let start = from; start < to; ) {
      const { path } = changes[start] as KeyChange
      const nibble = nibbleAt(path, branch.fork)
      let end = start + 1
      while (end < to && nibbleAt((changes[end] as KeyChange).path, branch.fork) === nibble) end += 1
      setChild(branch, nibble, edit(openChild(branch, nibble, path), changes, start, end, branch.fork + 1))
      start = end
    }
    const children = countChildren(branch.mask)
    if (children === 0) return undefined
    if (children > 1) return branch
    const nibble = firstChild(branch.mask)
    return openChild(branch, nibble, extendPath(branch.path, branch.fork, Uint8Array.of(nibble)))
  }

  let root = before === 0 ? undefined : open(before, new Uint8Array(32), 0)
  return {
    get root() {
      return root
    },
    superseded,
    change(changes) {
      if (changes.length > 0) root = edit(root, changes, 0, changes.length, 0)
    },
  }
}

function insertedLeaf({ path, key, present, valueHash }: KeyChange): Leaf | undefined {
  if (present) throw keyMissing(key)
  return valueHash === undefined ? undefined : { kind: 'leaf', id: 0, path, valueHash }
}

function insertedLeaves(changes: readonly KeyChange[]): Leaf[] {
  return changes.map(insertedLeaf).filter((leaf) => leaf !== undefined)
}

/** Puts a node among others, sorted by path. */
function withNode<Node extends TrieNode>(sorted: Node[], node: Node): Node[] {
  const next = sorted.findIndex(({ path }) => compareBytes(path, node.path) > 0)
  sorted.splice(next < 0 ? sorted.length : next, 0, node)
  return sorted
}

/** Joins the sibling nodes `from` to `to`, sorted by path and none an ancestor of another, into one. */
function join(nodes: readonly TrieNode[], depth: number, from = 0, to = nodes.length): TrieNode | undefined {
  const first = nodes[from]
  const last = nodes[to - 1]
  if (first === undefined || last === undefined || first === last) return first
  const branch = createBranch(first.path, divergence(first.path, last.path, depth))
  for (let start = from; start < to; ) {
    const nibble = nibbleAt((nodes[start] as TrieNode).path, branch.fork)
    let end = start + 1
    while (end < to && nibbleAt((nodes[end] as TrieNode).path, branch.fork) === nibble) end += 1
    setChild(branch, nibble, join(nodes, branch.fork + 1, start, end))
    start = end
  }
  return branch
}
