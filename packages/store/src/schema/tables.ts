import type { Json } from '@ratatosk/ledger'
import { sql } from 'drizzle-orm'
import {
  bigint,
  boolean,
  check,
  customType,
  index,
  integer,
  json,
  pgSchema,
  primaryKey,
  text,
  timestamp,
  uniqueIndex,
  uuid,
} from 'drizzle-orm/pg-core'

export const bytea = customType<{ data: Uint8Array; driverData: Uint8Array }>({ dataType: () => 'bytea' })
export const moment = (name: string) => timestamp(name, { withTimezone: true })

/** Migrations and statements use this name; `migrate` and connections replace it with the configured one. */
export const ratatosk = pgSchema('ratatosk')

/** Numbers transactions, deposits and genesis outputs in order of acceptance. Gaps have no meaning. */
export const acceptSequence = ratatosk.sequence('accept_sequence')

/** Sequence in the event log: the accept sequence at first acceptance, kept when the latter grows. */
const eventSequence = () => bigint('event_sequence', { mode: 'bigint' }).notNull().unique()

/** Accepted transactions that are not in a block yet. */
export const mempoolTransactions = ratatosk.table(
  'mempool_transactions',
  {
    sequence: bigint('sequence', { mode: 'bigint' }).primaryKey(),
    eventSequence: eventSequence(),
    transactionId: bytea('transaction_id').notNull().unique(),
    cbor: bytea('cbor').notNull(),
    acceptedAt: moment('accepted_at').notNull().defaultNow(),
  },
  (table) => [check('mempool_transactions_id_size', sql`octet_length(${table.transactionId}) = 32`)],
)

const output = {
  transactionId: bytea('transaction_id').notNull(),
  outputIndex: integer('output_index').notNull(),
  output: bytea('output').notNull(),
  address: bytea('address').notNull(),
  /**
   * The accept sequence of the transaction that produced the output. Of a deposit: the first sequence of the
   * block that credits it; -1 while it waits.
   */
  sequence: bigint('sequence', { mode: 'bigint' }).notNull(),
}

/** The unspent outputs, including those produced by mempool transactions. */
export const mempoolLedger = ratatosk.table('mempool_ledger', output, (table) => [
  primaryKey({ columns: [table.transactionId, table.outputIndex] }),
  index('mempool_ledger_address').on(table.address, table.sequence, table.outputIndex),
  check('mempool_ledger_id_size', sql`octet_length(${table.transactionId}) = 32`),
  check('mempool_ledger_output_index', sql`${table.outputIndex} BETWEEN 0 AND 65535`),
])

/** Ledger rows that transactions of the mempool and of recent blocks spent, unchanged. */
export const spentOutputs = ratatosk.table(
  'spent_outputs',
  {
    /** The accept sequence of the spending transaction. */
    spentBy: bigint('spent_by', { mode: 'bigint' }).notNull(),
    ...output,
  },
  (table) => [
    primaryKey({ columns: [table.spentBy, table.transactionId, table.outputIndex] }),
    // Finds the spender of an output. A hash index is small, and no plan can use it for an order.
    index('spent_outputs_reference').using(
      'hash',
      sql`(${table.transactionId} || int4send(${table.outputIndex}))`,
    ),
  ],
)

export const blockState = ratatosk.enum('block_state', [
  'built',
  'submitted',
  'committed',
  'mature',
  'merged',
  'removed',
])

