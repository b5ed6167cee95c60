import { bool, bytea, type Database, int4, int8, nullable, schema, sql, statement } from '@ratatosk/database'
import type { OrderedTransaction } from '../blocks/types.js'
import { droppedTransactions } from '../schema/tables.js'

/** An accepted transaction that the ledger has undone, or everything. */
interface DroppedTransaction {
  /** Orders the drops. Gaps have no meaning. */
  readonly number: bigint
  /** The transaction; undefined: a reset undid all. Its id may be accepted again, with another sequence. */
  readonly transaction: { readonly sequence: bigint; readonly id: Uint8Array } | undefined
}

/** An accepted transaction, or a deposit that entered the ledger. */
export interface AcceptedChange extends OrderedTransaction {
  /** It is a deposit: output 0 of the id, whose CBOR is in `cbor`. */
  readonly deposit?: true
}

/** The reads of a follower of acceptance. */
export interface LedgerChanges {
  /**
   * Accepted transactions, and deposits, with a sequence above `after`, oldest first, at most `limit`.
   * Dropped ones are not among them. A deposit enters with the first block that credits it, and stays when
   * that is removed.
   */
  accepted(after: bigint, limit: number): Promise<AcceptedChange[]>
  /** Drops with a number above `after`, oldest first, at most `limit`. */
  dropped(after: bigint, limit: number): Promise<DroppedTransaction[]>
  /** How many outputs the ledger was started with; undefined before the genesis was applied. */
  genesisOutputs(): Promise<number | undefined>
}

const part = 'WHERE sequence > $1 ORDER BY sequence LIMIT $2'
const accepted = statement(
  { sequence: int8, id: bytea, cbor: bytea, deposit: bool },
  sql`SELECT * FROM (
    (SELECT sequence, transaction_id AS id, cbor, false AS deposit
      FROM ${schema}.mempool_transactions ${part})
    UNION ALL
    (SELECT sequence, transaction_id AS id, cbor, false AS deposit FROM ${schema}.block_transactions ${part})
    UNION ALL
    (SELECT sequence, transaction_id AS id, output AS cbor, true AS deposit FROM ${schema}.deposits ${part})
  ) AS accepted ORDER BY sequence LIMIT $2`,
)

const dropped = statement(
  { number: droppedTransactions.number, sequence: nullable(int8), id: nullable(bytea) },
  sql`SELECT number, sequence, transaction_id AS id FROM ${schema}.dropped_transactions
  WHERE number > $1 ORDER BY number LIMIT $2`,
)

const genesisOutputs = statement({ outputs: int4 }, sql`SELECT outputs FROM ${schema}.genesis`)

export function openChanges(database: Database): LedgerChanges {
  return {
    async accepted(after, limit) {
      const rows = await database.query(accepted, [after, limit])
      return rows.map(({ deposit, ...row }) => (deposit ? { ...row, deposit } : row))
    },
    async dropped(after, limit) {
      const rows = await database.query(dropped, [after, limit])
      return rows.map(({ number, sequence, id }) => ({
        number,
        transaction: sequence === null || id === null ? undefined : { sequence, id },
      }))
    },
    async genesisOutputs() {
      const [row] = await database.query(genesisOutputs)
      return row?.outputs
    },
  }
}
