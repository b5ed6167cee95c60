import {
  bool,
  bytesColumn,
  type Database,
  int4,
  nullable,
  parameterRows,
  type Row,
  schema,
  selectList,
  sql,
  statement,
  timestamptz,
  toHex,
} from '@ratatosk/database'
import type { ClaimStore, HeldClaim, Payment, Reservation, ReserveRequest } from '@ratatosk/ports'
import { StoreError } from '../errors.js'
import { checkedTtl, expiry } from '../leases/leases.js'
import { faucetClaims } from '../schema/faucet-tables.js'

const { id, token, state, address, amount, nextEligibleAt, paymentId, payment, paymentExpiresAt } =
  faucetClaims

const paymentRow = { paymentId, payment, paymentExpiresAt }

const claimRow = { id, token, state, address, amount, nextEligibleAt, ...paymentRow }

const claimList = selectList(claimRow)

type ClaimRow = Row<typeof claimRow>

function toPayment(row: Row<typeof paymentRow>): Payment | undefined {
  const { paymentId, payment, paymentExpiresAt } = row
  if (paymentId === null || payment === null || paymentExpiresAt === null) return undefined
  return { id: paymentId, cbor: payment, expiresAt: paymentExpiresAt }
}

/** @param state the claim's state before it was taken */
function toHeldClaim(row: ClaimRow, state: HeldClaim['state']): HeldClaim {
  const { id, token, address, amount, nextEligibleAt } = row
  const payment = toPayment(row)
  return { id, token, state, address, amount, nextEligibleAt, ...(payment && { payment }) }
}

const counts = `state IN ('funded', 'reserved')`
/** SQL for the payment credential of a Shelley address (CIP-19), as in the index on claims. */
const credentialOf = (address: string) => `substring(${address} FROM 2 FOR 28)`

const overdue = `settled_at IS NULL AND payment_expires_at <= $2::timestamptz
  AND held_until <= clock_timestamp()`

// In numerical order, so that two requests never wait for each other.
const lock = sql`
  SELECT pg_advisory_xact_lock(number)
  FROM (SELECT DISTINCT hashtextextended(name, 0) AS number FROM unnest($1::text[]) AS name
    ORDER BY number) AS locks`

const find = statement(
  { ...claimRow, held: bool },
  sql`SELECT ${claimList}, held_until > clock_timestamp() AND state = 'reserved' AS held
  FROM ${schema}.faucet_claims WHERE idempotency_key = $1`,
)

const resume = statement(
  claimRow,
  sql`UPDATE ${schema}.faucet_claims SET token = token + 1, held_until = ${expiry('$2')} WHERE id = $1::uuid
  RETURNING ${claimList}`,
)

/**
 * Ends the claims whose hold has ended before they were paid, so that they no longer count: their holders
 * cannot pay them any more. Waits for a payment, or a longer hold, that is being recorded meanwhile.
 */
const end = sql`WITH ended AS (
    SELECT id FROM ${schema}.faucet_claims
    WHERE state = 'reserved' AND payment_id IS NULL AND held_until <= clock_timestamp() AND (
      ip_hash = $1 AND reserved_at > $3::timestamptz - interval '24 hours'
      OR ${credentialOf('address')} = ${credentialOf('$2::bytea')} AND next_eligible_at > $3::timestamptz)
    ORDER BY id FOR UPDATE
  )
  UPDATE ${schema}.faucet_claims AS claim SET state = 'failed', token = token + 1
  FROM ended WHERE claim.id = ended.id`

const cooldown = statement(
  { until: nullable(timestamptz), overdue: bool },
  sql`SELECT max(next_eligible_at) AS until, coalesce(bool_or(${overdue}), false) AS overdue
  FROM ${schema}.faucet_claims WHERE ${credentialOf('address')} = ${credentialOf('$1::bytea')}
    AND next_eligible_at > $2::timestamptz AND ${counts}`,
)

const recent = statement(
  { claims: int4, overdue: bool },
  sql`SELECT count(*)::integer AS claims, coalesce(bool_or(${overdue}), false) AS overdue
  FROM ${schema}.faucet_claims
  WHERE ip_hash = $1 AND reserved_at > $2::timestamptz - interval '24 hours' AND ${counts}`,
)

