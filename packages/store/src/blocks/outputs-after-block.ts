import {
  bytesColumn,
  type Connection,
  int4,
  int8,
  keysetPages,
  parameterRows,
  type Row,
  schema,
  selectList,
  sql,
  statement,
} from '@ratatosk/database'
import type { OutputReference } from '@ratatosk/ledger'
import type { StoredOutput } from '../ledger/types.js'
import { mempoolLedger, spentOutputs } from '../schema/tables.js'
import { lastSequenceInBlocks } from './read-blocks.js'
import type { Block, LedgerOutput } from './types.js'

/** The most outputs in one page. */
const pageSize = 5_000

const output = {
  transactionId: mempoolLedger.transactionId,
  index: mempoolLedger.outputIndex,
  output: mempoolLedger.output,
}
const spentOutput = { spentBy: spentOutputs.spentBy, ...output }

// The first and last sequence of the mempool. If it is empty: where it would start. Before the first
// transaction the ledger is the genesis.
const mempoolSpan = statement(
  { first: int8, last: int8 },
  sql`WITH accepted AS (
    SELECT min(sequence) AS first, COALESCE(
      max(sequence),
      ${lastSequenceInBlocks},
      (SELECT GREATEST(max(sequence), 0) FROM ${schema}.mempool_ledger),
      0
    ) AS last
    FROM ${schema}.mempool_transactions
  )
  SELECT COALESCE(first, last + 1) AS first, last FROM accepted`,
)

// Produced before the mempool, and spent by it when the read started. A deposit that waits has sequence -1:
// no block credits it.
const spentByMempool = statement(
  spentOutput,
  sql`SELECT ${selectList(spentOutput)}
  FROM ${schema}.spent_outputs
  WHERE spent_by <= $2 AND sequence >= 0 AND sequence < $1
    AND (spent_by, transaction_id, output_index) > ($3, $4, $5)
  ORDER BY spent_by, transaction_id, output_index LIMIT ${pageSize}`,
)

// Produced before the mempool and unspent when the read started, though perhaps spent since.
const unspent = statement(
  output,
  sql`(
    SELECT ${selectList(output)}
    FROM ${schema}.mempool_ledger
    WHERE sequence >= 0 AND sequence < $1 AND (transaction_id, output_index) > ($3, $4)
    ORDER BY transaction_id, output_index LIMIT ${pageSize}
  )
  UNION ALL
  SELECT ${selectList(output)}
  FROM ${schema}.spent_outputs
  WHERE spent_by > $2 AND sequence >= 0 AND sequence < $1 AND (transaction_id, output_index) > ($3, $4)
  ORDER BY "transactionId", index LIMIT ${pageSize}`,
)

const beforeAll: OutputReference = { transactionId: new Uint8Array(), index: -1 }

/**
 * The unspent outputs after an unmerged block (default: the newest), without a long transaction: with the
 * first and last later sequence known, the set is fixed, and each statement reads both tables of outputs.
 */
export async function* outputsAfterBlock(
  connection: Connection,
  block?: Pick<Block, 'lastSequence'>,
): AsyncGenerator<readonly LedgerOutput[], void> {
  const [mempool] = await connection.query(mempoolSpan)
  if (mempool === undefined) return
  const { last } = mempool
  const first = block === undefined ? mempool.first : block.lastSequence + 1n

  const readSpent = (after: Row<typeof spentOutput> | undefined) => {
    const { spentBy, transactionId, index } = after ?? { spentBy: first, ...beforeAll }
    return connection.query(spentByMempool, [first, last, spentBy, transactionId, index])
  }
  for await (const page of keysetPages(readSpent, isShort)) {
    yield page.map(({ spentBy: _, ...output }) => output)
  }

  const readUnspent = (after: Row<typeof output> | undefined) => {
    const { transactionId, index } = after ?? beforeAll
    return connection.query(unspent, [first, last, transactionId, index])
  }
  yield* keysetPages(readUnspent, isShort)
}

// Outputs that the mempool produced have a later sequence; those it spent are among the spent outputs.
const namedAfterNewest = statement(
  { position: int4, output: mempoolLedger.output },
  sql`WITH mempool AS MATERIALIZED (
    SELECT COALESCE(
      ${lastSequenceInBlocks} + 1,
      (SELECT min(sequence) FROM ${schema}.mempool_transactions),
      9223372036854775807
    ) AS first
  ), asked AS MATERIALIZED (
    SELECT * FROM ${parameterRows({ transaction_id: 'bytea', output_index: 'integer' })} AS asked
  )
  SELECT asked.position, ledger.output
  FROM asked JOIN ${schema}.mempool_ledger AS ledger USING (transaction_id, output_index)
  WHERE ledger.sequence >= 0 AND ledger.sequence < (SELECT first FROM mempool)
  UNION ALL
  SELECT asked.position, spent.output
  FROM asked JOIN ${schema}.spent_outputs AS spent
    ON spent.transaction_id || int4send(spent.output_index)
      = asked.transaction_id || int4send(asked.output_index)
  WHERE spent.spent_by >= (SELECT first FROM mempool)
    AND spent.sequence >= 0 AND spent.sequence < (SELECT first FROM mempool)`,
)

/** Looks outputs up that are unspent after the newest block; see `Blocks.outputsAfterNewest`. */
export async function outputsAfterNewest(
  connection: Connection,
  references: readonly OutputReference[],
): Promise<StoredOutput[]> {
  if (references.length === 0) return []
  const rows = await connection.query(namedAfterNewest, [
    bytesColumn(references.map(({ transactionId }) => transactionId)),
    references.map(({ index }) => index),
  ])
  return rows.flatMap(({ position, output }) => {
    const reference = references[position - 1]
    return reference === undefined ? [] : [{ reference, output }]
  })
}

function isShort(page: readonly unknown[]): boolean {
  return page.length < pageSize
}
