import { blake2b256 } from '#hash'
import { keyExists, keyMissing } from './errors.js'
import { countKeys, findValueHash } from './node/codec.js'
import { findNode, type MapNode, mapNodeOf } from './proof/map-node.js'
import type { Proof } from './proof/proof.js'
import { type Walk, walk } from './proof/prove.js'
import type { TrieStore, Version } from './store/store.js'
import type { LoadNode } from './update/edit.js'

/** One version of an authenticated map. */
export interface TrieView {
  /** The root hash, 32 bytes; `emptyRoot()` for the empty map. */
  readonly root: Uint8Array
  /** The number of keys. */
  readonly size: number
  /** Whether the map has the key. */
  has(key: Uint8Array): boolean
  /**
   * The Blake2b-256 of the key's value; undefined if the key is absent. The map does not hold the values
   * themselves.
   */
  valueHash(key: Uint8Array): Uint8Array | undefined
  /**
   * Proves that a key is in the map.
   *
   * @throws TrieError `TRIE_KEY_MISSING`
   */
  prove(key: Uint8Array): Proof
  /**
   * Proves that a key is not in the map. The same proof determines the root after its insertion.
   *
   * @throws TrieError `TRIE_KEY_EXISTS`
   */
  proveAbsence(key: Uint8Array): Proof
  /**
   * The hash of the value at a path, the Blake2b-256 of a key, with its proof; or the proof that no key has
   * this path.
   */
  openPath(path: Uint8Array): { readonly hash?: Uint8Array; readonly proof: Proof }
  /**
   * The node that holds all keys whose paths begin with the first `depth` nibbles of `path`; undefined if
   * there are none.
   */
  nodeAt(path: Uint8Array, depth: number): MapNode | undefined
  /** The number of keys whose paths begin with the first `depth` nibbles of `path`; counts up to `most`. */
  sizeAt(path: Uint8Array, depth: number, most: number): number
}

/** @param version returns the version to read; called by each method */
export function createView(version: () => Version, read: TrieStore['read'], load: LoadNode): TrieView {
  const valueHash = (key: Uint8Array) => findValueHash(read, version().node, blake2b256(key))
  const walkTo = (key: Uint8Array): Walk => walk(version().node, blake2b256(key), load)

  return {
    get root() {
      return Uint8Array.from(version().root)
    },

    get size() {
      return version().size
    },

    has: (key) => valueHash(key) !== undefined,
    valueHash,

    prove(key) {
      const { leaf, steps } = walkTo(key)
      if (leaf === undefined) throw keyMissing(key)
      return steps
    },

    proveAbsence(key) {
      const { leaf, steps } = walkTo(key)
      if (leaf !== undefined) throw keyExists(key)
      return steps
    },

    openPath(path) {
      const { leaf, steps } = walk(version().node, path, load)
      return { ...(leaf && { hash: Uint8Array.from(leaf.valueHash) }), proof: steps }
    },

    nodeAt(path, depth) {
      const found = findNode(version().node, path, depth, load)
      return found && mapNodeOf(found.node)
    },

    sizeAt(path, depth, most) {
      const found = findNode(version().node, path, depth, load)
      return found === undefined ? 0 : countKeys(read, found.id, most)
    },
  }
}
