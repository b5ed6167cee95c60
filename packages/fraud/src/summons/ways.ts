import { toHex } from '@ratatosk/cbor'
import { extendPath, type MapBranch, nodeHash, type TrieView } from '@ratatosk/trie'
import { childAt, firstLeaf } from './answer.js'

/** Entries of one part of a map that are asked for at once, at most. */
const mostEntries = 32
/** Entries of a part of a map that are counted, in a second; a larger one is searched by subtrees only. */
const mostCounted = 1 << 20
/** Branches that an answer about a subtree shows, one below the other. */
export const shownLevels = 2

/** Some children of a branch. */
export interface Part {
  /** The nibble of the first. */
  readonly from: number
  /** 1, 2, 4, 8 or 16. */
  readonly size: number
}

const whole: Part = { from: 0, size: 16 }

/** Entries whose ways leave no large part between them. */
interface Ways {
  readonly paths: readonly Uint8Array[]
  /** How many entries there are in the part. */
  readonly keys: number
}

/** By map and part: a search begins again with each answer. */
const known = new WeakMap<TrieView, Map<string, Ways>>()

/**
 * Entries below a part of a branch, such that each part that lies between their ways, and that a proof shows
 * by one hash, has one in {@link mostEntries} of all entries at most. If there are no more than so many: all
 * of them. Those that an answer about the subtree shows are left out.
 */
export function waysBelow(truth: TrieView, branch: MapBranch, part: Part = whole): Ways {
  const ofMap = known.get(truth) ?? new Map<string, Ways>()
  known.set(truth, ofMap)
  const name = [toHex(nodeHash(branch, branch.fork)), part.from, part.size].join()
  const ways = ofMap.get(name) ?? findWays(truth, branch, part)
  ofMap.set(name, ways)
  return ways
}

function findWays(truth: TrieView, top: MapBranch, part: Part): Ways {
  const keys = sumOf(sizesBelow(truth, top), part)
  if (keys > mostCounted) return { paths: [], keys }
  const most = keys / mostEntries
  const paths: Uint8Array[] = []
  const visit = (branch: MapBranch, { from, size }: Part, sizes: readonly number[], level: number): void => {
    if (size === 1) {
      const child = childAt(truth, branch, from)
      if (child?.kind === 'branch') visit(child, whole, sizesBelow(truth, child), level + 1)
      else if (child !== undefined && level >= shownLevels) paths.push(child.path)
      return
    }
    const halves = [from, from + size / 2].map((first) => ({ from: first, size: size / 2 }))
    const heavy = halves.filter((half) => sumOf(sizes, half) > most)
    for (const half of heavy) visit(branch, half, sizes, level)
    if (heavy.length > 0 || level < shownLevels) return
    const nibble = sizes.findIndex((count, at) => count > 0 && at >= from)
    const child = childAt(truth, branch, nibble)
    if (child !== undefined) paths.push(firstLeaf(truth, child).path)
  }
  visit(top, part, sizesBelow(truth, top), 0)
  return { paths, keys }
}

const sumOf = (sizes: readonly number[], { from, size }: Part): number =>
  sizes.slice(from, from + size).reduce((sum, each) => sum + each, 0)

/** How many entries there are below each child. */
function sizesBelow(truth: TrieView, { path, fork }: MapBranch): number[] {
  let left = mostCounted + 1
  return Array.from({ length: 16 }, (_, nibble) => {
    const size = truth.sizeAt(extendPath(path, fork, Uint8Array.of(nibble)), fork + 1, left)
    left -= size
    return size
  })
}
