import {
  advisoryLock,
  type Connection,
  type Database,
  int8,
  lookUpByIndex,
  nullable,
  type SqlTransaction,
  schema,
  sql,
  statement,
} from '@ratatosk/database'
import { keepBodies } from '../bodies/bodies.js'
import { type Lease, requireLease } from '../leases/leases.js'
import { forgetSpenders } from '../rejections/rejections.js'
import { adoptBlock } from './adopt-block.js'
import {
  appendBlock,
  removeFrom,
  returnToMempool,
  reviveBlock,
  setBlockState,
  setMergeTransaction,
  undoEffects,
} from './block-life.js'
import { forgetDeposits, haveDeposits, readDeposits, releaseDeposits } from './deposits.js'
import { compareMempool, continueDropSearch, type DropSearch, dropFound, startDropSearch } from './mempool.js'
import { outputsAfterBlock, outputsAfterNewest, readBlocks, toBlock } from './read-blocks.js'
import type { Blocks, DropRule, Undone } from './types.js'

type Work<T> = (transaction: SqlTransaction) => Promise<T>

/**
 * @param exclusively runs the work of this process that needs the ledger's lock, one at a time
 * @param lockLedger takes that lock to the end of a transaction; always after that of a lease
 */
export function openBlocks(
  database: Database,
  exclusively: <T>(work: Work<T>) => Promise<T>,
  lockLedger: (transaction: SqlTransaction) => Promise<void>,
): Blocks {
  const underLease = <T>(lease: Lease, work: Work<T>): Promise<T> =>
    database.transaction(async (transaction) => {
      await requireLease(transaction, lease)
      return work(transaction)
    })

  const underBoth = <T>(lease: Lease, work: Work<T>): Promise<T> =>
    exclusively(async (transaction) => {
      await requireLease(transaction, lease)
      await lockLedger(transaction)
      return work(transaction)
    })

  /** @param deposits to forget with what follows from them */
  async function drop(
    search: DropSearch,
    follow: DropRule,
    lease: Lease,
    deposits: readonly Uint8Array[] = [],
  ): Promise<number> {
    // Most of the mempool is searched before validation has to wait for the lock.
    await continueDropSearch(database, search, follow)
    return underBoth(lease, async (transaction) => {
      await continueDropSearch(transaction, search, follow)
      const dropped = await dropFound(transaction, search)
      await forgetDeposits(transaction, deposits)
      return dropped
    })
  }

  return {
    ...readBlocks(database),
    ...readDeposits(database),
    build: (block, lease) =>
      underLease(lease, (transaction) => appendBlock(transaction, block, () => lockLedger(transaction))),
    setState: (headerHashes, state, lease) =>
      underLease(lease, (transaction) => setBlockState(transaction, headerHashes, state)),
    setMergeTransaction: (headerHash, merge, lease) =>
      underLease(lease, (transaction) => setMergeTransaction(transaction, headerHash, merge)),
    async returnToMempool(fromHeight, lease) {
      const have = await haveDeposits(database, fromHeight)
      const run = have ? underBoth : underLease
      return run(lease, (transaction) => returnToMempool(transaction, fromHeight, have))
    },
    undo: (fromHeight, lease) => underBoth(lease, (transaction) => undoBlocks(transaction, fromHeight)),
    async adopt(block, examine, lease) {
      // Most of the mempool is compared before validation has to wait for the lock.
      const comparison = compareMempool(block, examine)
      await database.transaction(async (transaction) => {
        await lookUpByIndex(transaction)
        await comparison.read(transaction)
      })
      return underBoth(lease, (transaction) => adoptBlock(transaction, block, comparison))
    },
    drop: (first, follow, lease) => drop(startDropSearch(first), follow, lease),
    forgetDeposits: (ids, follow, lease) =>
      ids.length === 0 ? Promise.resolve(0) : drop(startDropSearch(), follow, lease, ids),
    revive(headerHash, lease, credits = []) {
      const run = credits.length > 0 ? underBoth : underLease
      return run(lease, (transaction) => reviveBlock(transaction, headerHash, credits))
    },
    forgetSpent: (mergedBefore, lease) =>
      underLease(lease, (transaction) => forgetSpentOutputs(transaction, mergedBefore)),
    reset: (lease) => underBoth(lease, reset),
    utxosAfterNewest: () => outputsAfterBlock(database),
    utxosAfter: (block) => outputsAfterBlock(database, block),
    outputsAfterNewest: (references) =>
      database.transaction(async (transaction) => {
        await lookUpByIndex(transaction)
        return outputsAfterNewest(transaction, references)
      }),
  }
}