/** Header times are POSIX milliseconds; the other times are by the database's clock. */
export const blocks = ratatosk.table(
  'blocks',
  {
    id: bigint('id', { mode: 'bigint' }).primaryKey().generatedAlwaysAsIdentity(),
    height: bigint('height', { mode: 'bigint' }).notNull(),
    state: blockState('state').notNull(),
    headerHash: bytea('header_hash').notNull().unique(),
    /** Plutus data CBOR. The next columns repeat the fields that the next block and the merge need. */
    header: bytea('header').notNull(),
    previousHeaderHash: bytea('previous_header_hash').notNull(),
    utxosRoot: bytea('utxos_root').notNull(),
    startTime: bigint('start_time', { mode: 'bigint' }).notNull(),
    endTime: bigint('end_time', { mode: 'bigint' }).notNull(),
    /** The accept sequences of the block's first and last transaction. */
    firstSequence: bigint('first_sequence', { mode: 'bigint' }).notNull(),
    lastSequence: bigint('last_sequence', { mode: 'bigint' }).notNull(),
    transactions: integer('transactions').notNull(),
    /** The greatest accept sequence of a deposit in the blocks up to this one; NULL without deposits. */
    newestDeposit: bigint('newest_deposit', { mode: 'bigint' }),
    /** The signed layer-1 transaction that commits the block; NULL if another operator committed it. */
    commitTransactionId: bytea('commit_transaction_id'),
    commitTransaction: bytea('commit_transaction'),
    /** The signed layer-1 transaction that merges the block. */
    mergeTransactionId: bytea('merge_transaction_id'),
    mergeTransaction: bytea('merge_transaction'),
    builtAt: moment('built_at').notNull().defaultNow(),
    submittedAt: moment('submitted_at'),
    committedAt: moment('committed_at'),
    maturedAt: moment('matured_at'),
    mergedAt: moment('merged_at'),
    removedAt: moment('removed_at'),
  },
  (table) => [
    uniqueIndex('blocks_height').on(table.height).where(sql`${table.state} <> 'removed'`),
    index('blocks_unmerged').on(table.height).where(sql`${table.state} NOT IN ('merged', 'removed')`),
    check('blocks_header_hash_size', sql`octet_length(${table.headerHash}) = 28`),
  ],
)

/**
 * Transactions of blocks, with positions from 1. `block_id` is no foreign key: the statement that moves them
 * has just inserted the block, and checking it again took as long as half of the move.
 */
export const blockTransactions = ratatosk.table(
  'block_transactions',
  {
    blockId: bigint('block_id', { mode: 'bigint' }).notNull(),
    position: integer('position').notNull(),
    sequence: bigint('sequence', { mode: 'bigint' }).notNull().unique(),
    eventSequence: eventSequence(),
    transactionId: bytea('transaction_id').notNull().unique(),
    cbor: bytea('cbor').notNull(),
    acceptedAt: moment('accepted_at').notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.blockId, table.position] }),
    check('block_transactions_id_size', sql`octet_length(${table.transactionId}) = 32`),
  ],
)

/** Deposits of layer 1 that are in the ledger, and fee outputs of blocks. Each is output 0 of its id. */
export const deposits = ratatosk.table(
  'deposits',
  {
    transactionId: bytea('transaction_id').primaryKey(),
    /** The block that credits it, or the last one that did. */
    headerHash: bytea('header_hash').notNull(),
    /** NULL: it waits, because that block was removed. */
    blockId: bigint('block_id', { mode: 'bigint' }),
    /** Its place in the order of acceptance, from its entry into the ledger: for followers. */
    sequence: bigint('sequence', { mode: 'bigint' }).notNull().unique(),
    /** Whether a removed block had credited it: its sequence may be older than the block that does now. */
    released: boolean('released').notNull().default(false),
    output: bytea('output').notNull(),
    address: bytea('address').notNull(),
  },
  (table) => [
    index('deposits_released').on(table.sequence).where(sql`${table.released}`),
    index('deposits_header_hash').on(table.headerHash, table.transactionId),
    index('deposits_waiting').on(table.transactionId).where(sql`${table.blockId} IS NULL`),
    check('deposits_id_size', sql`octet_length(${table.transactionId}) = 32`),
  ],
)

/** Transactions of removed blocks. Rows keep the CBOR until the queue has the transaction again. */
export const resubmissions = ratatosk.table(
  'resubmissions',
  {
    /** The accept sequence that it had. */
    sequence: bigint('sequence', { mode: 'bigint' }).primaryKey(),
    transactionId: bytea('transaction_id').notNull(),
    /** NULL once the queue has it. */
    cbor: bytea('cbor'),
    /** The removed block that had it; NULL if it was accepted after that block and in no block yet. */
    headerHash: bytea('header_hash'),
    height: bigint('height', { mode: 'bigint' }),
    removedAt: moment('removed_at').notNull().defaultNow(),
    /** The submission that brought it back. */
    submissionId: text('submission_id'),
    queuedAt: moment('queued_at'),
  },
  (table) => [
    index('resubmissions_transaction_id').on(table.transactionId, table.sequence),
    index('resubmissions_waiting').on(table.sequence).where(sql`${table.cbor} IS NOT NULL`),
    check('resubmissions_id_size', sql`octet_length(${table.transactionId}) = 32`),
    check('resubmissions_queued', sql`(${table.cbor} IS NULL) = (${table.submissionId} IS NOT NULL)`),
  ],
)

