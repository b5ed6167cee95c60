import { KeyExists, KeyMissing } from '../errors.js'
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
  /** The root of the map after the changes, with the nodes on the way to them open; none where the map is empty. */
  root: Node | undefined
  /** Nodes that the map no longer uses, or that it uses in another form. */
  superseded: number[]
}

/**
 * Works out the shape of a map after changes. Nothing is hashed or written here, so that a change which the map
 * contradicts is found before there is anything to take back, and each node is hashed once, however many of the
 * changes lie below it.
 *
 * @param root id of the root before; 0 for the empty map
 * @param changes one a path at most, sorted by path
 * @throws {KeyExists}
 * @throws {KeyMissing}
 */
export function editTrie(root: number, changes: readonly KeyChange[], load: LoadNode): Edit {
  const superseded: number[] = []

  /** Opens a node for changes. A branch is written anew even if only its place changes; a leaf is not. */
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
    const target = own.find((change) => Buffer.compare(change.path, leaf.path) === 0)
    if (target === undefined) return [...insertedLeaves(own), leaf].sort(byPath)
    if (!target.present) throw new KeyExists(target.key)
    superseded.push(leaf.id)
    return insertedLeaves(own.map((change) => (change === target ? { ...change, present: false } : change)))
  }

  function editBranch(branch: Branch, own: readonly KeyChange[], depth: number): Node | undefined {
    const isBelow = (change: KeyChange | undefined): boolean =>
      change !== undefined && divergence(change.path, branch.path, depth) >= branch.fork
    // Sorted: where the first and the last are, all are.
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
    if (present) throw new KeyMissing(key)
    if (valueHash !== undefined) leaves.push({ kind: 'leaf', id: 0, path, valueHash })
  }
  return leaves
}

/** Makes one node of several that stand side by side, sorted by path, no one of them above another. */
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
  /** The path of the first item: up to the nibble, that of all. */
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
  return Buffer.compare(a.path, b.path)
}