const reserve = statement(
  claimRow,
  sql`INSERT INTO ${schema}.faucet_claims AS claim
    (idempotency_key, address, ip_hash, amount, reserved_at, next_eligible_at, held_until)
  VALUES ($1, $2, $3, $4, $5::timestamptz, $6::timestamptz, ${expiry('$7')})
  ON CONFLICT (idempotency_key) DO UPDATE
  SET ip_hash = excluded.ip_hash, amount = excluded.amount, state = 'reserved',
    reserved_at = excluded.reserved_at,
    next_eligible_at = excluded.next_eligible_at, payment_id = NULL, payment = NULL, payment_sequence = NULL,
    payment_expires_at = NULL, token = claim.token + 1, held_until = excluded.held_until
  RETURNING ${claimList}`,
)

/** Reserves a claim; requests with the same key, address or `ipHash` wait. See `ClaimStore.reserve`. */
async function reserveClaim(database: Database, request: ReserveRequest): Promise<Reservation> {
  const { idempotencyKey, address, ipHash, amount, now, cooldownMs, dailyIpLimit, leaseMs } = request
  const time = now.toISOString()
  const nextEligibleAt = new Date(now.getTime() + checkedDuration(cooldownMs)).toISOString()
  const ttl = checkedTtl(leaseMs)
  const locks = [`key ${idempotencyKey}`, `credential ${toHex(address.subarray(1, 29))}`, `ip ${ipHash}`]

  return database.transaction(async (transaction) => {
    await transaction.execute(lock, [locks.map((name) => `ratatosk faucet of ${database.schema}: ${name}`)])

    const [known] = await transaction.query(find, [idempotencyKey])
    if (known !== undefined) {
      if (Buffer.compare(known.address, address) !== 0) return { kind: 'key-used' }
      if (known.state === 'funded' && known.paymentId !== null) {
        const { id, paymentId, amount: paid, nextEligibleAt: next } = known
        return { kind: 'funded', claim: { id, paymentId, amount: paid, nextEligibleAt: next } }
      }
      if (known.held) return { kind: 'busy' }
      if (known.state === 'reserved' && known.paymentId !== null) {
        const [row] = await transaction.query(resume, [known.id, ttl])
        if (row !== undefined) return { kind: 'held', claim: toHeldClaim(row, 'reserved') }
      }
    }

    await transaction.execute(end, [ipHash, address, time])
    const [cooling] = await transaction.query(cooldown, [address, time])
    if (cooling?.until) return { kind: 'cooldown', nextEligibleAt: cooling.until, overdue: cooling.overdue }
    const [sameIp] = await transaction.query(recent, [ipHash, time])
    if (sameIp !== undefined && sameIp.claims >= dailyIpLimit) {
      return { kind: 'ip-limit', overdue: sameIp.overdue }
    }

    const [row] = await transaction.query(reserve, [
      idempotencyKey,
      address,
      ipHash,
      amount,
      time,
      nextEligibleAt,
      ttl,
    ])
    if (row === undefined) throw new StoreError('STORE_FAILED', 'The claim was not reserved')
    // A failed payment of an earlier try is looked up once more before anything new is paid.
    return { kind: 'held', claim: toHeldClaim(known === undefined ? row : withPayment(row, known), 'failed') }
  })
}

function withPayment(row: ClaimRow, { paymentId, payment, paymentExpiresAt }: ClaimRow): ClaimRow {
  return { ...row, paymentId, payment, paymentExpiresAt }
}

function checkedDuration(milliseconds: number): number {
  if (Number.isSafeInteger(milliseconds) && milliseconds >= 0) return milliseconds
  throw new StoreError(
    'STORE_INVALID_ARGUMENT',
    'A cool-down must last a whole number of milliseconds from 0',
  )
}

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
// Without those that are being changed: of two that wait for each other, PostgreSQL would end one.
const extend = sql`WITH own AS (
    SELECT id FROM ${schema}.faucet_claims
    JOIN unnest($1::uuid[], $2::bigint[]) AS held (id, token) USING (id, token)
    WHERE held_until > clock_timestamp()
    FOR UPDATE OF faucet_claims SKIP LOCKED
  )
  UPDATE ${schema}.faucet_claims AS claim SET held_until = ${expiry('$3')} FROM own WHERE claim.id = own.id`
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
