import { bigint, index, primaryKey } from 'drizzle-orm/pg-core'
import { bytea, ratatosk } from './columns.js'

/** Bodies of unmerged blocks that left the ledger and may return. Times are POSIX milliseconds. */
export const keptBodies = ratatosk.table(
  'kept_bodies',
  {
    headerHash: bytea('header_hash').primaryKey(),
    /** SHA-256 of the CBOR of each transaction, in block order. */
    transactions: bytea('transactions').notNull(),
    /** The end of the newest block that left with this one. */
    endTime: bigint('end_time', { mode: 'bigint' }).notNull(),
  },
  (table) => [index('kept_bodies_end_time').on(table.endTime)],
)

/** The credits of kept bodies: deposits and fee outputs, output 0 of their ids. */
export const keptDeposits = ratatosk.table(
  'kept_deposits',
  {
    headerHash: bytea('header_hash').notNull(),
    transactionId: bytea('transaction_id').notNull(),
    output: bytea('output').notNull(),
    /** That of the body. */
    endTime: bigint('end_time', { mode: 'bigint' }).notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.headerHash, table.transactionId] }),
    index('kept_deposits_transaction_id').on(table.transactionId),
    index('kept_deposits_end_time').on(table.endTime),
  ],
)

/** The transactions of kept bodies, each once, however many blocks had it. */
export const keptTransactions = ratatosk.table(
  'kept_transactions',
  {
    /** SHA-256 of the CBOR: a transaction id says nothing of the witnesses. */
    hash: bytea('hash').primaryKey(),
    transactionId: bytea('transaction_id').notNull(),
    cbor: bytea('cbor').notNull(),
    /** The greatest of those of the bodies. */
    endTime: bigint('end_time', { mode: 'bigint' }).notNull(),
  },
  (table) => [
    index('kept_transactions_transaction_id').on(table.transactionId),
    index('kept_transactions_end_time').on(table.endTime),
  ],
)
