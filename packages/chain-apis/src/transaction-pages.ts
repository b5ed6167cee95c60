import { undone } from './errors.js'
import type { ChainBlock, ChainTransaction, ChainView } from './view/chain-view.js'

/** Transactions that are read at a time. */
const pageLength = 64

/** The transactions of a block. @throws {ChainUnavailableError} if the block is undone meanwhile */
export async function* blockTransactions(
  chain: ChainView,
  { hash, open, transactionCount }: ChainBlock,
): AsyncGenerator<readonly ChainTransaction[], void> {
  let offset = 0
  for (;;) {
    const page = await chain.blockTransactions(hash, { offset, limit: pageLength })
    yield page
    offset += page.length
    if (page.length < pageLength) break
  }
  if (open !== true && offset !== transactionCount) throw undone()
}

/** The first of the transactions in the mempool. Those that leave it meanwhile are left out. */
export async function* mempoolTransactions(
  chain: ChainView,
  most: number,
): AsyncGenerator<readonly ChainTransaction[], void> {
  const pending = await chain.mempool({ offset: 0, limit: most })
  for (let start = 0; start < pending.length; start += pageLength) {
    const hashes = pending.slice(start, start + pageLength).map(({ hash }) => hash)
    const found = await chain.transactions(hashes)
    yield hashes.flatMap((hash) => {
      const transaction = found.get(hash)
      return transaction === undefined ? [] : { hash, transaction }
    })
  }
}
