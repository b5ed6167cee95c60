/** A block of an archive, without its body. */
export interface ArchivedBlock {
  /** 28 bytes. */
  readonly headerHash: Uint8Array
  /** The first block's is 1. */
  readonly height: bigint
  /** Plutus data CBOR of the ten fields: what the hash is taken of. */
  readonly header: Uint8Array
  /** Merged into the confirmed state: it stays for good, and so does its height. */
  readonly merged: boolean
}

/**
 * What the plugin asks of an archive, satisfied by shape: by `Store.archive`, by {@link archiveOfBlocks}, or by something of
 * yours.
 */
export interface Archive {
  byHash(headerHash: Uint8Array): Promise<ArchivedBlock | undefined>
  byHeight(height: bigint): Promise<ArchivedBlock | undefined>
  /** By ascending height, `from` and `to` included; heights that are not there are left out. */
  range(from: bigint, to: bigint): Promise<readonly ArchivedBlock[]>
  /** The canonical CBOR of a block's body, in pieces; fails where the block is not there. */
  body(headerHash: Uint8Array): AsyncIterable<Uint8Array>
}
