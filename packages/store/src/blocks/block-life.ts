import { bytesColumn, rowsOf, toHex } from '../drivers/columns.js'
import type { Connection } from '../drivers/connection.js'
import { StoreError } from '../errors.js'
import { newestBlock } from './block-queries.js'
import { type BlockRow, blockColumns, toBlock } from './block-row.js'
import type { Block, BlockState, NewBlock, StoredTransaction } from './types.js'

/** In the header of the first block. */
const noHeaderHash = new Uint8Array(28)

/** Accept sequences whose spent outputs one statement forgets. */
const forgottenAtOnce = 20_000n

type KeptState = Exclude<BlockState, 'removed'>

/** What changes blocks, inside a transaction that {@link fence} has let in. */
export interface BlockLife {
  build(block: NewBlock): Promise<Block>
  setState(headerHashes: readonly Uint8Array[], state: KeptState): Promise<void>
  setMergeTransaction(headerHash: Uint8Array, transaction: StoredTransaction): Promise<void>
  returnToMempool(fromHeight: bigint): Promise<Block[]>
  revive(headerHash: Uint8Array): Promise<Block>
  forgetSpent(mergedBefore: Date): Promise<number>
}

export function openBlockLife(transaction: Connection, schema: string): BlockLife {
  const statements = blockStatements(schema)

  /** The height of a block that follows this header hash. */
  async function nextHeight(previousHeaderHash: Uint8Array): Promise<bigint> {
    const [newest] = await transaction.query<BlockRow>(statements.newest)
    if (Buffer.compare(previousHeaderHash, newest?.headerHash ?? noHeaderHash) !== 0) {
      throw conflict('The newest block is not the one before this block')
    }
    return (newest?.height ?? 0n) + 1n
  }

  async function moveFromMempool({ id, firstSequence, lastSequence, transactions }: BlockRow): Promise<void> {
    const [moved] = await transaction.query<{ count: number; first: bigint | null; last: bigint | null }>(
      statements.moveFromMempool,
      [id, lastSequence],
    )
    if (moved?.count !== transactions || moved.first !== firstSequence || moved.last !== lastSequence) {
      throw conflict('The mempool does not begin with the transactions of this block')
    }
  }

  return {
    async build(block) {
      if (!Number.isSafeInteger(block.transactions) || block.transactions < 1) {
        throw new StoreError('STORE_INVALID_ARGUMENT', 'A block has one transaction at least')
      }
      const height = await nextHeight(block.previousHeaderHash)
      await transaction.query(statements.makeRoom, [block.headerHash])
      const [built] = await transaction.query<BlockRow>(statements.insert, [
        height,
        block.headerHash,
        block.header,
        block.previousHeaderHash,
        block.utxosRoot,
        block.startTime,
        block.endTime,
        block.firstSequence,
        block.lastSequence,
        block.transactions,
        block.commitTransaction.id,
        block.commitTransaction.cbor,
      ])
      const row = found(built)
      await moveFromMempool(row)
      return toBlock(row)
    },

    async setState(headerHashes, state) {
      if (headerHashes.length === 0) return
      const set = await transaction.query(statements.setState[state], [bytesColumn(headerHashes)])
      if (set.length !== new Set(headerHashes.map(toHex)).size) throw unknown()
    },

    async setMergeTransaction(headerHash, { id, cbor }) {
      const set = await transaction.query(statements.setMergeTransaction, [headerHash, id, cbor])
      if (set.length === 0) throw unknown()
    },

    async returnToMempool(fromHeight) {
      const removed = await transaction.query<BlockRow>(statements.remove, [fromHeight])
      // One statement a block, so that none takes too long.
      for (const { id } of removed) await transaction.query(statements.moveToMempool, [id])
      return removed.map(toBlock)
    },

    async revive(headerHash) {
      const [removed] = await transaction.query<BlockRow>(statements.removedBlock, [headerHash])
      if (removed === undefined) throw conflict('No removed block has this header hash')
      await nextHeight(removed.previousHeaderHash)
      const [revived] = await transaction.query<BlockRow>(statements.revive, [removed.id])
      const row = found(revived)
      await moveFromMempool(row)
      return toBlock(row)
    },

    async forgetSpent(mergedBefore) {
      const [span] = await transaction.query<{ first: bigint | null; last: bigint | null }>(
        statements.forgettable,
        [mergedBefore.toISOString()],
      )
      const { first, last } = span ?? { first: null, last: null }
      if (first === null || last === null) return 0
      let forgotten = 0
      for (let from = first; from <= last; from += forgottenAtOnce) {
        const to = from + forgottenAtOnce - 1n
        const [part] = await transaction.query<{ count: number }>(statements.forget, [
          from,
          to < last ? to : last,
        ])
        forgotten += part?.count ?? 0
      }
      return forgotten
    },
  }
}

