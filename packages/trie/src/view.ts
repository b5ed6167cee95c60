import { KeyExists, KeyMissing } from './errors.js'
import { blake2b256 } from './hash.js'
import type { NodeHasher } from './node/hasher.js'
import type { Leaf } from './node/node.js'
import type { Proof } from './proof/proof.js'
import { findLeaf, type Walk, walk } from './proof/prove.js'
import type { Version } from './store/store.js'
import type { LoadNode } from './update/edit.js'

/** One state of an authenticated map. */
export interface TrieView {
  /** The root hash, 32 bytes; zeros for the empty map. */
  readonly root: Uint8Array
  /** How many keys the map holds. */
  readonly size: number
  has(key: Uint8Array): boolean
  /** The Blake2b-256 of the key's value, which is all of it that the map holds; undefined where the key is absent. */
  valueHash(key: Uint8Array): Uint8Array | undefined
  /**
   * Proves that a key is in the map.
   *
   * @throws {KeyMissing}
   */
  prove(key: Uint8Array): Proof
  /**
   * Proves that a key is not in the map. The same proof then shows what inserting it leads to.
   *
   * @throws {KeyExists}
   */
  proveAbsence(key: Uint8Array): Proof
}

/** @param version the version to look at, asked for anew by each call */
export function createView(version: () => Version, load: LoadNode, hasher: NodeHasher): TrieView {
  const leafOf = (key: Uint8Array): Leaf | undefined => findLeaf(version().node, blake2b256(key), load)
  const walkTo = (key: Uint8Array): Walk => walk(version().node, blake2b256(key), load, hasher)

  return {
    get root() {
      return Uint8Array.from(version().root)
    },

    get size() {
      return version().size
    },

    has: (key) => leafOf(key) !== undefined,

    valueHash(key) {
      const leaf = leafOf(key)
      return leaf === undefined ? undefined : Uint8Array.from(leaf.valueHash)
    },

    prove(key) {
      const { leaf, steps } = walkTo(key)
      if (leaf === undefined) throw new KeyMissing(key)
      return steps
    },

    proveAbsence(key) {
      const { leaf, steps } = walkTo(key)
      if (leaf !== undefined) throw new KeyExists(key)
      return steps
    },
  }
}
