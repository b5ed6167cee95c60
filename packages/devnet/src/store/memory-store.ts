import type { DevnetStore, StoredBlock, StoredTransaction } from './types.js'

/** Keeps the chain for as long as this object lives: devnets opened on it one after the other find the same chain. */
export function createMemoryStore(): DevnetStore {
  let begun: string | undefined
  let blocks: StoredBlock[] = []
  const transactions = new Map<string, StoredTransaction>()

  return {
    async open(genesis) {
      begun ??= genesis
      return { genesis: begun, chain: { blocks: [...blocks], transactions: [...transactions.values()] } }
    },
    async addTransaction(transaction) {
      transactions.set(transaction.hash, transaction)
    },
    async addBlock(block, { dropped, forgotten }) {
      blocks.push(block)
      const deep = blocks.findIndex(({ height }) => height === forgotten)
      if (blocks[deep]?.transactions.length === 0) blocks.splice(deep, 1)
      for (const hash of dropped) transactions.delete(hash)
    },
    async removeBlocks(above, dropped) {
      blocks = blocks.filter(({ height }) => height <= above)
      for (const hash of dropped) transactions.delete(hash)
    },
  }
}
