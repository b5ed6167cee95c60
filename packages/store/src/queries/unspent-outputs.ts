import {
  bool,
  bounded,
  type Database,
  int8,
  keysetPages,
  queryInIndexOrder,
  type Row,
  schema,
  selectList,
  sql,
  statement,
} from '@ratatosk/database'
import type { StoredOutput } from '../ledger/types.js'
import { mempoolLedger } from '../schema/tables.js'

const { sequence, transactionId, outputIndex, output } = mempoolLedger
const row = { sequence, transactionId, outputIndex, output }
const page = { ...row, complete: bool }
/** Few, because an answer that waits for its client keeps a page of rows in memory. */
const pageRows = 128

const list = 'sequence, transaction_id, output_index, output'

// Everything that has touched the address so far. Genesis outputs are not in the history, but come before all
// of it.
const latest = sql`COALESCE(
  (SELECT max(sequence) FROM ${schema}.address_history WHERE address = $1),
  (SELECT max(sequence) FROM ${schema}.mempool_ledger WHERE address = $1),
  0
)`

const firstPage = statement(
  { ...page, snapshot: int8 },
  sql`SELECT ${selectList(row)}, complete, ${latest} AS snapshot
  FROM (${bounded(
    sql`SELECT ${list} FROM ${schema}.mempool_ledger WHERE address = $1`,
    'sequence, output_index',
    'output',
    String(pageRows),
  )}) AS page
  ORDER BY sequence, output_index`,
)

// Outputs of the snapshot that were spent since are among the spent outputs, under the transactions that have
// touched the address since.
const nextPage = statement(
  page,
  sql`SELECT ${selectList(row)}, complete
  FROM (${bounded(
    sql`(
      SELECT ${list} FROM ${schema}.mempool_ledger
      WHERE address = $1 AND sequence <= $2 AND (sequence, output_index) > ($3, $4)
      ORDER BY sequence, output_index LIMIT ${pageRows}
    )
    UNION ALL
    (
      SELECT s.sequence, s.transaction_id, s.output_index, s.output
      FROM ${schema}.address_history AS since
      JOIN ${schema}.spent_outputs AS s ON s.spent_by = since.sequence
      WHERE since.address = $1 AND since.sequence > $2 AND s.address = $1 AND s.sequence <= $2
        AND (s.sequence, s.output_index) > ($3, $4)
      ORDER BY s.sequence, s.output_index LIMIT ${pageRows}
    )`,
    'sequence, output_index',
    'output',
    String(pageRows),
  )}) AS page
  ORDER BY sequence, output_index`,
)

/** The unspent outputs at an address at the time of the first page; see `Store.utxoPages`. */
export async function* utxoPages(
  database: Database,
  address: Uint8Array,
): AsyncGenerator<readonly StoredOutput[], void> {
  let snapshot: bigint | undefined
  const read = async (after: Row<typeof page> | undefined) => {
    if (after !== undefined && snapshot !== undefined) {
      const key = [address, snapshot, after.sequence, after.outputIndex]
      return queryInIndexOrder(database, nextPage, key)
    }
    // A planner with statistics chooses the index itself where an address has many outputs, in one round
    // trip.
    const rows = database.autovacuum
      ? await database.query(firstPage, [address])
      : await queryInIndexOrder(database, firstPage, [address])
    snapshot = rows.at(0)?.snapshot
    return rows
  }
  for await (const rows of keysetPages(read, (rows) => rows.at(-1)?.complete === true)) {
    yield rows.map(({ transactionId, outputIndex, output }) => ({
      reference: { transactionId, index: outputIndex },
      output,
    }))
  }
}
