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

const bytea = customType<{ data: Uint8Array; driverData: Uint8Array }>({ dataType: () => 'bytea' })
const moment = (name: string) => timestamp(name, { withTimezone: true })

/**
 * Migrations and statements use this name; `migrate` and each connection replace it with the configured
 * schema.
 */
export const ratatosk = pgSchema('ratatosk')

/** Numbers transactions and genesis outputs in order of acceptance. Gaps have no meaning. */
export const acceptSequence = ratatosk.sequence('accept_sequence')

/** Accepted transactions that are not in a block yet. */
export const mempoolTransactions = ratatosk.table(
  'mempool_transactions',
  {
    sequence: bigint('sequence', { mode: 'bigint' }).primaryKey(),
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
  /** The accept sequence of the transaction that produced the output. */
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
  (table) => [primaryKey({ columns: [table.spentBy, table.transactionId, table.outputIndex] })],
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
    /**
     * Plutus data CBOR of the ten fields. The next columns repeat the fields that the next block and the
     * merge need.
     */
    header: bytea('header').notNull(),
    previousHeaderHash: bytea('previous_header_hash').notNull(),
    utxosRoot: bytea('utxos_root').notNull(),
    startTime: bigint('start_time', { mode: 'bigint' }).notNull(),
    endTime: bigint('end_time', { mode: 'bigint' }).notNull(),
    /** The accept sequences of the block's first and last transaction. */
    firstSequence: bigint('first_sequence', { mode: 'bigint' }).notNull(),
    lastSequence: bigint('last_sequence', { mode: 'bigint' }).notNull(),
    transactions: integer('transactions').notNull(),
    /** The signed layer-1 transaction that commits the block. */
    commitTransactionId: bytea('commit_transaction_id').notNull(),
    commitTransaction: bytea('commit_transaction').notNull(),
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
 * Building a block moves transactions here from the mempool; removing it moves them back. Positions count
 * from 1. `block_id` is no foreign key: the statement that moves them has just inserted the block, and
 * checking it again took as long as half of the move.
 */
export const blockTransactions = ratatosk.table(
  'block_transactions',
  {
    blockId: bigint('block_id', { mode: 'bigint' }).notNull(),
    position: integer('position').notNull(),
    sequence: bigint('sequence', { mode: 'bigint' }).notNull().unique(),
    transactionId: bytea('transaction_id').notNull().unique(),
    cbor: bytea('cbor').notNull(),
    acceptedAt: moment('accepted_at').notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.blockId, table.position] }),
    check('block_transactions_id_size', sql`octet_length(${table.transactionId}) = 32`),
  ],
)

/**
 * Transactions that the removal of a block took out of the ledger. A row keeps its CBOR until the queue has
 * the transaction again; afterwards it says only that, and in which block, it was removed.
 */
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

/**
 * Every state that a block has entered, in order. A trigger on `blocks` writes it; rows are never changed.
 * The other columns repeat the block, which may be replaced or reset later.
 */
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
    commitTransactionId: bytea('commit_transaction_id').notNull(),
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

/**
 * Accepted transactions that the ledger has undone, in the order of the undoing, for what follows acceptance.
 * A row without transaction: everything was undone. Whatever takes an accepted transaction out of the ledger
 * adds a row, under the ledger's lock.
 */
export const droppedTransactions = ratatosk.table(
  'dropped_transactions',
  {
    number: bigint('number', { mode: 'bigint' }).primaryKey().generatedAlwaysAsIdentity(),
    /** Its accept sequence, which no other transaction ever gets. */
    sequence: bigint('sequence', { mode: 'bigint' }),
    transactionId: bytea('transaction_id'),
  },
  (table) => [
    check(
      'dropped_transactions_one_or_all',
      sql`(${table.sequence} IS NULL) = (${table.transactionId} IS NULL)`,
    ),
  ],
)

/** Numbers rejections in order. Gaps have no meaning. */
export const rejectionSequence = ratatosk.sequence('rejection_sequence')

