import {
  bool,
  type Database,
  int4,
  nullable,
  schema,
  sql,
  statement,
  timestamptz,
  toHex,
} from '@ratatosk/database'
import type { Reservation, ReserveRequest } from '@ratatosk/ports'
import { StoreError } from '../errors.js'
import { checkedTtl, expiry } from '../leases/leases.js'
import { type ClaimRow, claimList, claimRow, toHeldClaim } from './claim-row.js'

const counts = `(state = 'funded'
  OR state = 'reserved' AND (payment_id IS NOT NULL OR held_until > clock_timestamp()))`
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
export async function reserveClaim(database: Database, request: ReserveRequest): Promise<Reservation> {
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
