import { sql } from 'drizzle-orm'
import { bigint, check, index, integer, primaryKey, text, uuid } from 'drizzle-orm/pg-core'
import { bytea, moment, ratatosk } from './tables.js'

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
