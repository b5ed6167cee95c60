/** A transaction as a store keeps it. */
export interface StoredTransaction {
  /** 64 hex digits. */
  readonly hash: string
  readonly cbor: Uint8Array
  readonly sequence: number
}

export interface StoredBlock {
  readonly height: number
  readonly slot: bigint
  readonly hash: string
  readonly previous: string
  /** The hashes of its transactions, in order. */
  readonly transactions: readonly string[]
}

/** All that a store holds. Blocks by height; empty ones that are deep enough may be missing. */
export interface StoredChain {
  readonly blocks: readonly StoredBlock[]
  /** Those of the blocks and those that wait. */
  readonly transactions: readonly StoredTransaction[]
}

export interface BlockChange {
  /** Transactions that left the mempool without coming into a block. */
  readonly dropped: readonly string[]
  /** A height whose block, if it is empty, need no longer be kept. */
  readonly forgotten: number
}

/**
 * Where a devnet keeps its chain. Each method does all or nothing, so that a process killed at any moment finds a whole
 * chain again; one devnet at a time uses a store.
 */
export interface DevnetStore {
  /**
   * What is kept, or what was begun just now.
   *
   * @param genesis the hash of the genesis that a new chain begins with
   * @returns the genesis hash of the kept chain, which may be another one
   */
  open(genesis: string): Promise<{ readonly genesis: string; readonly chain: StoredChain }>
  addTransaction(transaction: StoredTransaction): Promise<void>
  addBlock(block: StoredBlock, change: BlockChange): Promise<void>
  /** Removes all blocks above a height. Their transactions wait again, except those dropped. */
  removeBlocks(above: number, dropped: readonly string[]): Promise<void>
}
