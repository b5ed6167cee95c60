import {
  bool,
  bytesColumn,
  type Database,
  parameterRows,
  schema,
  selectList,
  sql,
  statement,
} from '@ratatosk/database'
import type { ClaimStore } from '@ratatosk/ports'
import { StoreError } from '../errors.js'
import { checkedTtl, expiry } from '../leases/leases.js'
import { claimList, claimRow, paymentRow, toHeldClaim, toPayment } from './claim-row.js'
import { reserveClaim } from './reserve-claim.js'

const conclusions = {
  funded: { state: 'funded', frees: false },
  settled: { state: 'funded', frees: true },
  failed: { state: 'failed', frees: true },
  undecided: { state: null, frees: false },
} as const

/** Thrown within a transaction to roll it back. */
const taken = new StoreError('STORE_CONFLICT', 'Another payment of the faucet spends one of the outputs')

const unsettled = `payment_id IS NOT NULL AND settled_at IS NULL AND state <> 'failed'`

const setPayment = sql`
  UPDATE ${schema}.faucet_claims
  SET payment_id = $3, payment = $4, payment_expires_at = $5::timestamptz,
    payment_sequence = nextval('${schema}.faucet_payment_sequence')
  WHERE id = $1::uuid AND token = $2 AND state = 'reserved' AND held_until > clock_timestamp()`
const freeInputs = sql`DELETE FROM ${schema}.faucet_inputs WHERE claim_id = $1::uuid`
// Sorted, so that two payments of the same outputs lock them in the same order.
const takeInputs = sql`
  INSERT INTO ${schema}.faucet_inputs (transaction_id, output_index, claim_id)
  SELECT transaction_id, output_index, $1::uuid
  FROM ${parameterRows({ transaction_id: 'bytea', output_index: 'integer' }, 2)} AS spent
  ORDER BY transaction_id, output_index
  ON CONFLICT DO NOTHING`
const extend = sql`
  UPDATE ${schema}.faucet_claims AS claim SET held_until = ${expiry('$3')}
  FROM unnest($1::uuid[], $2::bigint[]) AS held (id, token)
  WHERE claim.id = held.id AND claim.token = held.token AND claim.held_until > clock_timestamp()`
const conclude = statement(
  { id: claimRow.id },
  sql`WITH concluded AS (
    UPDATE ${schema}.faucet_claims
    SET state = coalesce(nullif($3, '')::${schema}.faucet_claim_state, state),
      settled_at = CASE WHEN $4 = 'settled' THEN clock_timestamp() ELSE settled_at END,
      held_until = clock_timestamp()
    WHERE id = $1::uuid AND token = $2
    RETURNING id
  ), freed AS (
    DELETE FROM ${schema}.faucet_inputs USING concluded WHERE claim_id = concluded.id AND $5::integer = 1
  )
  SELECT id FROM concluded`,
)
const payments = statement(
  { ...paymentRow, accepted: bool },
  sql`SELECT ${selectList(paymentRow)}, state = 'funded' AS accepted
  FROM ${schema}.faucet_claims WHERE ${unsettled} ORDER BY payment_sequence`,
)
const take = statement(
  claimRow,
  sql`WITH free AS (
    SELECT id, state FROM ${schema}.faucet_claims
    WHERE ${unsettled} AND held_until <= clock_timestamp()
    ORDER BY payment_sequence LIMIT $2::integer
    FOR UPDATE SKIP LOCKED
  ), held AS (
    UPDATE ${schema}.faucet_claims AS claim SET token = token + 1, held_until = ${expiry('$1')}
    FROM free WHERE claim.id = free.id
    RETURNING claim.*
  )
  SELECT ${claimList} FROM held ORDER BY payment_sequence`,
)

export function openFaucetClaims(database: Database): ClaimStore {
  return {
    reserve: (request) => reserveClaim(database, request),

    async keep({ id, token }, payment, spends) {
      try {
        return await database.transaction(async (transaction) => {
          const { id: paymentId, cbor, expiresAt } = payment
          const claim = [id, token, paymentId, cbor, expiresAt.toISOString()]
          if ((await transaction.execute(setPayment, claim)) === 0) return 'lost'
          await transaction.execute(freeInputs, [id])
          const held = await transaction.execute(takeInputs, [
            id,
            bytesColumn(spends.map(({ transactionId }) => transactionId)),
            spends.map(({ index }) => index),
          ])
          if (held < spends.length) throw taken
          return 'kept'
        })
      } catch (error) {
        if (error === taken) return 'taken'
        throw error
      }
    },

    async extend(held, leaseMs) {
      if (held.length === 0) return
      await database.execute(extend, [
        held.map(({ id }) => id),
        held.map(({ token }) => String(token)),
        checkedTtl(leaseMs),
      ])
    },

    async conclude({ id, token }, conclusion) {
      const { state, frees } = conclusions[conclusion]
      const parameters = [id, token, state ?? '', conclusion, frees ? 1 : 0]
      return (await database.query(conclude, parameters)).length > 0
    },

    async underWay() {
      const rows = await database.query(payments)
      return rows.flatMap((row) => {
        const payment = toPayment(row)
        return payment === undefined ? [] : [{ payment, accepted: row.accepted }]
      })
    },

    async take(leaseMs, limit) {
      const rows = await database.query(take, [checkedTtl(leaseMs), limit])
      return rows.map((row) => toHeldClaim(row, row.state))
    },
  }
}