/** Transactions that answer questions of the summons, each stored before it is sent. */
export const answers = ratatosk.table(
  'answers',
  {
    /** CBOR of the reference of the question's output: equal questions have tokens of one name. */
    question: bytea('question').notNull(),
    /** 0: pays outputs whose datums are parts of the answer; 1: answers. */
    stage: integer('stage').notNull(),
    transactionId: bytea('transaction_id').notNull(),
    cbor: bytea('cbor').notNull(),
    recordedAt: moment('recorded_at').notNull().defaultNow(),
  },
  (table) => [
    primaryKey({ columns: [table.question, table.stage] }),
    index('answers_recorded_at').on(table.recordedAt),
    check('answers_stage', sql`${table.stage} IN (0, 1)`),
  ],
)

/** Every state of each block, in order. A trigger on `blocks` writes it; rows never change. */
export const blockEvents = ratatosk.table(
  'block_events',
  {
    sequence: bigint('sequence', { mode: 'bigint' }).primaryKey().generatedAlwaysAsIdentity(),
    headerHash: bytea('header_hash').notNull(),
    height: bigint('height', { mode: 'bigint' }).notNull(),
    state: blockState('state').notNull(),
    transactions: integer('transactions').notNull(),
    firstSequence: bigint('first_sequence', { mode: 'bigint' }).notNull(),
    lastSequence: bigint('last_sequence', { mode: 'bigint' }).notNull(),
    endTime: bigint('end_time', { mode: 'bigint' }).notNull(),
    commitTransactionId: bytea('commit_transaction_id'),
    mergeTransactionId: bytea('merge_transaction_id'),
    at: moment('at').notNull(),
  },
  (table) => [index('block_events_header_hash').on(table.headerHash, table.sequence)],
)

/** Which transactions spend from or pay to an address, by accept sequence: in the mempool or in a block. */
export const addressHistory = ratatosk.table(
  'address_history',
  {
    address: bytea('address').notNull(),
    sequence: bigint('sequence', { mode: 'bigint' }).notNull(),
  },
  (table) => [primaryKey({ columns: [table.address, table.sequence] })],
)

/** Undone acceptances, in order, added under the ledger's lock. No transaction: everything was undone. */
export const droppedTransactions = ratatosk.table(
  'dropped_transactions',
  {
    number: bigint('number', { mode: 'bigint' }).primaryKey().generatedAlwaysAsIdentity(),
    /** Its accept sequence, which no other transaction ever gets. */
    sequence: bigint('sequence', { mode: 'bigint' }),
    transactionId: bytea('transaction_id'),
    /** How many dead letters that rest on it may still be reopened; 0 once the others are settled. */
    reopenings: integer('reopenings').notNull().default(1_000),
  },
  (table) => [
    index('dropped_transactions_reopenings').on(table.number).where(sql`${table.reopenings} > 0`),
    check(
      'dropped_transactions_one_or_all',
      sql`(${table.sequence} IS NULL) = (${table.transactionId} IS NULL)`,
    ),
  ],
)

/** A released lease keeps its row, so that its fencing token never decreases. */
export const leases = ratatosk.table(
  'leases',
  {
    name: text('name').primaryKey(),
    holder: text('holder').notNull(),
    token: bigint('token', { mode: 'bigint' }).notNull(),
    expiresAt: moment('expires_at').notNull(),
  },
  // So that a new token waits for work under the old one, and a renewal does not.
  (table) => [uniqueIndex('leases_token').on(table.name, table.token)],
)

/** At most one row: the genesis outputs that the ledger was started with. */
export const genesis = ratatosk.table(
  'genesis',
  {
    id: integer('id').primaryKey().default(1),
    /** SHA-256 of the outputs, ordered by reference. */
    digest: bytea('digest').notNull(),
    outputs: integer('outputs').notNull(),
    appliedAt: moment('applied_at').notNull().defaultNow(),
  },
  (table) => [check('genesis_once', sql`${table.id} = 1`)],
)

/** At most one row: what the deployment of this store began with, and keeps. A reset leaves it. */
export const deployment = ratatosk.table(
  'deployment',
  {
    id: integer('id').primaryKey().default(1),
    /** Distinguishes this ledger from all others. A restoration makes another one. */
    ledgerId: uuid('ledger_id').notNull().defaultRandom(),
    /** Cardano's protocol version by whose rules layer 2 judges. */
    ledgerVersion: integer('ledger_version'),
    /** By which rules every process on this store judges and reads, as the first one stated them. */
    rules: text('rules'),
    /** The queue whose submissions it validates, as the first process stated it. */
    queue: text('queue'),
    begunAt: moment('begun_at').notNull().defaultNow(),
  },
  (table) => [check('deployment_once', sql`${table.id} = 1`)],
)

