/** A version of the map, which can be read and reverted to. */
export interface Version {
  /** Increases with each update and is never reused, not even after an undo. */
  readonly sequence: number
  /** The root hash, 32 bytes. */
  readonly root: Uint8Array
  /** The id of the root node; 0 for the empty map. */
  readonly node: number
  /** The number of keys. */
  readonly size: number
}

/** The version that an update creates. */
export type NewVersion = Omit<Version, 'sequence'>

/** Stores a copy of a node's bytes and returns its id, a positive integer below 2^48. */
export type WriteNode = (bytes: Uint8Array) => number

/** Nodes that will be all of a store. */
export interface Replacement {
  readonly write: WriteNode
  /** Adds the version of these nodes, and forgets every earlier version and node. */
  finish(version: NewVersion): void
}

/**
 * Keeps the nodes of a trie and its versions. Nodes never change: an update adds nodes and names those that
 * it no longer uses, which are kept as long as an older version is.
 *
 * Every method is atomic.
 */
export interface TrieStore {
  /** The newest version. A new store has one, the empty map. */
  readonly head: Version
  /** The kept versions, oldest first, `head` last. */
  readonly versions: readonly Version[]
  /** The bytes of a node, valid until the next call of any method. */
  read(id: number): Uint8Array
  /**
   * Adds a version, then forgets the oldest until at most `keep` (1 or more) remain.
   *
   * @param superseded nodes of the previous version that the new one does not use
   */
  commit(superseded: readonly number[], keep: number, write: (write: WriteNode) => NewVersion): void
  /** Adds a version and forgets every earlier version and node. */
  replace(write: (write: WriteNode) => NewVersion): void
  /**
   * {@link TrieStore.replace} in several turns of the event loop, for a store that can: nothing changes until
   * it is finished.
   */
  stage?(): Replacement
  /** Removes the newest versions until the kept one with this sequence number is `head`. */
  undo(sequence: number): void
  /** Forgets the oldest versions until at most `keep` (1 or more) remain. */
  prune(keep: number): void
  /**
   * Frees nodes that only forgotten versions used, if the store leaves that to its user.
   *
   * @param limit the number of nodes after which it stops
   * @returns how many are left that are worth it
   */
  free(limit: number): number
  /** Frees the store's resources. It must not be used afterwards. */
  close(): Promise<void>
}
