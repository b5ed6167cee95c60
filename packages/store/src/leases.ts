import { advisoryLock, type Connection, selectList, statement, type Transaction } from '@ratatosk/database'
import { StoreError } from './errors.js'
import { leases } from './schema/tables.js'

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
   * Extends the lease to `ttlMs` from now. `undefined`: it has expired or was taken, and its work must stop.
   */
  renew(lease: Lease, ttlMs: number): Promise<Lease | undefined>
  /** The lease that is held under this name now. `undefined`: it is free. */
  current(name: string): Promise<Lease | undefined>
  /** Frees the lease. False: it was no longer held. */
  release(lease: Lease): Promise<boolean>
}

/** SQL for the time at which a lease of so many milliseconds, taken now, expires. */
export const expiry = (ttl: string) => `clock_timestamp() + ${ttl}::bigint * interval '1 millisecond'`

const { name, holder, token, expiresAt } = leases
const row = { name, holder, token, expiresAt }

const acquire = statement(
  row,
  `INSERT INTO ratatosk.leases AS lease (name, holder, token, expires_at)
  VALUES ($1, $2, 1, ${expiry('$3')})
  ON CONFLICT (name) DO UPDATE
  SET holder = excluded.holder, token = lease.token + 1, expires_at = ${expiry('$3')}
  WHERE lease.expires_at <= clock_timestamp()
  RETURNING ${selectList(row)}`,
)

const renew = statement(
  row,
  `UPDATE ratatosk.leases SET expires_at = ${expiry('$3')}
  WHERE name = $1 AND token = $2 AND expires_at > clock_timestamp()
  RETURNING ${selectList(row)}`,
)

const current = statement(
  row,
  `SELECT ${selectList(row)} FROM ratatosk.leases WHERE name = $1 AND expires_at > clock_timestamp()`,
)

const release = `
  UPDATE ratatosk.leases SET expires_at = clock_timestamp()
  WHERE name = $1 AND token = $2 AND expires_at > clock_timestamp()`

const hold = statement(
  { token },
  `SELECT token FROM ratatosk.leases
  WHERE name = $1 AND token = $2 AND expires_at > clock_timestamp() FOR SHARE`,
)

/** The {@link Leases} of a schema. */
export function openLeases(connection: Connection): Leases {
  return {
    async acquire(name, holder, ttlMs) {
      const [lease] = await connection.query(acquire, [name, holder, checkedTtl(ttlMs)])
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

    async release({ name, token }) {
      return (await connection.execute(release, [name, token])) > 0
    },
  }
}

/**
 * Admits one writer of blocks at a time, and only under a lease that is held. Nobody can take the lease
 * before the transaction ends.
 *
 * @throws StoreError `STORE_LEASE_LOST`
 */
export async function holdLease(transaction: Transaction, { name, token }: Lease): Promise<void> {
  // The lease is checked after the lock was acquired, because waiting for the lock takes time.
  await advisoryLock(transaction, 'blocks')
  const held = await transaction.query(hold, [name, token])
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
