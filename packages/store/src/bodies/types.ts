/**
 * The bodies of blocks that left the ledger without being merged. Layer 1 may show such a block again after a
 * roll-back: its operator must answer for it then, and perhaps no one else has its body.
 * `returnToMempool` and `undo` of `Blocks` keep them.
 */
export interface Bodies {
  /** CBOR of a block's transactions, in order; undefined if its body is not kept. */
  of(headerHash: Uint8Array): Promise<Uint8Array[] | undefined>
  /** A transaction of a kept body by its id (32 bytes). Its witnesses may be those of any block. */
  transaction(id: Uint8Array): Promise<Uint8Array | undefined>
  /**
   * Deletes the bodies of blocks that ended before a time: POSIX milliseconds. Of blocks that left together,
   * the last end counts: the later ones follow from the earlier ones.
   *
   * @returns how many were deleted
   */
  forget(endedBefore: bigint): Promise<number>
}
