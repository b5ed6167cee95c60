import { eq, sql } from 'drizzle-orm'
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
import type { Json } from '../types.js'

const bytea = customType<{ data: Uint8Array; driverData: Uint8Array }>({ dataType: () => 'bytea' })
const moment = (name: string) => timestamp(name, { withTimezone: true })

/** The migrations are generated under this name; `migrate` writes the name that was asked for in its place. */
export const ratatosk = pgSchema('ratatosk')

/** Numbers transactions and genesis outputs in the order of their acceptance; gaps mean nothing. */
export const acceptSequence = ratatosk.sequence('accept_sequence')

/** Accepted and not yet in a block. */
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
  paymentCredential: bytea('payment_credential'),
  /** Of the transaction that made the output. */
  sequence: bigint('sequence', { mode: 'bigint' }).notNull(),
}

/** The unspent outputs, those of mempool transactions included. */
export const mempoolLedger = ratatosk.table('mempool_ledger', output, (table) => [
  primaryKey({ columns: [table.transactionId, table.outputIndex] }),
  index('mempool_ledger_address').on(table.address, table.sequence, table.outputIndex),
  index('mempool_ledger_payment_credential')
    .on(table.paymentCredential, table.sequence, table.outputIndex)
    .where(sql`${table.paymentCredential} IS NOT NULL`),
  check('mempool_ledger_id_size', sql`octet_length(${table.transactionId}) = 32`),
  check('mempool_ledger_output_index', sql`${table.outputIndex} BETWEEN 0 AND 65535`),
  check('mempool_ledger_credential_size', sql`octet_length(${table.paymentCredential}) = 28`),
])

/** What transactions of the mempool and of unmerged blocks took out of the ledger: each row as it stood there. */
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

