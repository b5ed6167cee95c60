/** A block of an archive, without its body. */
export interface ArchivedBlock {
  /** 28 bytes. */
  readonly headerHash: Uint8Array
  /** From 1. */
  readonly height: bigint
  /** Plutus data CBOR of the header: the preimage of `headerHash`. */
  readonly header: Uint8Array
  /** Whether the block is merged into the confirmed state. A merged block is final, and so is its height. */
  readonly merged: boolean
}

/**
 * Read access to blocks and their bodies. Implemented by `Store.archive` of `@ratatosk/store` and
 * `archiveOfBlocks` of `@ratatosk/archivist`.
 */
export interface Archive {
  byHash(headerHash: Uint8Array): Promise<ArchivedBlock | undefined>
  byHeight(height: bigint): Promise<ArchivedBlock | undefined>
  /** Blocks by ascending height, `from` and `to` included. Heights that the archive lacks are left out. */
  range(from: bigint, to: bigint): Promise<readonly ArchivedBlock[]>
  /** The canonical CBOR of a block's body, in chunks. Throws when the archive does not have the block. */
  body(headerHash: Uint8Array): AsyncIterable<Uint8Array>
}

/** A block that layer 1 had and that breaks a rule. */
export interface InvalidBlockReport extends ArchivedBlock {
  /** One sentence: the broken rule. */
  readonly reason: string
  /** Position of the transaction that breaks it, from 0; absent when the block as a whole does. */
  readonly position?: number
  readonly foundAt: Date
}

/** Invalid blocks and their bodies, with which anyone can prove the fraud. */
export interface Evidence {
  /** The newest first, at most `limit`. */
  list(limit: number): Promise<readonly InvalidBlockReport[]>
  byHash(headerHash: Uint8Array): Promise<InvalidBlockReport | undefined>
  /** The canonical CBOR of a block's body, in chunks. Throws when it is not kept. */
  body(headerHash: Uint8Array): AsyncIterable<Uint8Array>
}

/** A block to archive. */
export interface NewArchivedBlock extends ArchivedBlock {
  /** Canonical CBOR, less than 250 MB. */
  readonly body: Uint8Array
}

/** An archive that can be extended: one chain of blocks, heights without gaps. */
export interface WritableArchive extends Archive {
  /** The block with the greatest height; undefined when the archive is empty. */
  tip(): Promise<ArchivedBlock | undefined>
  /**
   * Appends blocks durably, all or none. Rejects when their heights do not continue from the tip, or a header
   * hash is taken.
   */
  put(blocks: readonly NewArchivedBlock[]): Promise<void>
  /** Marks every block up to this height as merged. */
  markMerged(height: bigint): Promise<void>
  /** Removes every block from this height on. Rejects when one of them is merged. */
  removeFrom(height: bigint): Promise<void>
}
