import { blake2b256 } from '@ratatosk/ledger'
import { nibbleAt, nibblesOf } from '@ratatosk/trie'
import type { Draw } from '../fraud/draw.js'
import { type FreeBranch, type FreeNode, leafAt, nodeOf, pathFrom } from './free-map.js'

/*
 * The nodes that an operator can put in the place of one of a true map, whose root then is false.
 */

const branchOver = (
  path: Uint8Array,
  fork: number,
  below: ReadonlyMap<number, FreeBranch['below'][number]>,
) =>
  ({
    kind: 'branch',
    path,
    fork,
    below: Array.from({ length: 16 }, (_, nibble) => below.get(nibble)),
  }) as const

/** The nibble beside that of a path. */
const beside = (path: Uint8Array, index: number): number => nibbleAt(path, index) ^ 1

/** A path that leaves another at a nibble, and whose key no one knows. */
const leaving = (path: Uint8Array, index: number): Uint8Array =>
  pathFrom([...nibblesOf(path, 0, index), beside(path, index)], blake2b256(Uint8Array.of(index, ...path)))

type Falsify = (
  node: FreeNode | undefined,
  depth: number,
  path: Uint8Array,
) => FreeNode | Uint8Array | undefined

/** By name. Each replaces the node below `depth` nibbles of `path`. */
export const falsehoods: { readonly [name: string]: Falsify } = {
  'is missing': () => undefined,
  'are random bytes': (_node, depth, path) => blake2b256(Uint8Array.of(depth, ...path)),
  'is a leaf without a key': (_node, depth, path) => leafAt(leaving(path, Math.max(depth, 20))),
  'is another value at the path': (_node, _depth, path) => leafAt(path, 9),
  'has a leaf without a key beside it': (node, depth, path) =>
    node?.kind === 'leaf'
      ? nodeOf([node, leafAt(leaving(node.path, Math.max(depth, 40)))], depth)
      : leafAt(path),
  'is at the end of branches down to nibble 63, each with a leaf': (_node, depth, path) =>
    nodeOf(
      [leafAt(path), ...Array.from({ length: 64 - depth }, (_, i) => leafAt(leaving(path, depth + i)))],
      depth,
    ),
  'is at the end of branches down to nibble 63, each with random bytes': (_node, depth, path) => {
    let below: FreeNode = leafAt(path)
    for (let fork = 63; fork >= depth; fork--)
      below = branchOver(
        path,
        fork,
        new Map<number, FreeNode | Uint8Array>([
          [nibbleAt(path, fork), below],
          [beside(path, fork), blake2b256(Uint8Array.of(fork))],
        ]),
      )
    return below
  },
  'is below a branch with one child': (node, depth, path) =>
    branchOver(path, depth, new Map([[nibbleAt(path, depth), sunk(node, depth, path)]])),
  'is a branch without children': (_node, depth, path) => branchOver(path, depth, new Map()),
  'is a branch with another prefix': (node, depth, path) =>
    node?.kind === 'branch'
      ? { ...node, path: leaving(node.path, depth), fork: Math.max(node.fork, depth + 1) }
      : leafAt(leaving(path, depth + 1)),
  'is a leaf whose path a branch could imitate': (_node, depth, path) =>
    leafAt(pathFrom([...nibblesOf(path, 0, Math.max(depth, 16))], new Uint8Array(32))),
}

/** The node below a branch with one child: the same node or, of a branch that forks there, its child. */
function sunk(node: FreeNode | undefined, depth: number, path: Uint8Array): FreeNode | Uint8Array {
  const below = node?.kind === 'branch' && node.fork === depth ? node.below[nibbleAt(path, depth)] : node
  return below ?? leafAt(path)
}

/** The map with another node on a path, at most `levels` branches deep. */
export function falsified(
  top: FreeNode | undefined,
  path: Uint8Array,
  levels: number,
  falsify: Falsify,
  depth = 0,
): FreeNode | Uint8Array | undefined {
  const nibbles = top === undefined ? 0 : top.kind === 'leaf' ? 64 : top.fork
  const follows = Array.from({ length: nibbles }, (_, at) => at).every(
    (at) => at < depth || nibbleAt(top?.path ?? path, at) === nibbleAt(path, at),
  )
  if (levels === 0 || top?.kind !== 'branch' || !follows) return falsify(top, depth, path)
  const own = nibbleAt(path, top.fork)
  const child = top.below[own]
  const below = top.below.slice()
  below[own] = falsified(
    child instanceof Uint8Array ? undefined : child,
    path,
    levels - 1,
    falsify,
    top.fork + 1,
  )
  return { ...top, below }
}

/** A path to falsify: of an entry, or one that leaves it anywhere near the top. */
export function drawnPath(draw: Draw, paths: readonly Uint8Array[]): Uint8Array {
  const path = paths[draw(paths.length)]!
  return draw(3) === 0 ? leaving(path, draw(6)) : path
}
