import {
  advisoryLock,
  type Connection,
  type SqlTransaction,
  schema,
  selectList,
  sql,
  statement,
} from '@ratatosk/database'
import { StoreError } from '../errors.js'
import { leases } from '../schema/tables.js'

/** SQL for the time at which a lease of so many milliseconds, taken now, expires. */
export const expiry = (ttl: string) => `clock_timestamp() + ${ttl}::bigint * interval '1 millisecond'`

const { name, holder, token, expiresAt } = leases
const row = { name, holder, token, expiresAt }

const takeOver = statement(
  row,
  sql`UPDATE ${schema}.leases SET holder = $2, token = token + 1, expires_at = ${expiry('$3')}
  WHERE name = $1 AND expires_at <= clock_timestamp()
  RETURNING ${selectList(row)}`,
)

// With a conflict target, a second insertion at once would fail at the unique index that is no target.
const create = statement(
  row,
  sql`INSERT INTO ${schema}.leases (name, holder, token, expires_at)
  VALUES ($1, $2, 1, ${expiry('$3')})
  ON CONFLICT DO NOTHING
  RETURNING ${selectList(row)}`,
)

const renew = statement(
  row,
  sql`UPDATE ${schema}.leases SET expires_at = ${expiry('$3')}
  WHERE name = $1 AND token = $2 AND expires_at > clock_timestamp()
  RETURNING ${selectList(row)}`,
)

const newest = statement(row, sql`SELECT ${selectList(row)} FROM ${schema}.leases WHERE name = $1`)

const current = statement(
  row,
  sql`SELECT ${selectList(row)} FROM ${schema}.leases WHERE name = $1 AND expires_at > clock_timestamp()`,
)

const release = sql`
  UPDATE ${schema}.leases SET expires_at = clock_timestamp()
  WHERE name = $1 AND token = $2 AND expires_at > clock_timestamp()`

// Conflicts with a new token, which is part of a unique index, but not with a renewal.
const isHeld = statement(
  { token },
  sql`SELECT token FROM ${schema}.leases
  WHERE name = $1 AND token = $2 AND expires_at > clock_timestamp() FOR KEY SHARE`,
)

export function openLeases(connection: Connection): Leases {
  const own: Leases = {
    async acquire(name, holder, ttlMs) {
      const values = [name, holder, checkedTtl(ttlMs)]
      const [expired] = await connection.query(takeOver, values)
      if (expired !== undefined) return expired
      const [lease] = await connection.query(create, values)
      return lease
    },

    async renew({ name, token }, ttlMs) {
      const [lease] = await connection.query(renew, [name, token, checkedTtl(ttlMs)])
      return lease
    },

    async current(name) {
      const [lease] = await connection.query(current, [name])
      return lease
    },

    async newest(name) {
      const [lease] = await connection.query(newest, [name])
      return lease
    },

    async release({ name, token }) {
      return (await connection.execute(release, [name, token])) > 0
    },

    async hold(name, holder, ttlMs) {
      const requestedAt = performance.now()
      const lease = await own.acquire(name, holder, ttlMs)
      return lease && keepRenewed(own, lease, ttlMs, requestedAt + ttlMs)
    },
  }
  return own
}

/** Admits one block writer under a lease that is held to the end. @throws StoreError `STORE_LEASE_LOST` */
export async function requireLease(transaction: SqlTransaction, { name, token }: Lease): Promise<void> {
  // The lease is checked after the lock was acquired, because waiting for the lock takes time.
  await advisoryLock(transaction, 'blocks')
  const held = await transaction.query(isHeld, [name, token])
  if (held.length === 0) {
    throw new StoreError('STORE_LEASE_LOST', `The lease ${name} has expired or another process has taken it`)
  }
}

/** How long a lease lasts, in milliseconds. */
export function checkedTtl(ttlMs: number): number {
  if (Number.isSafeInteger(ttlMs) && ttlMs >= 1) return ttlMs
  throw new StoreError(
    'STORE_INVALID_ARGUMENT',
    'A lease must last a whole number of milliseconds, at least 1',
  )
}

/**
 * Renews a lease every third of its lifetime. `expiresAt` counts from before the request by the monotonic
 * clock: never later than the database's expiry.
 */
function keepRenewed(
  leases: Pick<Leases, 'renew' | 'release'>,
  first: Lease,
  ttlMs: number,
  expiresAt: number,
): HeldLease {
  const lost = new AbortController()
  let lease = first
  let released: Promise<void> | undefined
  let expiry = setTimeout(lose, expiresAt - performance.now())
  let renewal = setTimeout(renew, ttlMs / 3)

  function lose(): void {
    clearTimeout(expiry)
    clearTimeout(renewal)
    lost.abort(new Error(`The lease ${first.name} is lost`))
  }

  async function renew(): Promise<void> {
    const requestedAt = performance.now()
    // An unreachable store may be back before the lease expires.
    const answer = await leases.renew(lease, ttlMs).catch(() => 'unknown' as const)
    if (lost.signal.aborted || released !== undefined) return
    if (answer === undefined) return lose()
    if (answer !== 'unknown') {
      lease = answer
      clearTimeout(expiry)
      expiry = setTimeout(lose, requestedAt + ttlMs - performance.now())
    }
    renewal = setTimeout(renew, ttlMs / 3)
  }

  return {
    get lease() {
      return lease
    },
    lost: lost.signal,
    release() {
      released ??= (async () => {
        clearTimeout(expiry)
        clearTimeout(renewal)
        if (!lost.signal.aborted) await leases.release(lease)
      })()
      return released
    },
  }
}

/** The right of one process at a time to do a job. */
export interface Lease {
  /** The job. */
  readonly name: string
  /** The process that holds the lease, for logs. */
  readonly holder: string
  /** Fencing token: greater than that of every earlier lease of this name. */
  readonly token: bigint
  /** By the database's clock. */
  readonly expiresAt: Date
}

/** A lease that is renewed while it is held. */
export interface HeldLease {
  /** As of the latest renewal. */
  readonly lease: Lease
  /** Aborts when the lease is lost: it expired, or another holder took it. */
  readonly lost: AbortSignal
  /** Frees the lease. Safe to call twice, and after the lease is lost. */
  release(): Promise<void>
}

/** Leases expire by the database's clock alone. */
export interface Leases {
  /**
   * Acquires the lease if it is free or expired. `undefined`: another holder has it.
   *
   * @param holder names the process in logs
   * @param ttlMs how long the lease lasts, in whole milliseconds from 1
   */
  acquire(name: string, holder: string, ttlMs: number): Promise<Lease | undefined>
  /**
   * Acquires the lease if it is free or expired, and renews it every third of `ttlMs` until it is released or
   * lost. `undefined`: another holder has it.
   *
   * @example
   * const held = await store.leases.hold('sequencer', 'host 1', 10_000)
   * await held?.release()
   */
  hold(name: string, holder: string, ttlMs: number): Promise<HeldLease | undefined>
  /**
   * Extends the lease to `ttlMs` from now. `undefined`: it has expired or was taken, and its work must stop.
   */
  renew(lease: Lease, ttlMs: number): Promise<Lease | undefined>
  /** The lease that is held under this name now. `undefined`: it is free. */
  current(name: string): Promise<Lease | undefined>
  /** The newest lease under this name, whether or not it is held. `undefined`: there never was one. */
  newest(name: string): Promise<Lease | undefined>
  /** Frees the lease. False: it was no longer held. */
  release(lease: Lease): Promise<boolean>
}
