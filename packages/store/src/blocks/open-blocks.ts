import type { Connection, Database, Transaction } from '../drivers/connection.js'
import type { Lease } from '../types.js'
import { type BlockLife, openBlockLife } from './block-life.js'
import { openBlockQueries } from './block-queries.js'
import { fence } from './fence.js'
import { reset } from './reset.js'
import type { Blocks } from './types.js'
import { unspentOutputs } from './unspent-outputs.js'

/** @param locked runs work in a transaction that holds the ledger's lock */
export function openBlocks(
  database: Connection & Pick<Database, 'transaction'>,
  schema: string,
  locked: <T>(work: (transaction: Transaction) => Promise<T>) => Promise<T>,
): Blocks {
  const change = <T>(lease: Lease, work: (life: BlockLife) => Promise<T>): Promise<T> =>
    database.transaction(async (transaction) => {
      await fence(transaction, schema, lease)
      return work(openBlockLife(transaction, schema))
    })

  return {
    ...openBlockQueries(database, schema),
    build: (block, lease) => change(lease, (life) => life.build(block)),
    setState: (headerHashes, state, lease) => change(lease, (life) => life.setState(headerHashes, state)),
    setMergeTransaction: (headerHash, transaction, lease) =>
      change(lease, (life) => life.setMergeTransaction(headerHash, transaction)),
    returnToMempool: (fromHeight, lease) => change(lease, (life) => life.returnToMempool(fromHeight)),
    revive: (headerHash, lease) => change(lease, (life) => life.revive(headerHash)),
    forgetSpent: (mergedBefore, lease) => change(lease, (life) => life.forgetSpent(mergedBefore)),
    reset: (lease) =>
      locked(async (transaction) => {
        await fence(transaction, schema, lease)
        await reset(transaction, schema)
      }),
    utxosAfterNewest: () => unspentOutputs(database, schema),
  }
}
