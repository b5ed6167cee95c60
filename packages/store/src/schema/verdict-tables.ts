import { sql } from 'drizzle-orm'
import { bigint, check, index, integer, text } from 'drizzle-orm/pg-core'
import { bytea, moment, ratatosk } from './tables.js'

export const verdictState = ratatosk.enum('verdict_state', [
  'unavailable',
  'valid',
  'invalid',
  'unprovable',
  'removing',
  'removed',
])

export const verdictStage = ratatosk.enum('verdict_stage', [
  'question',
  'datum',
  'verdict',
  'removal',
  'prune',
])

/** Blocks that a watcher disputes in the state queue, and what has become of them. */
export const verdicts = ratatosk.table(
  'verdicts',
  {
    headerHash: bytea('header_hash').primaryKey(),
    /** In the order in which they were found. */
    number: bigint('number', { mode: 'bigint' }).notNull().unique().generatedAlwaysAsIdentity(),
    height: bigint('height', { mode: 'bigint' }).notNull(),
    /** Plutus data CBOR. */
    header: bytea('header').notNull(),
    /** The transaction that committed the block, as the element before it in the queue shows. */
    commitId: bytea('commit_id'),
    state: verdictState('state').notNull().default('invalid'),
    reason: text('reason').notNull(),
    /** Position in the block of the transaction that breaks the rule. */
    position: integer('position'),
    policy: text('policy'),
    fraud: text('fraud'),
    foundAt: moment('found_at').notNull().defaultNow(),
    removedAt: moment('removed_at'),
  },
  (table) => [
    index('verdicts_state').on(table.state, table.number),
    check('verdicts_header_hash_size', sql`octet_length(${table.headerHash}) = 28`),
  ],
)

/** The states that verdicts have entered, added by a trigger. */
export const verdictEvents = ratatosk.table(
  'verdict_events',
  {
    sequence: bigint('sequence', { mode: 'bigint' }).primaryKey().generatedAlwaysAsIdentity(),
    headerHash: bytea('header_hash')
      .notNull()
      .references(() => verdicts.headerHash, { onDelete: 'cascade' }),
    state: verdictState('state').notNull(),
    reason: text('reason').notNull(),
    policy: text('policy'),
    fraud: text('fraud'),
    at: moment('at').notNull(),
  },
  (table) => [index('verdict_events_header_hash').on(table.headerHash, table.sequence)],
)

/** Signed transactions of a watcher, each stored before it is sent. */
export const verdictTransactions = ratatosk.table(
  'verdict_transactions',
  {
    transactionId: bytea('transaction_id').primaryKey(),
    /** In the order in which they were built. */
    number: bigint('number', { mode: 'bigint' }).notNull().generatedAlwaysAsIdentity(),
    headerHash: bytea('header_hash')
      .notNull()
      .references(() => verdicts.headerHash, { onDelete: 'cascade' }),
    stage: verdictStage('stage').notNull(),
    cbor: bytea('cbor').notNull(),
    /** Lovelace. */
    fee: bigint('fee', { mode: 'bigint' }).notNull(),
    /** Lovelace in outputs that hold a question, or parts of a proof. */
    locked: bigint('locked', { mode: 'bigint' }).notNull(),
    sentAt: moment('sent_at').notNull().defaultNow(),
  },
  (table) => [
    index('verdict_transactions_header_hash').on(table.headerHash, table.number),
    index('verdict_transactions_sent_at').on(table.sentAt),
    check('verdict_transactions_id_size', sql`octet_length(${table.transactionId}) = 32`),
  ],
)

/** Questions of others, on whose answers a watcher relies. */
export const verdictQuestions = ratatosk.table(
  'verdict_questions',
  {
    /** CBOR of the reference of the question's output. */
    reference: bytea('reference').primaryKey(),
    headerHash: bytea('header_hash')
      .notNull()
      .references(() => verdicts.headerHash, { onDelete: 'cascade' }),
    /** CBOR of the output. */
    output: bytea('output').notNull(),
  },
  (table) => [index('verdict_questions_header_hash').on(table.headerHash)],
)