/** Accept sequences whose spent outputs one statement deletes. */
const step = 20_000n

// Up to the newest block that was merged before the given time and has no unmerged block below it.
const forgettable = statement(
  { first: nullable(int8), last: nullable(int8) },
  sql`SELECT
    (SELECT min(spent_by) FROM ${schema}.spent_outputs) AS first,
    (
      SELECT last_sequence FROM ${schema}.blocks
      WHERE state <> 'removed' AND state = 'merged' AND merged_at < $1::timestamptz AND height < COALESCE(
        (SELECT min(height) FROM ${schema}.blocks WHERE state NOT IN ('merged', 'removed')),
        9223372036854775807
      )
      ORDER BY height DESC LIMIT 1
    ) AS last`,
)

const forget = sql`DELETE FROM ${schema}.spent_outputs WHERE spent_by BETWEEN $1 AND $2`

/** Deletes the spent outputs of blocks that were merged before a time; see `Blocks.forgetSpent`. */
async function forgetSpentOutputs(transaction: Connection, mergedBefore: Date): Promise<number> {
  const [span] = await transaction.query(forgettable, [mergedBefore.toISOString()])
  const { first, last } = span ?? { first: null, last: null }
  if (first === null || last === null) return 0
  let forgotten = 0
  for (let from = first; from <= last; from += step) {
    const to = from + step - 1n
    forgotten += await transaction.execute(forget, [from, to < last ? to : last])
  }
  return forgotten
}

const emptied = [
  'block_transactions',
  'blocks',
  'mempool_transactions',
  'mempool_ledger',
  'deposits',
  'spent_outputs',
  'address_history',
  'resubmissions',
  'genesis',
  'dropped_transactions',
  'archived_blocks',
]

/**
 * Empties the tables under the ledger's lock. DELETE, unlike TRUNCATE, blocks no reader. Dead letters stay.
 */
async function reset(transaction: Connection): Promise<void> {
  // So that nothing is archived on blocks that are gone.
  await advisoryLock(transaction, 'archive')
  for (const table of emptied) await transaction.execute(sql`DELETE FROM ${schema}.${table}`)
  await forgetSpenders(transaction)
  await transaction.execute(sql`INSERT INTO ${schema}.dropped_transactions DEFAULT VALUES`)
}

/** Transactions that one statement takes out of the mempool: keeps each below the statement time-out. */
const movedAtOnce = 5_000

const keepBlock = sql`
  WITH moved AS (
    DELETE FROM ${schema}.block_transactions WHERE block_id = $1 RETURNING sequence, transaction_id, cbor
  ), noted AS (
    INSERT INTO ${schema}.dropped_transactions (sequence, transaction_id)
    SELECT sequence, transaction_id FROM moved ORDER BY sequence
  )
  INSERT INTO ${schema}.resubmissions (sequence, transaction_id, cbor, header_hash, height)
  SELECT sequence, transaction_id, cbor, $2::bytea, $3::bigint FROM moved`

const keepMempool = sql`
  WITH oldest AS (
    SELECT sequence FROM ${schema}.mempool_transactions ORDER BY sequence LIMIT ${movedAtOnce}
  ), moved AS (
    DELETE FROM ${schema}.mempool_transactions AS mempool USING oldest
      WHERE mempool.sequence = oldest.sequence
    RETURNING mempool.sequence, mempool.transaction_id, mempool.cbor
  ), noted AS (
    INSERT INTO ${schema}.dropped_transactions (sequence, transaction_id)
    SELECT sequence, transaction_id FROM moved ORDER BY sequence
  )
  INSERT INTO ${schema}.resubmissions (sequence, transaction_id, cbor)
  SELECT sequence, transaction_id, cbor FROM moved`

/** Reverts the ledger to before a block, under its lock; see `Blocks.undo`. */
async function undoBlocks(transaction: Connection, fromHeight: bigint): Promise<Undone> {
  const removed = await removeFrom(transaction, fromHeight)
  const [lowest] = removed
  if (lowest === undefined) return { blocks: [], transactions: 0 }
  await keepBodies(transaction, removed)
  // First, so that those that are spent come back as deposits that wait.
  await releaseDeposits(transaction, removed)
  let transactions = 0
  for (const { id, headerHash, height } of removed)
    transactions += await transaction.execute(keepBlock, [id, headerHash, height])
  for (;;) {
    const moved = await transaction.execute(keepMempool, [])
    transactions += moved
    if (moved < movedAtOnce) break
  }
  await undoEffects(transaction, lowest.firstSequence)
  return { blocks: removed.map(toBlock), transactions }
}
