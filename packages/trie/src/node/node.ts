import { allocate, hashLength } from '../hash/memory.js'

/** A key with its value: `path` and `valueHash` are 32 bytes each. The leaf's position is not part of it. */
export interface Leaf {
  kind: 'leaf'
  /** The store's id of the leaf; 0 until it is stored. */
  id: number
  path: Uint8Array
  valueHash: Uint8Array
}

/**
 * A node with at least two children, open for changes. It records where it forks, not where it starts: its
 * prefix is the nibbles of `path` between its parent's fork and its own, so a move changes nothing here.
 */
export interface Branch {
  kind: 'branch'
  /** A path whose first `fork` nibbles all its children share; the rest is unspecified. */
  path: Uint8Array
  /** Index of the nibble in which the children differ. */
  fork: number
  /** Bit n is set if there is a child under nibble n. */
  mask: number
  /** The store's id of each child; 0 if there is none, or if it is in `changed`. */
  ids: number[]
  /** Sixteen hashes of 32 bytes, in nibble order, zero without a child. Stale for children in `changed`. */
  hashes: Uint8Array
  /** Children that are not yet hashed and stored. */
  changed: (TrieNode | undefined)[]
}

export type TrieNode = Leaf | Branch

/** The maximum number of children of a branch: one for each nibble. */
export const radix = 16

export function createBranch(path: Uint8Array, fork: number): Branch {
  return {
    kind: 'branch',
    path,
    fork,
    mask: 0,
    ids: new Array<number>(radix).fill(0),
    hashes: allocate(radix * hashLength),
    changed: new Array<TrieNode | undefined>(radix).fill(undefined),
  }
}

/** Sets the child under `nibble` to one that is not hashed yet, or removes it. */
export function setChild(branch: Branch, nibble: number, child: TrieNode | undefined): void {
  branch.changed[nibble] = child
  branch.ids[nibble] = 0
  branch.hashes.fill(0, nibble * hashLength, (nibble + 1) * hashLength)
  if (child === undefined) branch.mask &= ~(1 << nibble)
  else branch.mask |= 1 << nibble
}

/** The number of bits that are set in a branch's mask. */
export function countChildren(mask: number): number {
  let count = 0
  for (let rest = mask; rest !== 0; rest &= rest - 1) count += 1
  return count
}

/** The index of the lowest bit that is set in `mask`. */
export function firstChild(mask: number): number {
  return 31 - Math.clz32(mask & -mask)
}
