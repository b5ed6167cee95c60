/** The statement of a proof about one branch on the path from the root to a key. */
export type ProofStep = BranchStep | ForkStep | LeafStep

/** A branch with two or more children besides the one on the path. */
export interface BranchStep {
  type: 'branch'
  /** Length of the branch's prefix in nibbles. */
  skip: number
  /** Four hashes, 128 bytes: the siblings in the Merkle tree of sixteen, from the half of eight down. */
  neighbors: Uint8Array
}

/** A branch whose only other child is a branch. */
export interface ForkStep {
  type: 'fork'
  /** Length of the prefix in nibbles. */
  skip: number
  neighbor: {
    /** The nibble (0–15) of the neighbour. */
    nibble: number
    /** The neighbour's own prefix, one nibble per byte. */
    prefix: Uint8Array
    /** The Merkle root of the neighbour's children, 32 bytes. */
    root: Uint8Array
  }
}

/** A branch whose only other child is a leaf. */
export interface LeafStep {
  type: 'leaf'
  /** Length of the prefix in nibbles. */
  skip: number
  neighbor: {
    /** The neighbour's whole path, 32 bytes. */
    key: Uint8Array
    /** The hash of the neighbour's value, 32 bytes. */
    value: Uint8Array
  }
}

/**
 * Determines the root of a map with a key and of the same map without it: one step for each branch on the
 * path, from the root down. The proof of an absent key is the proof that the key would have if it were
 * inserted.
 */
export type Proof = readonly ProofStep[]
