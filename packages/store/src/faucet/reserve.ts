import { toHex } from '../drivers/columns.js'
import type { Database } from '../drivers/connection.js'
import { StoreError } from '../errors.js'
import { checkedTtl } from '../repositories/leases.js'
import { claimRow, type HeldRow, toHeldClaim } from './claim-row.js'
import type { FaucetClaimRequest, FaucetReservation } from './types.js'

interface KnownRow extends HeldRow {
  readonly held: boolean
}

/** Judges and reserves a claim; whoever asks for the same key, address or `ipHash` meanwhile waits. */
export async function reserveClaim(
  database: Pick<Database, 'transaction'>,
  schema: string,
  request: FaucetClaimRequest,
): Promise<FaucetReservation> {
  const { idempotencyKey, address, ipHash, amount, now, cooldownMs, dailyIpLimit, leaseMs } = request
  const statements = reserveStatements(schema)
  const moment = now.toISOString()
  const nextEligibleAt = new Date(now.getTime() + checkedDuration(cooldownMs)).toISOString()
  const lease = checkedTtl(leaseMs)
  const locks = [`key ${idempotencyKey}`, `address ${toHex(address)}`, `ip ${ipHash}`]

  return database.transaction(async (transaction) => {
    await transaction.query(statements.lock, [locks.map((lock) => `ratatosk faucet of ${schema}: ${lock}`)])

    const [known] = await transaction.query<KnownRow>(statements.find, [idempotencyKey])
    if (known !== undefined) {
      if (Buffer.compare(known.address, address) !== 0) return { kind: 'key-used' }
      if (known.state === 'funded' && known.paymentId !== null) {
        const { id, paymentId, amount: paid, nextEligibleAt: next } = known
        return { kind: 'funded', claim: { id, paymentId, amount: paid, nextEligibleAt: next } }
      }
      if (known.held) return { kind: 'busy' }
      if (known.state === 'reserved' && known.paymentId !== null) {
        const [row] = await transaction.query<HeldRow>(statements.resume, [known.id, lease])
        if (row !== undefined) return { kind: 'held', claim: toHeldClaim(row, 'reserved') }
      }
    }

    const [cooldown] = await transaction.query<{ until: Date | null; overdue: boolean }>(
      statements.cooldown,
      [address, moment],
    )
    if (cooldown?.until) {
      return { kind: 'cooldown', nextEligibleAt: cooldown.until, overdue: cooldown.overdue }
    }
    const [recent] = await transaction.query<{ claims: number; overdue: boolean }>(statements.recent, [
      ipHash,
      moment,
    ])
    if (recent !== undefined && recent.claims >= dailyIpLimit) {
      return { kind: 'ip-limit', overdue: recent.overdue }
    }

    const [row] = await transaction.query<HeldRow>(statements.reserve, [
      idempotencyKey,
      address,
      ipHash,
      amount,
      moment,
      nextEligibleAt,
      lease,
    ])
    if (row === undefined) throw new StoreError('STORE_FAILED', 'The claim was not reserved')
    // What it was answered with before is looked for once more before anything new is paid.
    const before = known && { ...row, ...paymentOf(known) }
    return { kind: 'held', claim: toHeldClaim(before ?? row, 'failed') }
  })
}

function paymentOf({ paymentId, payment, paymentExpiresAt }: KnownRow) {
  return { paymentId, payment, paymentExpiresAt }
}

function checkedDuration(milliseconds: number): number {
  if (Number.isSafeInteger(milliseconds) && milliseconds >= 0) return milliseconds
  throw new StoreError('STORE_INVALID_ARGUMENT', 'A cool-down lasts a whole number of milliseconds')
}

function reserveStatements(schema: string) {
  const claims = `${schema}.faucet_claims`
  const leaseFrom = (ttl: string) => `clock_timestamp() + ${ttl}::bigint * interval '1 millisecond'`
  const counts = `(state = 'funded' OR state = 'reserved' AND (payment_id IS NOT NULL OR held_until > clock_timestamp()))`
  const overdue = `settled_at IS NULL AND payment_expires_at <= $2::timestamptz AND held_until <= clock_timestamp()`
  return {
    // In the order of their numbers, so that nobody waits for whom he keeps waiting.
    lock: `
      SELECT pg_advisory_xact_lock(number)
      FROM (SELECT DISTINCT hashtextextended(name, 0) AS number FROM unnest($1::text[]) AS name ORDER BY number) AS locks`,

    find: `
      SELECT ${claimRow}, held_until > clock_timestamp() AND state = 'reserved' AS held
      FROM ${claims} WHERE idempotency_key = $1`,

    resume: `
      UPDATE ${claims} SET token = token + 1, held_until = ${leaseFrom('$2')} WHERE id = $1::uuid
      RETURNING ${claimRow}`,

    cooldown: `
      SELECT max(next_eligible_at) AS until, coalesce(bool_or(${overdue}), false) AS overdue
      FROM ${claims} WHERE address = $1 AND next_eligible_at > $2::timestamptz AND ${counts}`,

    recent: `
      SELECT count(*)::integer AS claims, coalesce(bool_or(${overdue}), false) AS overdue
      FROM ${claims} WHERE ip_hash = $1 AND reserved_at > $2::timestamptz - interval '24 hours' AND ${counts}`,

    reserve: `
      INSERT INTO ${claims} AS claim
        (idempotency_key, address, ip_hash, amount, reserved_at, next_eligible_at, held_until)
      VALUES ($1, $2, $3, $4, $5::timestamptz, $6::timestamptz, ${leaseFrom('$7')})
      ON CONFLICT (idempotency_key) DO UPDATE
      SET ip_hash = excluded.ip_hash, amount = excluded.amount, state = 'reserved', reserved_at = excluded.reserved_at,
        next_eligible_at = excluded.next_eligible_at, payment_id = NULL, payment = NULL, payment_sequence = NULL,
        payment_expires_at = NULL, token = claim.token + 1, held_until = excluded.held_until
      RETURNING ${claimRow}`,
  }
}
