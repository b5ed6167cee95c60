/** A transaction as the store keeps it. */
export interface StoredTransaction {
  /** Transaction id, 64 hex digits. */
  readonly hash: string
  readonly cbor: Uint8Array
  /** Order of acceptance, see `ChainTransaction.sequence`. */
  readonly sequence: number
}

/** A block as the store keeps it. Hashes are 64 hex digits. */
export interface StoredBlock {
  readonly height: number
  readonly slot: bigint
  readonly hash: string
  readonly previous: string
  /** Ids of the block's transactions, in order. */
  readonly transactions: readonly string[]
}

/** Everything a store holds. */
export interface StoredChain {
  /** By height. Empty blocks below the security parameter may be missing. */
  readonly blocks: readonly StoredBlock[]
  /** The transactions of all blocks and the pending ones. */
  readonly transactions: readonly StoredTransaction[]
}

/** The changes of the store when a block is added. */
export interface BlockChange {
  /** Ids of transactions that left the mempool without entering a block. */
  readonly dropped: readonly string[]
  /** Height of a block to delete if it is empty; a height without a block has no effect. */
  readonly prunable: number
}

/**
 * Where a devnet keeps its chain. Each method is atomic, so the chain survives a kill at any moment. Only one
 * devnet may use a store at a time.
 */
export interface DevnetStore {
  /**
   * Loads the chain. An empty store first records what it begins with.
   *
   * @param genesis genesis hash to record in an empty store
   * @param ledgerVersion major ledger version to record in an empty store
   * @returns the chain, its genesis hash and its ledger version, which can differ from those given
   */
  open(
    genesis: string,
    ledgerVersion: number,
  ): Promise<{ readonly genesis: string; readonly ledgerVersion: number; readonly chain: StoredChain }>
  addTransaction(transaction: StoredTransaction): Promise<void>
  addBlock(block: StoredBlock, change: BlockChange): Promise<void>
  /**
   * Removes all blocks above a height. Their transactions become pending again, except the dropped ones.
   *
   * @param dropped ids of transactions to delete
   */
  removeBlocks(above: number, dropped: readonly string[]): Promise<void>
}

/**
 * Keeps the chain in memory, for as long as the returned object lives. Devnets opened on it one after another
 * continue the same chain.
 */
export function createMemoryStore(): DevnetStore {
  let begun: { readonly genesis: string; readonly ledgerVersion: number } | undefined
  let blocks: StoredBlock[] = []
  const transactions = new Map<string, StoredTransaction>()

  return {
    async open(genesis, ledgerVersion) {
      begun ??= { genesis, ledgerVersion }
      return {
        ...begun,
        chain: { blocks: [...blocks], transactions: [...transactions.values()] },
      }
    },
    async addTransaction(transaction) {
      transactions.set(transaction.hash, transaction)
    },
    async addBlock(block, { dropped, prunable }) {
      blocks.push(block)
      const index = blocks.findIndex(({ height }) => height === prunable)
      if (blocks[index]?.transactions.length === 0) blocks.splice(index, 1)
      for (const hash of dropped) transactions.delete(hash)
    },
    async removeBlocks(above, dropped) {
      blocks = blocks.filter(({ height }) => height <= above)
      for (const hash of dropped) transactions.delete(hash)
    },
  }
}
