/** A block of the archive, without its body. */
export interface ArchivedBlock {
  /** 28 bytes. */
  readonly headerHash: Uint8Array
  /** The first block's is 1. */
  readonly height: bigint
  /** Plutus data CBOR of the ten fields. */
  readonly header: Uint8Array
  /** Whether it has been merged on layer 1: then it stays for good. */
  readonly merged: boolean
}

export interface NewArchivedBlock extends ArchivedBlock {
  /** CBOR as docs/block-body.md describes it; under 250 MB. */
  readonly body: Uint8Array
}

/** The blocks whose bodies this node keeps for others: one chain, its heights without a gap. */
export interface Archive {
  byHash(headerHash: Uint8Array): Promise<ArchivedBlock | undefined>
  byHeight(height: bigint): Promise<ArchivedBlock | undefined>
  /** By ascending height, `from` and `to` included. */
  range(from: bigint, to: bigint): Promise<ArchivedBlock[]>
  /** The block of the greatest height. */
  tip(): Promise<ArchivedBlock | undefined>
  /**
   * A block's body in pieces, each read when it is asked for.
   *
   * @throws StoreError `STORE_CONFLICT` where the block is not there, or is removed on the way
   */
  body(headerHash: Uint8Array): AsyncIterable<Uint8Array>
  /**
   * Appends blocks, all or none.
   *
   * @throws StoreError `STORE_CONFLICT` where their heights do not go on from the tip's, or a hash is there already
   */
  put(blocks: readonly NewArchivedBlock[]): Promise<void>
  /** Marks every block up to this height as merged. */
  markMerged(height: bigint): Promise<void>
  /**
   * Takes out every block from this height on.
   *
   * @throws StoreError `STORE_CONFLICT` where one of them has been merged
   */
  removeFrom(height: bigint): Promise<void>
}
