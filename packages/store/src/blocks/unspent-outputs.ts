import { TransformStream } from 'node:stream/web'
import type { Connection, Database } from '../drivers/connection.js'
import type { UnspentOutput } from './types.js'

/** Outputs in one piece. */
const pieceSize = 5_000

/** The unspent outputs after the newest block: the ledger, without what the transactions of the mempool did to it. */
export async function* unspentOutputs(
  database: Pick<Database, 'transaction'>,
  schema: string,
): AsyncGenerator<readonly UnspentOutput[], void> {
  // A piece is fetched when the one before it has been taken; whoever stops early ends the transaction with it.
  const { readable, writable } = new TransformStream<readonly UnspentOutput[], readonly UnspentOutput[]>()
  const writer = writable.getWriter()
  const reading = database
    .transaction((transaction) => read(transaction, schema, (piece) => writer.write(piece)))
    .then(
      () => writer.close(),
      (error) => writer.abort(error),
    )
    .catch(() => {})
  try {
    yield* readable
  } finally {
    await reading
  }
}

async function read(
  transaction: Connection,
  schema: string,
  take: (piece: readonly UnspentOutput[]) => Promise<void>,
): Promise<void> {
  await transaction.query('SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY')
  // The mempool holds the newest transactions: whatever has its first one's sequence or a greater one is of the mempool.
  await transaction.query(`
    DECLARE unspent NO SCROLL CURSOR FOR
    WITH mempool AS MATERIALIZED (
      SELECT COALESCE(min(sequence), 9223372036854775807) AS first FROM ${schema}.mempool_transactions
    )
    SELECT transaction_id AS "transactionId", output_index AS index, output
    FROM ${schema}.mempool_ledger WHERE sequence < (SELECT first FROM mempool)
    UNION ALL
    SELECT transaction_id, output_index, output
    FROM ${schema}.spent_outputs
    WHERE spent_by >= (SELECT first FROM mempool) AND sequence < (SELECT first FROM mempool)`)
  for (;;) {
    const piece = await transaction.query<UnspentOutput>(`FETCH ${pieceSize} FROM unspent`)
    if (piece.length > 0) await take(piece)
    if (piece.length < pieceSize) return
  }
}
