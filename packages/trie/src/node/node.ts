import { HASH_LENGTH } from '../hash.js'

/** A key with its value. `path` and `valueHash` are 32 bytes each; where the leaf hangs is not part of it. */
export interface Leaf {
  kind: 'leaf'
  /** Where the store keeps it; 0 as long as it does not. */
  id: number
  path: Uint8Array
  valueHash: Uint8Array
}

/**
 * A node with at least two children, open for changes. It says where it forks, not where it begins: its prefix are
 * the nibbles of `path` between its parent's fork and its own, so that moving it up or down changes nothing here.
 */
export interface Branch {
  kind: 'branch'
  /** A path whose first `fork` nibbles all its children share; the rest means nothing. */
  path: Uint8Array
  /** Index of the nibble in which the children differ. */
  fork: number
  /** Bit n is set where there is a child under nibble n. */
  mask: number
  /** Where the store keeps each child; 0 where there is none, or where it is in `changed`. */
  ids: number[]
  /** Sixteen hashes of 32 bytes, in nibble order, zero where there is no child. Stale where `changed` has one. */
  hashes: Buffer
  /** Children that are not yet hashed and written. */
  changed: (Node | undefined)[]
}

export type Node = Leaf | Branch

/** The number of children under each nibble. */
export const RADIX = 16

export function createBranch(path: Uint8Array, fork: number): Branch {
  return {
    kind: 'branch',
    path,
    fork,
    mask: 0,
    ids: new Array<number>(RADIX).fill(0),
    hashes: Buffer.allocUnsafe(RADIX * HASH_LENGTH).fill(0),
    changed: new Array<Node | undefined>(RADIX).fill(undefined),
  }
}

/** Puts a child that is still to be hashed under `nibble`, or, given none, removes the one that is there. */
export function setChild(branch: Branch, nibble: number, child: Node | undefined): void {
  branch.changed[nibble] = child
  branch.ids[nibble] = 0
  branch.hashes.fill(0, nibble * HASH_LENGTH, (nibble + 1) * HASH_LENGTH)
  if (child === undefined) branch.mask &= ~(1 << nibble)
  else branch.mask |= 1 << nibble
}

/** How many bits of a branch's mask are set. */
export function countChildren(mask: number): number {
  let count = 0
  for (let rest = mask; rest !== 0; rest &= rest - 1) count += 1
  return count
}

/** The nibble of the lowest bit that is set in `mask`. */
export function firstChild(mask: number): number {
  return 31 - Math.clz32(mask & -mask)
}
