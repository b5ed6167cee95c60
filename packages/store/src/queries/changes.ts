import { bytea, type Database, int4, int8, nullable, schema, sql, statement } from '@ratatosk/database'
import type { OrderedTransaction } from '../blocks/types.js'
import { droppedTransactions } from '../schema/tables.js'
import { acceptedAscending } from './chain.js'

/** An accepted transaction that the ledger has undone, or everything. */
interface DroppedTransaction {
  /** Orders the drops. Gaps have no meaning. */
  readonly number: bigint
  /** The transaction; undefined: a reset undid all. Its id may be accepted again, with another sequence. */
  readonly transaction: { readonly sequence: bigint; readonly id: Uint8Array } | undefined
}

/** The reads of a follower of acceptance. */
export interface LedgerChanges {
  /**
   * Accepted transactions with a sequence above `after`, oldest first, at most `limit`. Dropped ones are not
   * among them.
   */
  accepted(after: bigint, limit: number): Promise<OrderedTransaction[]>
  /** Drops with a number above `after`, oldest first, at most `limit`. */
  dropped(after: bigint, limit: number): Promise<DroppedTransaction[]>
  /** How many outputs the ledger was started with; undefined before the genesis was applied. */
  genesisOutputs(): Promise<number | undefined>
}

const dropped = statement(
  { number: droppedTransactions.number, sequence: nullable(int8), id: nullable(bytea) },
  sql`SELECT number, sequence, transaction_id AS id FROM ${schema}.dropped_transactions
  WHERE number > $1 ORDER BY number LIMIT $2`,
)

const genesisOutputs = statement({ outputs: int4 }, sql`SELECT outputs FROM ${schema}.genesis`)

export function openChanges(database: Database): LedgerChanges {
  return {
    accepted: (after, limit) => database.query(acceptedAscending, [after, 0, limit]),
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