/** Times of a header are POSIX milliseconds; the other times are this node's. */
export const blocks = ratatosk.table(
  'blocks',
  {
    id: bigint('id', { mode: 'bigint' }).primaryKey().generatedAlwaysAsIdentity(),
    height: bigint('height', { mode: 'bigint' }).notNull(),
    state: blockState('state').notNull(),
    headerHash: bytea('header_hash').notNull().unique(),
    /** Plutus data CBOR of the ten fields; the columns after it repeat what the next block and the merge ask for. */
    header: bytea('header').notNull(),
    previousHeaderHash: bytea('previous_header_hash').notNull(),
    utxosRoot: bytea('utxos_root').notNull(),
    startTime: bigint('start_time', { mode: 'bigint' }).notNull(),
    endTime: bigint('end_time', { mode: 'bigint' }).notNull(),
    /** The mempool's oldest transactions went into the block: those from the first of these accept sequences to the last. */
    firstSequence: bigint('first_sequence', { mode: 'bigint' }).notNull(),
    lastSequence: bigint('last_sequence', { mode: 'bigint' }).notNull(),
    transactions: integer('transactions').notNull(),
    /** The layer-1 transaction that commits the block: its id, and the bytes to send again. */
    commitTransactionId: bytea('commit_transaction_id').notNull(),
    commitTransaction: bytea('commit_transaction').notNull(),
    /** The one that merges it, once there is one. */
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

/** Transactions leave the mempool for this table when a block is built, and stay for good, unless their block is removed. Positions count from 1. */
export const blockTransactions = ratatosk.table(
  'block_transactions',
  {
    blockId: bigint('block_id', { mode: 'bigint' })
      .notNull()
      .references(() => blocks.id),
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

/** Merging makes a block's transactions immutable by its state alone, so that nothing is copied. */
export const immutableTransactions = ratatosk.view('immutable_transactions').as((query) =>
  query
    .select({
      sequence: blockTransactions.sequence,
      transactionId: blockTransactions.transactionId,
      cbor: blockTransactions.cbor,
      acceptedAt: blockTransactions.acceptedAt,
      blockId: blockTransactions.blockId,
      position: blockTransactions.position,
    })
    .from(blockTransactions)
    .innerJoin(blocks, eq(blocks.id, blockTransactions.blockId))
    .where(eq(blocks.state, 'merged')),
)

/** Which transactions spend from or pay to an address. The sequence finds them wherever they are. */
export const addressHistory = ratatosk.table(
  'address_history',
  {
    address: bytea('address').notNull(),
    sequence: bigint('sequence', { mode: 'bigint' }).notNull(),
  },
  (table) => [primaryKey({ columns: [table.address, table.sequence] })],
)

/** Dead letters. */
export const rejections = ratatosk.table('rejections', {
  sequence: bigint('sequence', { mode: 'bigint' }).primaryKey().generatedAlwaysAsIdentity(),
  submissionId: text('submission_id').notNull().unique(),
  transactionId: bytea('transaction_id'),
  cbor: bytea('cbor').notNull(),
  attempts: integer('attempts').notNull(),
  code: text('code').notNull(),
  message: text('message').notNull(),
  /** `json`, not `jsonb`: a script's trace may hold U+0000, which `jsonb` refuses. */
  details: json('details').$type<Json>().notNull(),
  submittedAt: moment('submitted_at').notNull(),
  rejectedAt: moment('rejected_at').notNull().defaultNow(),
})

/** A released lease keeps its row, so that its token never falls. */
export const leases = ratatosk.table('leases', {
  name: text('name').primaryKey(),
  holder: text('holder').notNull(),
  token: bigint('token', { mode: 'bigint' }).notNull(),
  expiresAt: moment('expires_at').notNull(),
})

/** At most one row: which outputs the ledger began with. */
export const genesis = ratatosk.table(
  'genesis',
  {
    id: integer('id').primaryKey().default(1),
    /** SHA-256 over the outputs in the order of their references. */
    digest: bytea('digest').notNull(),
    outputs: integer('outputs').notNull(),
    appliedAt: moment('applied_at').notNull().defaultNow(),
  },
  (table) => [check('genesis_once', sql`${table.id} = 1`)],
)

export const faucetClaimState = ratatosk.enum('faucet_claim_state', ['reserved', 'funded', 'failed'])

/** Numbers the faucet's payments in the order in which they were kept; gaps mean nothing. */
export const faucetPaymentSequence = ratatosk.sequence('faucet_payment_sequence')

/** Claims at the faucet, by their idempotency keys. Whoever holds one alone may change it, until its lease ends. */
export const faucetClaims = ratatosk.table(
  'faucet_claims',
  {
    id: uuid('id').primaryKey().defaultRandom(),
    idempotencyKey: text('idempotency_key').notNull().unique(),
    address: bytea('address').notNull(),
    ipHash: text('ip_hash').notNull(),
    amount: bigint('amount', { mode: 'bigint' }).notNull(),
    state: faucetClaimState('state').notNull().default('reserved'),
    /** By the clock of the process that reserved it, as is the next. */
    reservedAt: moment('reserved_at').notNull(),
    nextEligibleAt: moment('next_eligible_at').notNull(),
    /** The signed transaction that pays it: its id, and the bytes to send again. */
    paymentId: bytea('payment_id'),
    payment: bytea('payment'),
    paymentSequence: bigint('payment_sequence', { mode: 'bigint' }),
    /** What has not happened by then never will. */
    paymentExpiresAt: moment('payment_expires_at'),
    /** Of a funded claim: since when nothing can undo its payment. */
    settledAt: moment('settled_at'),
    token: bigint('token', { mode: 'bigint' }).notNull().default(sql`1`),
    heldUntil: moment('held_until').notNull(),
  },
  (table) => [
    index('faucet_claims_address').on(table.address, table.nextEligibleAt),
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

/** Outputs that payments under way spend: each by one of them. */
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

/** Blocks whose bodies this node keeps for others; heights are without a gap. */
export const archivedBlocks = ratatosk.table(
  'archived_blocks',
  {
    height: bigint('height', { mode: 'bigint' }).primaryKey(),
    headerHash: bytea('header_hash').notNull().unique(),
    /** Plutus data CBOR of the ten fields. */
    header: bytea('header').notNull(),
    /** Canonical CBOR. Its storage is EXTERNAL (the migration says so), so that a piece of it is read without the rest. */
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
