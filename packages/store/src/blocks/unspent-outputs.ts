import type { Connection } from '../drivers/connection.js'
import type { UnspentOutput } from './types.js'

/** Outputs in one piece, at most. */
const pieceSize = 5_000

interface SpentOutput extends UnspentOutput {
  readonly spentBy: bigint
}

/**
 * The unspent outputs after the newest block: the ledger, without what the transactions of the mempool did to it. No transaction
 * is held open, and no snapshot is needed: once it is fixed where the mempool begins and how far it goes, that set stays as it
 * is. What is applied meanwhile only moves outputs from one table to the other, and each statement sees both.
 */
export async function* unspentOutputs(
  connection: Connection,
  schema: string,
): AsyncGenerator<readonly UnspentOutput[], void> {
  const statements = unspentStatements(schema)
  const [mempool] = await connection.query<{ first: bigint; last: bigint }>(statements.mempool)
  if (mempool === undefined) return
  const { first, last } = mempool

  let spent: SpentOutput | undefined = {
    spentBy: first,
    transactionId: new Uint8Array(),
    index: -1,
    output: new Uint8Array(),
  }
  while (spent !== undefined) {
    const piece: SpentOutput[] = await connection.query<SpentOutput>(statements.spent, [
      first,
      last,
      spent.spentBy,
      spent.transactionId,
      spent.index,
    ])
    if (piece.length > 0) yield piece.map(({ spentBy: _, ...output }) => output)
    spent = piece.length < pieceSize ? undefined : piece.at(-1)
  }

  let unspent: UnspentOutput | undefined = {
    transactionId: new Uint8Array(),
    index: -1,
    output: new Uint8Array(),
  }
  while (unspent !== undefined) {
    const piece: UnspentOutput[] = await connection.query<UnspentOutput>(statements.unspent, [
      first,
      last,
      unspent.transactionId,
      unspent.index,
    ])
    if (piece.length > 0) yield piece
    unspent = piece.length < pieceSize ? undefined : piece.at(-1)
  }
}

function unspentStatements(schema: string) {
  const output = 'transaction_id AS "transactionId", output_index AS index, output'
  return {
    // Of an empty mempool: where it would begin. Before the first transaction the ledger is the genesis.
    mempool: `
      WITH accepted AS (
        SELECT min(sequence) AS first, COALESCE(
          max(sequence),
          (SELECT last_sequence FROM ${schema}.blocks WHERE state <> 'removed' ORDER BY height DESC LIMIT 1),
          (SELECT max(sequence) FROM ${schema}.mempool_ledger),
          0
        ) AS last
        FROM ${schema}.mempool_transactions
      )
      SELECT COALESCE(first, last + 1) AS first, last FROM accepted`,

    // Made before the mempool, and spent by it when the reading began.
    spent: `
      SELECT spent_by AS "spentBy", ${output}
      FROM ${schema}.spent_outputs
      WHERE spent_by <= $2 AND sequence < $1 AND (spent_by, transaction_id, output_index) > ($3, $4, $5)
      ORDER BY spent_by, transaction_id, output_index LIMIT ${pieceSize}`,

    // Made before the mempool and not spent when the reading began, though perhaps by now.
    unspent: `
      (
        SELECT ${output}
        FROM ${schema}.mempool_ledger
        WHERE sequence < $1 AND (transaction_id, output_index) > ($3, $4)
        ORDER BY transaction_id, output_index LIMIT ${pieceSize}
      )
      UNION ALL
      SELECT ${output}
      FROM ${schema}.spent_outputs
      WHERE spent_by > $2 AND sequence < $1 AND (transaction_id, output_index) > ($3, $4)
      ORDER BY "transactionId", index LIMIT ${pieceSize}`,
  }
}