/**
 * Dead letters: submissions that validation has rejected for good. One row for the same bytes, however often
 * submitted.
 */
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
    /** What retention counts for the rest of the row. */
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
  },
  (table) => [
    index('rejections_transaction_id')
      .on(table.transactionId, table.sequence)
      .where(sql`${table.transactionId} IS NOT NULL`),
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

/** A released lease keeps its row, so that its fencing token never decreases. */
export const leases = ratatosk.table('leases', {
  name: text('name').primaryKey(),
  holder: text('holder').notNull(),
  token: bigint('token', { mode: 'bigint' }).notNull(),
  expiresAt: moment('expires_at').notNull(),
})

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

export const faucetClaimState = ratatosk.enum('faucet_claim_state', ['reserved', 'funded', 'failed'])

/** Numbers the faucet's payments in the order in which they were stored. Gaps have no meaning. */
export const faucetPaymentSequence = ratatosk.sequence('faucet_payment_sequence')

/** Faucet claims, by idempotency key. Only the holder of a claim may change it, until `held_until`. */
export const faucetClaims = ratatosk.table(
  'faucet_claims',
  {
    id: uuid('id').primaryKey().defaultRandom(),
    idempotencyKey: text('idempotency_key').notNull().unique(),
    address: bytea('address').notNull(),
    ipHash: text('ip_hash').notNull(),
    amount: bigint('amount', { mode: 'bigint' }).notNull(),
    state: faucetClaimState('state').notNull().default('reserved'),
    /** This time and the next are by the clock of the process that reserved the claim. */
    reservedAt: moment('reserved_at').notNull(),
    nextEligibleAt: moment('next_eligible_at').notNull(),
    /** The signed transaction that pays the claim. */
    paymentId: bytea('payment_id'),
    payment: bytea('payment'),
    paymentSequence: bigint('payment_sequence', { mode: 'bigint' }),
    /** After this time the payment can no longer happen. */
    paymentExpiresAt: moment('payment_expires_at'),
    /** When the payment of a funded claim became final. */
    settledAt: moment('settled_at'),
    token: bigint('token', { mode: 'bigint' }).notNull().default(sql`1`),
    heldUntil: moment('held_until').notNull(),
  },
  (table) => [
    index('faucet_claims_payment_credential').on(
      sql`substring(${table.address} FROM 2 FOR 28)`,
      table.nextEligibleAt,
    ),
    index('faucet_claims_ip_hash').on(table.ipHash, table.reservedAt),
    index('faucet_claims_under_way')
      .on(table.paymentSequence)
      .where(
        sql`${table.paymentId} IS NOT NULL AND ${table.settledAt} IS NULL AND ${table.state} <> 'failed'`,
      ),
    check('faucet_claims_payment_id_size', sql`octet_length(${table.paymentId}) = 32`),
    check('faucet_claims_funded', sql`${table.state} <> 'funded' OR ${table.paymentId} IS NOT NULL`),
  ],
)

/** Outputs that unsettled payments spend. The primary key lets only one payment spend each. */
export const faucetInputs = ratatosk.table(
  'faucet_inputs',
  {
    transactionId: bytea('transaction_id').notNull(),
    outputIndex: integer('output_index').notNull(),
    claimId: uuid('claim_id')
      .notNull()
      .references(() => faucetClaims.id),
  },
  (table) => [
    primaryKey({ columns: [table.transactionId, table.outputIndex] }),
    index('faucet_inputs_claim').on(table.claimId),
  ],
)

/** Blocks whose bodies an archivist serves. Heights have no gaps. */
export const archivedBlocks = ratatosk.table(
  'archived_blocks',
  {
    height: bigint('height', { mode: 'bigint' }).primaryKey(),
    headerHash: bytea('header_hash').notNull().unique(),
    /** Plutus data CBOR of the ten fields. */
    header: bytea('header').notNull(),
    /**
     * Canonical CBOR. The migration sets its storage to EXTERNAL, so that part of it can be read without the
     * rest.
     */
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
