/** Bounds that hold whatever the bytes claim. */
export interface CborLimits {
  /** Arrays, maps, tags and indefinite strings inside each other. */
  readonly maxDepth: number
  /** Bytes in all. */
  readonly maxLength: number
  /** Items in all, chunks of strings included. */
  readonly maxItems: number
}

/**
 * Depth: the deepest thing that real transactions carry is Plutus data, where a constructor takes two levels (its tag and
 * its array); lists built by hand of nested constructors reach some hundreds. 1,024 leaves room, and keeps whatever walks the decoded
 * structure by recursion far from the end of its stack. Length: a block of layer 1 has at most 90,112 bytes.
 */
export const defaultLimits: CborLimits = {
  maxDepth: 1024,
  maxLength: 16 * 1024 * 1024,
  maxItems: 4 * 1024 * 1024,
}
