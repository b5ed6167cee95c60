import {
  bytesColumn,
  type Connection,
  type Database,
  parameterRows,
  type Sql,
  schema,
  sql,
  statement,
  toHex,
} from '@ratatosk/database'
import { keptBodies, keptTransactions } from '../schema/tables.js'

const hashLength = 32
/** Transactions read at a time. */
const pageSize = 1_000

const keep = sql`
  WITH body AS (
    SELECT position, transaction_id, cbor, sha256(cbor) AS hash
    FROM ${schema}.block_transactions WHERE block_id = $1
  ), added AS (
    INSERT INTO ${schema}.kept_transactions AS kept (hash, transaction_id, cbor, end_time)
    SELECT hash, transaction_id, cbor, $3::bigint FROM body ORDER BY hash
    ON CONFLICT (hash) DO UPDATE SET end_time = EXCLUDED.end_time WHERE kept.end_time < EXCLUDED.end_time
  )
  INSERT INTO ${schema}.kept_bodies AS kept (header_hash, transactions, end_time)
  SELECT $2::bytea, COALESCE(string_agg(hash, ''::bytea ORDER BY position), ''::bytea), $3::bigint FROM body
  ON CONFLICT (header_hash) DO UPDATE
  SET transactions = EXCLUDED.transactions, end_time = GREATEST(kept.end_time, EXCLUDED.end_time)`

const keepDeposits = sql`
  INSERT INTO ${schema}.kept_deposits AS kept (header_hash, transaction_id, output, end_time)
  SELECT $2::bytea, transaction_id, output, $3::bigint FROM ${schema}.deposits
  WHERE header_hash = $2::bytea AND block_id = $1
  ON CONFLICT (header_hash, transaction_id)
  DO UPDATE SET end_time = GREATEST(kept.end_time, EXCLUDED.end_time)`

const body = statement(
  { transactions: keptBodies.transactions },
  sql`SELECT transactions FROM ${schema}.kept_bodies WHERE header_hash = $1`,
)

const byHash = statement(
  { hash: keptTransactions.hash, cbor: keptTransactions.cbor },
  sql`SELECT hash, cbor FROM ${schema}.kept_transactions
  WHERE hash IN (SELECT hash FROM ${parameterRows({ hash: 'bytea' })} AS given)`,
)

const byId = statement(
  { cbor: keptTransactions.cbor },
  sql`SELECT cbor FROM ${schema}.kept_transactions WHERE transaction_id = $1 LIMIT 1`,
)

/** Rows that one statement deletes: keeps each below the statement time-out. */
const step = 5_000

const forgetFrom = (
  table: string,
  key: string,
) => sql`DELETE FROM ${schema}.${table} WHERE end_time < $1 AND ${key} IN (
    SELECT ${key} FROM ${schema}.${table} WHERE end_time < $1 LIMIT ${step}
  )`
const forgetBodies = forgetFrom('kept_bodies', 'header_hash')
const forgetTransactions = forgetFrom('kept_transactions', 'hash')
const forgetDeposits = forgetFrom('kept_deposits', 'ctid')

/** A block whose transactions are about to leave it. */
interface LeavingBlock {
  readonly id: bigint
  readonly headerHash: Uint8Array
  readonly endTime: bigint
}

/** Keeps the bodies of blocks that leave the ledger together, the oldest first. */
export async function keepBodies(transaction: Connection, blocks: readonly LeavingBlock[]): Promise<void> {
  const endTime = blocks.at(-1)?.endTime
  // One statement per block keeps each below the statement time-out.
  for (const { id, headerHash } of blocks) {
    await transaction.execute(keep, [id, headerHash, endTime ?? 0n])
    await transaction.execute(keepDeposits, [id, headerHash, endTime ?? 0n])
  }
}

export function openBodies(database: Database): Bodies {
  return {
    async of(headerHash) {
      const [kept] = await database.query(body, [headerHash])
      if (kept === undefined) return undefined
      const hashes = Array.from({ length: kept.transactions.length / hashLength }, (_, place) =>
        kept.transactions.subarray(place * hashLength, (place + 1) * hashLength),
      )
      const transactions: Uint8Array[] = []
      for (let start = 0; start < hashes.length; start += pageSize) {
        const page = hashes.slice(start, start + pageSize)
        const found = await database.query(byHash, [bytesColumn(page)])
        const cborOf = new Map(found.map(({ hash, cbor }) => [toHex(hash), cbor]))
        for (const hash of page) {
          const cbor = cborOf.get(toHex(hash))
          // They are forgotten after the body, so it has been since.
          if (cbor === undefined) return undefined
          transactions.push(cbor)
        }
      }
      return transactions
    },

    async transaction(id) {
      const [found] = await database.query(byId, [id])
      return found?.cbor
    },

    async forget(endedBefore) {
      const forgetAll = async (statement: Sql): Promise<number> => {
        for (let forgotten = 0; ; ) {
          const some = await database.execute(statement, [endedBefore])
          forgotten += some
          if (some < step) return forgotten
        }
      }
      // The bodies first: one whose transactions are gone cannot be read.
      const forgotten = await forgetAll(forgetBodies)
      await forgetAll(forgetTransactions)
      await forgetAll(forgetDeposits)
      return forgotten
    },
  }
}

/**
 * The bodies of blocks that left the ledger without being merged. Layer 1 may show such a block again after a
 * roll-back: its operator must answer for it then, and perhaps no one else has its body.
 * `returnToMempool` and `undo` of `Blocks` keep them.
 */
export interface Bodies {
  /** CBOR of a block's transactions, in order; undefined if its body is not kept. */
  of(headerHash: Uint8Array): Promise<Uint8Array[] | undefined>
  /** A transaction of a kept body by its id (32 bytes). Its witnesses may be those of any block. */
  transaction(id: Uint8Array): Promise<Uint8Array | undefined>
  /**
   * Deletes the bodies of blocks that ended before a time: POSIX milliseconds. Of blocks that left together,
   * the last end counts: the later ones follow from the earlier ones.
   *
   * @returns how many were deleted
   */
  forget(endedBefore: bigint): Promise<number>
}
