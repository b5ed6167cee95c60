import { type Database, lookUpByIndex, type SqlTransaction } from '@ratatosk/database'
import { requireLease } from '../leases/leases.js'
import type { Lease } from '../leases/types.js'
import { adoptBlock } from './adopt-block.js'
import { appendBlock } from './append-block.js'
import { compareMempool } from './compare-mempool.js'
import { continueDropSearch, dropFound, startDropSearch } from './drop-transactions.js'
import { forgetSpentOutputs } from './forget-spent-outputs.js'
import { outputsAfterBlock, outputsAfterNewest } from './outputs-after-block.js'
import { readBlocks } from './read-blocks.js'
import { returnToMempool, reviveBlock } from './remove-blocks.js'
import { reset } from './reset.js'
import { setBlockState, setMergeTransaction } from './set-block-state.js'
import type { Blocks } from './types.js'
import { undoBlocks } from './undo-blocks.js'

/** @param withLedgerLock runs work in a transaction that holds the ledger's lock */
export function openBlocks(
  database: Database,
  withLedgerLock: <T>(work: (transaction: SqlTransaction) => Promise<T>) => Promise<T>,
): Blocks {
  const underLease = <T>(lease: Lease, work: (transaction: SqlTransaction) => Promise<T>): Promise<T> =>
    database.transaction(async (transaction) => {
      await requireLease(transaction, lease)
      return work(transaction)
    })

  return {
    ...readBlocks(database),
    build: (block, lease) => underLease(lease, (transaction) => appendBlock(transaction, block)),
    setState: (headerHashes, state, lease) =>
      underLease(lease, (transaction) => setBlockState(transaction, headerHashes, state)),
    setMergeTransaction: (headerHash, merge, lease) =>
      underLease(lease, (transaction) => setMergeTransaction(transaction, headerHash, merge)),
    returnToMempool: (fromHeight, lease) =>
      underLease(lease, (transaction) => returnToMempool(transaction, fromHeight)),
    undo: (fromHeight, lease) =>
      withLedgerLock(async (transaction) => {
        await requireLease(transaction, lease)
        return undoBlocks(transaction, fromHeight)
      }),
    async adopt(block, examine, lease) {
      // Most of the mempool is compared before validation has to wait for the lock.
      const comparison = compareMempool(block, examine)
      await database.transaction(async (transaction) => {
        await lookUpByIndex(transaction)
        await comparison.read(transaction)
      })
      return withLedgerLock(async (transaction) => {
        await requireLease(transaction, lease)
        return adoptBlock(transaction, block, comparison)
      })
    },
    async drop(first, follow, lease) {
      // Most of the mempool is searched before validation has to wait for the lock.
      const search = startDropSearch(first)
      await continueDropSearch(database, search, follow)
      return withLedgerLock(async (transaction) => {
        await requireLease(transaction, lease)
        await continueDropSearch(transaction, search, follow)
        return dropFound(transaction, search)
      })
    },
    revive: (headerHash, lease) => underLease(lease, (transaction) => reviveBlock(transaction, headerHash)),
    forgetSpent: (mergedBefore, lease) =>
      underLease(lease, (transaction) => forgetSpentOutputs(transaction, mergedBefore)),
    reset: (lease) =>
      withLedgerLock(async (transaction) => {
        await requireLease(transaction, lease)
        await reset(transaction)
      }),
    utxosAfterNewest: () => outputsAfterBlock(database),
    utxosAfter: (block) => outputsAfterBlock(database, block),
    outputsAfterNewest: (references) =>
      database.transaction(async (transaction) => {
        await lookUpByIndex(transaction)
        return outputsAfterNewest(transaction, references)
      }),
  }
}