/** Blocks whose bodies an archivist serves. Heights have no gaps. */
export const archivedBlocks = ratatosk.table(
  'archived_blocks',
  {
    height: bigint('height', { mode: 'bigint' }).primaryKey(),
    headerHash: bytea('header_hash').notNull().unique(),
    /** Plutus data CBOR of the ten fields. */
    header: bytea('header').notNull(),
    /** Canonical CBOR. Its storage is EXTERNAL, so that parts of it can be read. */
    body: bytea('body').notNull(),
    merged: boolean('merged').notNull(),
    archivedAt: moment('archived_at').notNull().defaultNow(),
  },
  (table) => [
    index('archived_blocks_unmerged').on(table.height).where(sql`NOT ${table.merged}`),
    check('archived_blocks_height', sql`${table.height} >= 1`),
    check('archived_blocks_header_hash_size', sql`octet_length(${table.headerHash}) = 28`),
  ],
)

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

/** Numbers rejections in order. Gaps have no meaning. */
export const rejectionSequence = ratatosk.sequence('rejection_sequence')

/** Dead letters: submissions that validation has finally rejected; one row for the same bytes. */
export const rejections = ratatosk.table(
  'rejections',
  {
    /** SHA-256 of the submitted bytes. */
    digest: bytea('digest').primaryKey(),
    /** Of the newest rejection of these bytes: its sequence, the submission's id, and so on. */
    sequence: bigint('sequence', { mode: 'bigint' }).notNull().unique(),
    submissionId: text('submission_id').notNull(),
    transactionId: bytea('transaction_id'),
    /** NULL after retention has dropped it. */
    cbor: bytea('cbor'),
    cborBytes: integer('cbor_bytes').notNull(),
    /** Retention counts this for the rest of the row. */
    reasonBytes: integer('reason_bytes').notNull(),
    attempts: integer('attempts').notNull(),
    code: text('code').notNull(),
    message: text('message').notNull(),
    /** `json`, not `jsonb`: a script's trace may contain U+0000, which `jsonb` refuses. */
    details: json('details').$type<Json>().notNull(),
    submittedAt: moment('submitted_at').notNull(),
    rejectedAt: moment('rejected_at').notNull(),
    firstRejectedAt: moment('first_rejected_at').notNull(),
    /** How many submissions of these bytes were rejected. */
    count: integer('count').notNull(),
    replayedAt: moment('replayed_at'),
    /** The submission that replays these bytes. */
    replayedAs: text('replayed_as'),
    /** The accepted transaction that spends an input, if the rejection rests on nothing else. */
    spentBy: bytea('spent_by'),
    /** When these bytes were submitted again because the spender had left the ledger. */
    reopenedAt: moment('reopened_at'),
  },
  (table) => [
    index('rejections_transaction_id')
      .on(table.transactionId, table.sequence)
      .where(sql`${table.transactionId} IS NOT NULL`),
    // Rejections that can be reopened once their spender has left the ledger.
    index('rejections_spent_by')
      .on(table.spentBy, table.sequence)
      .where(sql`${table.spentBy} IS NOT NULL AND ${table.cbor} IS NOT NULL`),
    // The order in which retention drops CBOR: what does not decode first.
    index('rejections_cbor')
      .on(sql`(${table.transactionId} IS NOT NULL)`, table.sequence)
      .where(sql`${table.cbor} IS NOT NULL`),
  ],
)

/** Which bytes each rejected submission had. */
export const rejectedSubmissions = ratatosk.table('rejected_submissions', {
  submissionId: text('submission_id').primaryKey(),
  sequence: bigint('sequence', { mode: 'bigint' }).notNull().unique(),
  digest: bytea('digest').notNull(),
  rejectedAt: moment('rejected_at').notNull(),
})

/** One row: the bytes that dead letters take, kept up to date by everything that writes them. */
export const rejectionUsage = ratatosk.table(
  'rejection_usage',
  {
    id: integer('id').primaryKey().default(1),
    cborBytes: bigint('cbor_bytes', { mode: 'bigint' }).notNull(),
    reasonBytes: bigint('reason_bytes', { mode: 'bigint' }).notNull(),
  },
  (table) => [check('rejection_usage_once', sql`${table.id} = 1`)],
)
