import { bytesColumn, rowsOf } from '../drivers/columns.js'
import type { Database } from '../drivers/connection.js'
import { StoreError } from '../errors.js'
import { checkedTtl } from '../repositories/leases.js'
import { claimRow, type HeldRow, toHeldClaim, toPayment } from './claim-row.js'
import { reserveClaim } from './reserve.js'
import type { FaucetClaims } from './types.js'

const conclusions = {
  funded: { state: 'funded', frees: false },
  settled: { state: 'funded', frees: true },
  failed: { state: 'failed', frees: true },
  undecided: { state: null, frees: false },
} as const

/** Thrown within a transaction, so that it is rolled back. */
const taken = new StoreError('STORE_CONFLICT', 'An output is spent by another payment of the faucet')

export function openFaucetClaims(
  database: Pick<Database, 'query' | 'transaction'>,
  schema: string,
): FaucetClaims {
  const claims = `${schema}.faucet_claims`
  const inputs = `${schema}.faucet_inputs`
  const leaseFrom = (ttl: string) => `clock_timestamp() + ${ttl}::bigint * interval '1 millisecond'`
  const underWay = `payment_id IS NOT NULL AND settled_at IS NULL AND state <> 'failed'`

  const setPayment = `
    UPDATE ${claims}
    SET payment_id = $3, payment = $4, payment_expires_at = $5::timestamptz,
      payment_sequence = nextval('${schema}.faucet_payment_sequence')
    WHERE id = $1::uuid AND token = $2 AND state = 'reserved' AND held_until > clock_timestamp()
    RETURNING id`
  const freeInputs = `DELETE FROM ${inputs} WHERE claim_id = $1::uuid`
  // Sorted, so that two payments of the same outputs wait for each other in one order.
  const takeInputs = `
    INSERT INTO ${inputs} (transaction_id, output_index, claim_id)
    SELECT transaction_id, output_index, $1::uuid
    FROM ${rowsOf({ transaction_id: 'bytea', output_index: 'integer' }, 2)} AS spent
    ORDER BY transaction_id, output_index
    ON CONFLICT DO NOTHING
    RETURNING output_index`
  const extend = `
    UPDATE ${claims} AS claim SET held_until = ${leaseFrom('$3')}
    FROM unnest($1::uuid[], $2::bigint[]) AS held (id, token)
    WHERE claim.id = held.id AND claim.token = held.token AND claim.held_until > clock_timestamp()`
  const conclude = `
    WITH concluded AS (
      UPDATE ${claims}
      SET state = coalesce(nullif($3, '')::${schema}.faucet_claim_state, state),
        settled_at = CASE WHEN $4 = 'settled' THEN clock_timestamp() ELSE settled_at END,
        held_until = clock_timestamp()
      WHERE id = $1::uuid AND token = $2
      RETURNING id
    ), freed AS (
      DELETE FROM ${inputs} USING concluded WHERE claim_id = concluded.id AND $5::integer = 1
    )
    SELECT id FROM concluded`
  const payments = `
    SELECT payment_id AS "paymentId", payment, payment_expires_at AS "paymentExpiresAt", state = 'funded' AS accepted
    FROM ${claims} WHERE ${underWay} ORDER BY payment_sequence`
  const take = `
    WITH free AS (
      SELECT id, state FROM ${claims}
      WHERE ${underWay} AND held_until <= clock_timestamp()
      ORDER BY payment_sequence LIMIT $2::integer
      FOR UPDATE SKIP LOCKED
    ), held AS (
      UPDATE ${claims} AS claim SET token = token + 1, held_until = ${leaseFrom('$1')}
      FROM free WHERE claim.id = free.id
      RETURNING claim.*
    )
    SELECT ${claimRow} FROM held ORDER BY payment_sequence`

  return {
    reserve: (request) => reserveClaim(database, schema, request),

    async keep({ id, token }, payment, spends) {
      try {
        return await database.transaction(async (transaction) => {
          const { id: paymentId, cbor, expiresAt } = payment
          const kept = await transaction.query(setPayment, [
            id,
            token,
            paymentId,
            cbor,
            expiresAt.toISOString(),
          ])
          if (kept.length === 0) return 'lost'
          await transaction.query(freeInputs, [id])
          const held = await transaction.query(takeInputs, [
            id,
            bytesColumn(spends.map(({ transactionId }) => transactionId)),
            spends.map(({ index }) => index),
          ])
          if (held.length < spends.length) throw taken
          return 'kept'
        })
      } catch (error) {
        if (error === taken) return 'taken'
        throw error
      }
    },

    async extend(held, leaseMs) {
      if (held.length === 0) return
      await database.query(extend, [
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
      const rows = await database.query<HeldRow & { accepted: boolean }>(payments)
      return rows.flatMap((row) => {
        const payment = toPayment(row)
        return payment === undefined ? [] : [{ payment, accepted: row.accepted }]
      })
    },

    async take(leaseMs, limit) {
      const rows = await database.query<HeldRow>(take, [checkedTtl(leaseMs), limit])
      return rows.map((row) => toHeldClaim(row, row.state))
    },
  }
}
