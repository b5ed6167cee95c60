import type { Lease } from '../types.js'

/**
 * Where a block stands. `built`: its row and its layer-1 transaction are durable, nothing was sent. `submitted`: layer 1 has taken
 * the transaction. `committed`: it is in the state queue. `mature`: its window is over. `merged`: it is in the confirmed state.
 * `removed`: it is in the state queue no more; its transactions are in the mempool, in another block, or gone with a reset.
 */
export type BlockState = 'built' | 'submitted' | 'committed' | 'mature' | 'merged' | 'removed'

/** A signed layer-1 transaction, kept before it is sent. */
export interface StoredTransaction {
  /** 32 bytes. */
  readonly id: Uint8Array
  readonly cbor: Uint8Array
}

/** A transaction of the mempool or of a block. */
export interface OrderedTransaction {
  /** Its place in the order of acceptance. */
  readonly sequence: bigint
  /** 32 bytes. */
  readonly id: Uint8Array
  readonly cbor: Uint8Array
}

/** What the store needs of a header; times are POSIX milliseconds. */
export interface BlockHeader {
  /** 28 bytes. */
  readonly headerHash: Uint8Array
  /** Plutus data CBOR of the ten fields. */
  readonly header: Uint8Array
  /** 28 bytes; of the first block, zeros. */
  readonly previousHeaderHash: Uint8Array
  /** Of the ledger after the block, 32 bytes. */
  readonly utxosRoot: Uint8Array
  readonly startTime: bigint
  readonly endTime: bigint
}

export interface NewBlock extends BlockHeader {
  /** The oldest of the mempool, as {@link Blocks.oldest} gave them: first and last sequence, and how many. */
  readonly firstSequence: bigint
  readonly lastSequence: bigint
  readonly transactions: number
  readonly commitTransaction: StoredTransaction
}

export interface Block extends NewBlock {
  /** The first block's is 1. */
  readonly height: bigint
  readonly state: BlockState
  readonly mergeTransaction?: StoredTransaction
  /** By the database's clock. */
  readonly builtAt: Date
  readonly mergedAt?: Date
}

/** How many transactions a block has, for people. */
export interface BlockCount {
  readonly height: bigint
  readonly state: BlockState
  readonly headerHash: Uint8Array
  readonly transactions: number
}

/** An unspent output without what it is found by. */
export interface UnspentOutput {
  /** 32 bytes. */
  readonly transactionId: Uint8Array
  readonly index: number
  readonly output: Uint8Array
}

/**
 * The life of blocks. What changes something takes the lease under which it happens and is one SQL transaction; it rejects with
 * StoreError `STORE_LEASE_LOST`, and changes nothing, where that lease has expired or was taken by another.
 */
export interface Blocks {
  /** The oldest transactions of the mempool, in order; as many as asked for, or while their CBOR is no more than `maxBytes`, one at least. */
  oldest(limit: number, maxBytes?: number): Promise<OrderedTransaction[]>
  /** How many transactions wait in the mempool, counted up to `limit`. */
  waiting(limit: number): Promise<number>

  /** The newest block that is not removed. */
  newest(): Promise<Block | undefined>
  /** The newest merged block. */
  confirmed(): Promise<Block | undefined>
  /** Blocks that are neither merged nor removed, the oldest first. */
  unmerged(): Promise<Block[]>
  /** Removed blocks are found too. */
  byHash(headerHash: Uint8Array): Promise<Block | undefined>
  /** Removed blocks are not found. */
  byHeight(height: bigint): Promise<Block | undefined>
  /** Headers of blocks that are not removed, by ascending height, `from` and `to` included. */
  range(from: bigint, to: bigint): Promise<Block[]>
  /**
   * CBOR of a block's transactions in its order; of a removed block, none. A page begins behind the first `after` of them (0 unless
   * told) and has no more than `limit` (all unless told).
   */
  transactionsOf(
    headerHash: Uint8Array,
    page?: { readonly after?: number; readonly limit?: number },
  ): Promise<Uint8Array[]>
  /** The newest blocks that are not removed, newest first. */
  counts(limit: number): Promise<BlockCount[]>

  /**
   * Puts the oldest transactions of the mempool into a new block, state `built`. A removed block with the same header hash makes room.
   *
   * @throws StoreError `STORE_CONFLICT` where the newest block is not the one before it, or those transactions are not the oldest
   */
  build(block: NewBlock, lease: Lease): Promise<Block>
  /** Sets the state of blocks, forwards or backwards; for `removed` there are the methods below. Unknown blocks: `STORE_CONFLICT`. */
  setState(
    headerHashes: readonly Uint8Array[],
    state: Exclude<BlockState, 'removed'>,
    lease: Lease,
  ): Promise<void>
  /** Keeps the transaction that is to merge a block, before it is sent; in the place of an earlier one. */
  setMergeTransaction(headerHash: Uint8Array, transaction: StoredTransaction, lease: Lease): Promise<void>
  /**
   * Removes the unmerged blocks from a height on and puts their transactions back into the mempool, where they are the oldest again.
   * The ledger stays as it is. Returns the blocks, the oldest first.
   */
  returnToMempool(fromHeight: bigint, lease: Lease): Promise<Block[]>
  /**
   * Takes a removed block back, state `committed`: layer 1 has it after all. Only where the newest block is the one before it and the
   * mempool begins with its transactions; otherwise `STORE_CONFLICT`.
   */
  revive(headerHash: Uint8Array, lease: Lease): Promise<Block>
  /** Forgets the spent outputs of blocks that were merged before a moment: nothing that removes a block asks for them again. */
  forgetSpent(mergedBefore: Date, lease: Lease): Promise<number>
  /** Empties blocks, mempool, ledger, history, dead letters and genesis. Everything else stays, the leases too. */
  reset(lease: Lease): Promise<void>

  /**
   * The unspent outputs after the newest block, in no particular order: what the trie of outputs is rebuilt from. They are those of
   * the moment at which the reading began, in pieces of some thousands. Nothing waits for the reader, however long it takes; let
   * neither {@link Blocks.forgetSpent} nor {@link Blocks.reset} run before it has ended.
   */
  utxosAfterNewest(): AsyncIterable<readonly UnspentOutput[]>
}