function found(row: BlockRow | undefined): BlockRow {
  if (row === undefined) throw new StoreError('STORE_FAILED', 'The database returned no row')
  return row
}

function conflict(message: string): StoreError {
  return new StoreError('STORE_CONFLICT', message)
}

function unknown(): StoreError {
  return conflict('A block is unknown or removed')
}

/** When a block first came to a state; `built_at` is always there. */
const momentOf = [
  ['submitted', 'submitted_at'],
  ['committed', 'committed_at'],
  ['mature', 'matured_at'],
  ['merged', 'merged_at'],
] as const

/** Sets a state and its moment, and forgets the moments of the states after it. */
function enter(state: KeptState): string {
  const own = momentOf.findIndex(([of]) => of === state)
  const moments = momentOf.flatMap(([, column], position) => {
    if (position < own) return []
    return [position === own ? `${column} = COALESCE(${column}, clock_timestamp())` : `${column} = NULL`]
  })
  return [`state = '${state}'`, ...moments, 'removed_at = NULL'].join(', ')
}

function blockStatements(schema: string) {
  const setState = (state: KeptState) => `
    UPDATE ${schema}.blocks AS block SET ${enter(state)}
    FROM ${rowsOf({ header_hash: 'bytea' })} AS asked
    WHERE block.header_hash = asked.header_hash AND block.state <> 'removed'
    RETURNING block.id`
  return {
    newest: newestBlock(schema),

    makeRoom: `DELETE FROM ${schema}.blocks WHERE header_hash = $1 AND state = 'removed'`,

    insert: `
      INSERT INTO ${schema}.blocks
        (state, height, header_hash, header, previous_header_hash, utxos_root, start_time, end_time, first_sequence,
          last_sequence, transactions, commit_transaction_id, commit_transaction)
      VALUES ('built', $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
      RETURNING ${blockColumns}`,

    // Taken away and put down by one statement: whoever reads both tables at once finds a transaction in one of them.
    moveFromMempool: `
      WITH moved AS (
        DELETE FROM ${schema}.mempool_transactions WHERE sequence <= $2
        RETURNING sequence, transaction_id, cbor, accepted_at
      ), placed AS (
        INSERT INTO ${schema}.block_transactions (block_id, position, sequence, transaction_id, cbor, accepted_at)
        SELECT $1::bigint, row_number() OVER (ORDER BY sequence), sequence, transaction_id, cbor, accepted_at FROM moved
      )
      SELECT count(*)::integer AS count, min(sequence) AS first, max(sequence) AS last FROM moved`,

    moveToMempool: `
      WITH moved AS (
        DELETE FROM ${schema}.block_transactions WHERE block_id = $1
        RETURNING sequence, transaction_id, cbor, accepted_at
      )
      INSERT INTO ${schema}.mempool_transactions (sequence, transaction_id, cbor, accepted_at)
      SELECT sequence, transaction_id, cbor, accepted_at FROM moved ORDER BY sequence`,

    setState: {
      built: setState('built'),
      submitted: setState('submitted'),
      committed: setState('committed'),
      mature: setState('mature'),
      merged: setState('merged'),
    },

    setMergeTransaction: `
      UPDATE ${schema}.blocks SET merge_transaction_id = $2, merge_transaction = $3
      WHERE header_hash = $1 AND state <> 'removed'
      RETURNING id`,

    remove: `
      WITH removed AS (
        UPDATE ${schema}.blocks SET state = 'removed', removed_at = clock_timestamp()
        WHERE height >= $1 AND state NOT IN ('merged', 'removed')
        RETURNING *
      )
      SELECT ${blockColumns} FROM removed ORDER BY height`,

    removedBlock: `SELECT ${blockColumns} FROM ${schema}.blocks WHERE header_hash = $1 AND state = 'removed'`,

    revive: `UPDATE ${schema}.blocks SET ${enter('committed')} WHERE id = $1 RETURNING ${blockColumns}`,

    // Up to the newest block that was merged before the moment and has no unmerged one below it.
    forgettable: `
      SELECT
        (SELECT min(spent_by) FROM ${schema}.spent_outputs) AS first,
        (
          SELECT last_sequence FROM ${schema}.blocks
          WHERE state <> 'removed' AND state = 'merged' AND merged_at < $1::timestamptz AND height < COALESCE(
            (SELECT min(height) FROM ${schema}.blocks WHERE state NOT IN ('merged', 'removed')),
            9223372036854775807
          )
          ORDER BY height DESC LIMIT 1
        ) AS last`,

    forget: `
      WITH forgotten AS (
        DELETE FROM ${schema}.spent_outputs WHERE spent_by BETWEEN $1 AND $2 RETURNING spent_by
      )
      SELECT count(*)::integer AS count FROM forgotten`,
  }
}
