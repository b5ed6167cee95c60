/** A state of the map that can be gone back to. */
export interface Version {
  /** Grows with each update and is never given twice, not even after an undo. */
  readonly sequence: number
  /** The root hash, 32 bytes. */
  readonly root: Uint8Array
  /** Where the root node is; 0 for the empty map. */
  readonly node: number
  /** How many keys the map holds. */
  readonly size: number
}

/** The state of the map that an update leads to. */
export type Outcome = Omit<Version, 'sequence'>

/** Takes the bytes of a node (they are copied) and answers its id, a positive integer below 2^48. */
export type WriteNode = (bytes: Uint8Array) => number

/**
 * Keeps the nodes of a trie and the line of versions that they belong to. Nodes never change: an update adds nodes
 * and names those that it no longer uses, which live on as long as an older version is kept.
 *
 * Whatever a method does, it does as a whole or not at all.
 */
export interface TrieStore {
  /** The newest version. There always is one: at first the empty map. */
  readonly head: Version
  /** The versions that are kept, oldest first, `head` last. */
  readonly versions: readonly Version[]
  /** The bytes of a node, valid until the next call of any method. */
  read(id: number): Uint8Array
  /**
   * Adds a version, then forgets the oldest until at most `keep` (1 or more) are left.
   *
   * @param superseded nodes of the version before that the new one does not use
   */
  commit(superseded: readonly number[], keep: number, write: (write: WriteNode) => Outcome): void
  /** Adds a version and forgets every version and node from before. */
  replace(write: (write: WriteNode) => Outcome): void
  /** Removes the newest versions until the one with this sequence number, which must be kept, is `head`. */
  undo(sequence: number): void
  /** Forgets the oldest versions until at most `keep` (1 or more) are left. */
  prune(keep: number): void
  /** Frees what the store holds. Nothing may be called afterwards. */
  close(): Promise<void>
}
