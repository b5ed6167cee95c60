/** What a proof tells about one branch on the way from the root to a key. */
export type ProofStep = BranchStep | ForkStep | LeafStep

/** A branch with two or more children beside the path. */
export interface BranchStep {
  type: 'branch'
  /** Length of the branch's prefix in nibbles. */
  skip: number
  /** Four hashes, 128 bytes: the siblings in the Merkle tree of sixteen, from the half of eight downwards. */
  neighbors: Uint8Array
}

/** A branch whose only child beside the path is a branch. */
export interface ForkStep {
  type: 'fork'
  /** Length of the prefix in nibbles. */
  skip: number
  neighbor: {
    /** The nibble (0–15) under which the neighbour is. */
    nibble: number
    /** The neighbour's own prefix, a nibble a byte. */
    prefix: Uint8Array
    /** The Merkle root of the neighbour's children, 32 bytes. */
    root: Uint8Array
  }
}

/** A branch whose only child beside the path is a leaf. */
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
 * What it takes to compute the root of a map with a key, and of the same map without it: one step for each branch on
 * the way, from the root downwards. The proof of a key that is absent is the one that it would have, were it inserted.
 */
export type Proof = readonly ProofStep[]
