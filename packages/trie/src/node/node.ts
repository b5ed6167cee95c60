import { storeCorrupt } from '../errors.js'
import {
  allocate,
  copyBytes,
  copyOf,
  hashLength,
  readUint16,
  readUint48,
  writeUint16,
  writeUint48,
} from '../hash/memory.js'
import { extendPath, nibbleAt, pathLength } from '../path.js'

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

/*
 * A node in a store:
 *
 *   leaf    ff │ path (32) │ hash of the value (32)
 *   branch  prefix length (1) │ mask (2) │ prefix (a byte per nibble) │ ids (6 each) │ hashes (32 each)
 *
 * with an id and a hash for each child, in nibble order. Numbers are big-endian.
 */

const leafTag = 0xff
const leafLength = 1 + 2 * hashLength
const branchHeaderLength = 3
/** An id takes six bytes: a store that never reuses ids does not run out of them. */
const idLength = 6
const maxNodeLength = branchHeaderLength + pathLength + radix * (idLength + hashLength)

/** The memory that nodes are encoded in. */
const encoded = allocate(maxNodeLength)
const encodedLeaf = encoded.subarray(0, leafLength)

/** The bytes of a leaf, valid until the next node is encoded. */
export function encodeLeaf({ path, valueHash }: Leaf): Uint8Array {
  encoded[0] = leafTag
  copyBytes(encoded, 1, path, 0, hashLength)
  copyBytes(encoded, 1 + hashLength, valueHash, 0, hashLength)
  return encodedLeaf
}

/** The bytes of a branch whose parent forks just above `depth`, valid until the next node is encoded. */
export function encodeBranch({ path, fork, mask, ids, hashes }: Branch, depth: number): Uint8Array {
  encoded[0] = fork - depth
  writeUint16(encoded, 1, mask)
  let offset = branchHeaderLength
  for (let index = depth; index < fork; index += 1) {
    encoded[offset] = nibbleAt(path, index)
    offset += 1
  }
  for (let nibble = 0; nibble < radix; nibble += 1) {
    if ((mask & (1 << nibble)) === 0) continue
    writeUint48(encoded, offset, ids[nibble] ?? 0)
    offset += idLength
  }
  for (let nibble = 0; nibble < radix; nibble += 1) {
    if ((mask & (1 << nibble)) === 0) continue
    copyBytes(encoded, offset, hashes, nibble * hashLength, hashLength)
    offset += hashLength
  }
  return encoded.subarray(0, offset)
}

/** Decodes the node `id`. `path` is its parent's, with `depth` nibbles known: those before its prefix. */
export function decodeNode(bytes: Uint8Array, id: number, path: Uint8Array, depth: number): TrieNode {
  const head = bytes[0]
  if (head === leafTag && bytes.length === leafLength) {
    return {
      kind: 'leaf',
      id,
      path: copyOf(bytes, 1, hashLength),
      valueHash: copyOf(bytes, 1 + hashLength, hashLength),
    }
  }
  if (head === undefined || depth + head >= pathLength || bytes.length < branchHeaderLength + head) {
    throw storeCorrupt(`node ${id} is neither a leaf nor a branch`)
  }
  return decodeBranch(bytes, id, path, depth, head)
}

function decodeBranch(
  bytes: Uint8Array,
  id: number,
  path: Uint8Array,
  depth: number,
  prefixLength: number,
): Branch {
  let offset = branchHeaderLength + prefixLength
  const branch = createBranch(
    extendPath(path, depth, bytes.subarray(branchHeaderLength, offset)),
    depth + prefixLength,
  )
  branch.mask = readUint16(bytes, 1)
  checkLength(bytes, id, branch.mask, offset)
  let hash = offset + countChildren(branch.mask) * idLength
  for (let nibble = 0; nibble < radix; nibble += 1) {
    if ((branch.mask & (1 << nibble)) === 0) continue
    branch.ids[nibble] = readUint48(bytes, offset)
    offset += idLength
    copyBytes(branch.hashes, nibble * hashLength, bytes, hash, hashLength)
    hash += hashLength
  }
  return branch
}

function checkLength(bytes: Uint8Array, id: number, mask: number, offset: number): void {
  if (bytes.length !== offset + countChildren(mask) * (idLength + hashLength))
    throw storeCorrupt(`node ${id} has the wrong length`)
}

/**
 * The hash of the value at a path, 32 bytes; undefined if the map has no such key. Reads only what leads to
 * the next node: full decoding takes almost twice as long. Without nodes, `root` is 0.
 */
export function findValueHash(
  read: (id: number) => Uint8Array,
  root: number,
  path: Uint8Array,
): Uint8Array | undefined {
  let depth = 0
  for (let id = root; id !== 0; depth += 1) {
    const bytes = read(id)
    const head = bytes[0]
    if (head === leafTag && bytes.length === leafLength) {
      for (let i = 0; i < hashLength; i += 1) if (bytes[1 + i] !== path[i]) return undefined
      // `slice` of a Buffer is a view.
      return new Uint8Array(bytes.subarray(1 + hashLength))
    }
    if (head === undefined || depth + head >= pathLength || bytes.length < branchHeaderLength + head)
      throw storeCorrupt(`node ${id} is neither a leaf nor a branch`)
    const mask = readUint16(bytes, 1)
    const ids = branchHeaderLength + head
    checkLength(bytes, id, mask, ids)
    // The leaf has the whole path, so the prefix need not be compared.
    depth += head
    const nibble = nibbleAt(path, depth)
    if ((mask & (1 << nibble)) === 0) return undefined
    id = readUint48(bytes, ids + countChildren(mask & ((1 << nibble) - 1)) * idLength)
  }
  return undefined
}

/** The number of keys below a node; counts up to `most`. Reads only what leads to other nodes. */
export function countKeys(read: (id: number) => Uint8Array, id: number, most: number): number {
  const bytes = read(id)
  const head = bytes[0]
  if (head === leafTag) return 1
  if (head === undefined) throw storeCorrupt(`node ${id} is neither a leaf nor a branch`)
  const mask = readUint16(bytes, 1)
  const ids = branchHeaderLength + head
  checkLength(bytes, id, mask, ids)
  // A store may use the memory of `bytes` for the next node.
  const below = Array.from({ length: countChildren(mask) }, (_, place) =>
    readUint48(bytes, ids + place * idLength),
  )
  let count = 0
  for (const child of below) if (count < most) count += countKeys(read, child, most - count)
  return count
}
