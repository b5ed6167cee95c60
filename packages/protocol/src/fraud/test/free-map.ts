import { fromHex } from '@ratatosk/cbor'
import { blake2b256 } from '@ratatosk/ledger'
import {
  extendPath,
  type MapLeaf,
  type MapNode,
  nibbleAt,
  nibblesOf,
  nodeHash,
  type ProofStep,
  pathLength,
  stepAway,
  stepBeside,
  type TrieView,
} from '@ratatosk/trie'

/** A node of a map whose owner keeps no rule: any path, any number of children. */
export type FreeNode = MapLeaf | FreeBranch

export interface FreeBranch {
  readonly kind: 'branch'
  /** Its first `fork` nibbles are those of what is below. */
  readonly path: Uint8Array
  readonly fork: number
  /** By nibble; 32 bytes instead of a node are a hash that no one can open. */
  readonly below: readonly (FreeNode | Uint8Array | undefined)[]
}

export const leafAt = (path: Uint8Array, value = 1): MapLeaf => ({
  kind: 'leaf',
  path,
  valueHash: new Uint8Array(32).fill(value),
})

/** Those of the outputs of a map by hex key. */
export const leavesOf = (outputs: ReadonlyMap<string, Uint8Array>): MapLeaf[] =>
  Array.from(outputs, ([key, output]) => ({
    kind: 'leaf',
    path: blake2b256(fromHex(key)),
    valueHash: blake2b256(output),
  }))

/** The node that a map of these leaves has below `depth` nibbles. */
export function nodeOf(leaves: readonly MapLeaf[], depth = 0): FreeNode | undefined {
  const [first, second] = leaves
  if (first === undefined || second === undefined) return first
  let fork = depth
  while (leaves.every(({ path }) => nibbleAt(path, fork) === nibbleAt(first.path, fork))) fork++
  const below = Array.from({ length: 16 }, (_, nibble) =>
    nodeOf(
      leaves.filter(({ path }) => nibbleAt(path, fork) === nibble),
      fork + 1,
    ),
  )
  return { kind: 'branch', path: first.path, fork, below }
}

/** The part of a trie's view that questions need, over any nodes. */
export type FreeMap = Pick<TrieView, 'root' | 'nodeAt' | 'openPath' | 'sizeAt'>

/** Hashes of nodes, by the depth below which each was last. False maps share most nodes with the true one. */
const hashes = new WeakMap<FreeNode, { readonly depth: number; readonly hash: Uint8Array }>()

export function freeMap(top: FreeNode | undefined): FreeMap & TrieView {
  const hashOf = (node: FreeNode | Uint8Array | undefined, depth: number): Uint8Array => {
    if (node === undefined) return new Uint8Array(32)
    if (node instanceof Uint8Array) return node
    const known = hashes.get(node)
    if (known?.depth === depth) return known.hash
    const hash = nodeHash(opened(node), depth)
    hashes.set(node, { depth, hash })
    return hash
  }
  const opened = (node: FreeNode): MapNode => {
    if (node.kind === 'leaf') return node
    const { path, fork, below } = node
    const children = Uint8Array.from(below.flatMap((child) => [...hashOf(child, fork + 1)]))
    return { kind: 'branch', path, fork, children }
  }
  const reaches = ({ path }: FreeNode, other: Uint8Array, depth: number): boolean =>
    Array.from({ length: depth }, (_, at) => at).every((at) => nibbleAt(path, at) === nibbleAt(other, at))
  const find = (path: Uint8Array, depth: number): FreeNode | undefined => {
    let node: FreeNode | Uint8Array | undefined = top
    while (node !== undefined && !(node instanceof Uint8Array)) {
      if (node.kind === 'leaf' || node.fork >= depth) return reaches(node, path, depth) ? node : undefined
      if (!reaches(node, path, node.fork)) return undefined
      node = node.below[nibbleAt(path, node.fork)]
    }
    return undefined
  }
  const map: FreeMap = {
    root: hashOf(top, 0),
    nodeAt(path, depth) {
      const node = find(path, depth)
      return node && opened(node)
    },
    openPath(path) {
      const proof: ProofStep[] = []
      let [node, depth] = [top, 0]
      while (node?.kind === 'branch' && reaches(node, path, node.fork)) {
        const branch = opened(node)
        if (branch.kind !== 'branch') break
        proof.push(stepBeside(branch, depth, nibbleAt(path, node.fork)))
        depth = node.fork + 1
        const child: FreeNode | Uint8Array | undefined = node.below[nibbleAt(path, node.fork)]
        if (child instanceof Uint8Array) throw new RangeError('No one can open a node')
        node = child
      }
      if (node?.kind === 'leaf' && reaches(node, path, pathLength)) return { hash: node.valueHash, proof }
      return { proof: node === undefined ? proof : [...proof, stepAway(opened(node), depth, path)] }
    },
    sizeAt(path, depth, most) {
      const count = (node: FreeNode | Uint8Array | undefined): number => {
        if (node === undefined || node instanceof Uint8Array) return 0
        return node.kind === 'leaf' ? 1 : node.below.reduce<number>((sum, child) => sum + count(child), 0)
      }
      return Math.min(most, count(find(path, depth)))
    },
  }
  return map as FreeMap & TrieView
}

/** A path that begins with some nibbles and goes on with those of another. */
export const pathFrom = (nibbles: readonly number[], rest: Uint8Array): Uint8Array => {
  const path = extendPath(rest, 0, Uint8Array.from(nibbles))
  if (path === rest) return rest
  const size = (nibbles.length + 1) >> 1
  path.set(rest.subarray(size), size)
  if (nibbles.length % 2 === 1) path[size - 1] = (path[size - 1]! & 0xf0) | (rest[size - 1]! & 0x0f)
  return path
}

/**
 * A map with branches down to each leaf with a path that is chosen, at each of the first `levels` nibbles
 * (there is room for 62). Beside each is a branch whose children no one can show.
 */
export function deepened(
  node: FreeNode | Uint8Array | undefined,
  isChosen: (path: Uint8Array) => boolean = () => true,
  levels = 62,
  depth = 0,
): FreeNode {
  if (node === undefined || node instanceof Uint8Array)
    throw new Error('The map has a child that is not known')
  if (node.kind === 'branch') {
    const below = node.below.map((child) =>
      child === undefined || child instanceof Uint8Array
        ? child
        : deepened(child, isChosen, levels, node.fork + 1),
    )
    return { ...node, below }
  }
  if (!isChosen(node.path)) return node
  const way = node.path
  const branch = (
    path: Uint8Array,
    fork: number,
    below: ReadonlyMap<number, FreeNode | Uint8Array>,
  ): FreeNode => ({
    kind: 'branch',
    path,
    fork,
    below: Array.from({ length: 16 }, (_, place) => below.get(place)),
  })
  let deep: FreeNode = node
  for (let fork = levels - 1; fork >= depth; fork--) {
    const own = nibbleAt(way, fork)
    const children = [1, 2].map((each) => [each, blake2b256(Uint8Array.of(fork, each))] as const)
    const away = pathFrom([...nibblesOf(way, 0, fork), own ^ 1], way)
    deep = branch(
      way,
      fork,
      new Map<number, FreeNode | Uint8Array>([
        [own, deep],
        [own ^ 1, branch(away, fork + 1, new Map(children))],
      ]),
    )
  }
  return deep
}
