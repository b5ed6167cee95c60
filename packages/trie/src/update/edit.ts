import { compareBytes, equalBytes } from '@ratatosk/cbor'
import { keyExists, keyMissing } from '../errors.js'
import {
  type Branch,
  countChildren,
  createBranch,
  firstChild,
  type Leaf,
  type Node,
  setChild,
} from '../node/node.js'
import { divergence, extendPath, nibbleAt } from '../path.js'
import type { KeyChange } from './operations.js'

/** Reads a node from a store; see `decodeNode`. */
export type LoadNode = (id: number, path: Uint8Array, depth: number) => Node

export interface Edit {
  /** The root after the changes, with the nodes on the way to them open; undefined if the map is empty. */
  root: Node | undefined
  /** Nodes that the map no longer uses, or uses in another form. */
  superseded: number[]
}

/**
 * Computes the shape of a map after changes. It hashes and writes nothing, so that a change that contradicts
 * the map is found before anything would have to be reverted, and each node is hashed once, however many
 * changes are below it.
 *
 * @param root id of the root before; 0 for the empty map
 * @param changes at most one for each path, sorted by path
 * @throws TrieError `TRIE_KEY_EXISTS`, `TRIE_KEY_MISSING`
 */
export function editTrie(root: number, changes: readonly KeyChange[], load: LoadNode): Edit {
  const superseded: number[] = []

  /** Opens a node for changes. A branch is rewritten even if only its position changes; a leaf is not. */
  function open(id: number, path: Uint8Array, depth: number): Node {
    const node = load(id, path, depth)
    if (node.kind === 'branch') superseded.push(id)
    return node
  }

  /** @param path a path that leads through the child */
  function openChild(branch: Branch, nibble: number, path: Uint8Array): Node | undefined {
    if ((branch.mask & (1 << nibble)) === 0) return undefined
    return branch.changed[nibble] ?? open(branch.ids[nibble] ?? 0, path, branch.fork + 1)
  }

  function edit(node: Node | undefined, own: readonly KeyChange[], depth: number): Node | undefined {
    if (node === undefined) return join(insertedLeaves(own), depth)
    if (node.kind === 'leaf') return join(editLeaf(node, own), depth)
    return editBranch(node, own, depth)
  }

  function editLeaf(leaf: Leaf, own: readonly KeyChange[]): Leaf[] {
    const target = own.find((change) => equalBytes(change.path, leaf.path))
    if (target === undefined) return [...insertedLeaves(own), leaf].sort(byPath)
    if (!target.present) throw keyExists(target.key)
    superseded.push(leaf.id)
    target.before = leaf.valueHash
    return insertedLeaves(own.map((change) => (change === target ? { ...change, present: false } : change)))
  }

  function editBranch(branch: Branch, own: readonly KeyChange[], depth: number): Node | undefined {
    const isBelow = (change: KeyChange | undefined): boolean =>
      change !== undefined && divergence(change.path, branch.path, depth) >= branch.fork
    // They are sorted: if the first and the last are below the branch, all are.
    if (isBelow(own[0]) && isBelow(own.at(-1))) return editChildren(branch, own)
    const below = own.filter(isBelow)
    const node = below.length === 0 ? branch : editChildren(branch, below)
    const beside = insertedLeaves(own.filter((change) => !isBelow(change)))
    return join(node === undefined ? beside : [...beside, node].sort(byPath), depth)
  }

  function editChildren(branch: Branch, own: readonly KeyChange[]): Node | undefined {
    for (const { nibble, path, items } of groupByNibble(own, branch.fork)) {
      setChild(branch, nibble, edit(openChild(branch, nibble, path), items, branch.fork + 1))
    }
    const children = countChildren(branch.mask)
    if (children === 0) return undefined
    if (children > 1) return branch
    const nibble = firstChild(branch.mask)
    return openChild(branch, nibble, extendPath(branch.path, branch.fork, Uint8Array.of(nibble)))
  }

  return { root: edit(root === 0 ? undefined : open(root, new Uint8Array(32), 0), changes, 0), superseded }
}

function insertedLeaves(changes: readonly KeyChange[]): Leaf[] {
  const leaves: Leaf[] = []
  for (const { path, key, present, valueHash } of changes) {
    if (present) throw keyMissing(key)
    if (valueHash !== undefined) leaves.push({ kind: 'leaf', id: 0, path, valueHash })
  }
  return leaves
}

/** Joins sibling nodes, sorted by path and none an ancestor of another, into one. */
function join(nodes: readonly Node[], depth: number): Node | undefined {
  const [first] = nodes
  const last = nodes.at(-1)
  if (first === undefined || last === undefined || first === last) return first
  const branch = createBranch(first.path, divergence(first.path, last.path, depth))
  for (const { nibble, items } of groupByNibble(nodes, branch.fork)) {
    setChild(branch, nibble, join(items, branch.fork + 1))
  }
  return branch
}

interface Group<T> {
  nibble: number
  /** The path of the first item; all items share it up to the nibble. */
  path: Uint8Array
  items: T[]
}

/** Splits a sorted list where the nibble at `index` of the paths changes. */
function groupByNibble<T extends { path: Uint8Array }>(sorted: readonly T[], index: number): Group<T>[] {
  const groups: Group<T>[] = []
  let group: Group<T> | undefined
  for (const item of sorted) {
    const nibble = nibbleAt(item.path, index)
    if (group === undefined || group.nibble !== nibble) {
      group = { nibble, path: item.path, items: [] }
      groups.push(group)
    }
    group.items.push(item)
  }
  return groups
}

function byPath(a: Node, b: Node): number {
  return compareBytes(a.path, b.path)
}
