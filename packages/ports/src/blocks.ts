/**
 * The state of a block.
 *
 * | state | meaning |
 * | --- | --- |
 * | `built` | the block and its layer-1 transaction are durable; nothing was sent |
 * | `submitted` | layer 1 has accepted the transaction |
 * | `committed` | the block is in the state queue |
 * | `mature` | its maturity window is over |
 * | `merged` | it is in the confirmed state |
 * | `removed` | it is no longer in the state queue |
 *
 * The transactions of a removed block are in the mempool, resubmitted, in another block, or were reset.
 */
export type BlockState = 'built' | 'submitted' | 'committed' | 'mature' | 'merged' | 'removed'

/** How many transactions a block has. */
export interface BlockCount {
  readonly height: bigint
  readonly state: BlockState
  /** 28 bytes. */
  readonly headerHash: Uint8Array
  readonly transactions: number
}

/** The block of an accepted transaction. */
export interface PlacedBlock {
  /** 1 for the first block. */
  readonly height: bigint
  readonly state: Exclude<BlockState, 'removed'>
  /** 28 bytes. */
  readonly headerHash: Uint8Array
  /** End of the block, POSIX milliseconds. */
  readonly endTime: bigint
  /** Id of the layer-1 transaction that commits the block, 32 bytes; absent if another operator did. */
  readonly commitTransactionId?: Uint8Array
  /** Id of the layer-1 transaction that merges the block, 32 bytes, once it is signed. */
  readonly mergeTransactionId?: Uint8Array
}

/** Where an accepted transaction is. */
export interface TransactionPlace {
  readonly acceptedAt: Date
  /** The block that contains it; absent while it is in the mempool. */
  readonly block?: PlacedBlock
  /** Its position in the block, from 0. */
  readonly position?: number
}
