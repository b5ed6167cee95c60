import type { DevnetStore, StoredBlock, StoredTransaction } from './types.js'

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
