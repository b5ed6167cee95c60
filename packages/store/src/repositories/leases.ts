import type { Connection } from '../drivers/connection.js'
import { StoreError } from '../errors.js'
import type { Lease, Leases } from '../types.js'

export function openLeases(connection: Connection, schema: string): Leases {
  const columns = 'name, holder, token, expires_at AS "expiresAt"'
  const from = (ttl: string) => `clock_timestamp() + ${ttl}::bigint * interval '1 millisecond'`
  const acquire = `
    INSERT INTO ${schema}.leases AS lease (name, holder, token, expires_at)
    VALUES ($1, $2, 1, ${from('$3')})
    ON CONFLICT (name) DO UPDATE
    SET holder = excluded.holder, token = lease.token + 1, expires_at = ${from('$3')}
    WHERE lease.expires_at <= clock_timestamp()
    RETURNING ${columns}`
  const renew = `
    UPDATE ${schema}.leases SET expires_at = ${from('$3')}
    WHERE name = $1 AND token = $2 AND expires_at > clock_timestamp()
    RETURNING ${columns}`
  const current = `
    SELECT ${columns} FROM ${schema}.leases WHERE name = $1 AND expires_at > clock_timestamp()`
  const release = `
    UPDATE ${schema}.leases SET expires_at = clock_timestamp()
    WHERE name = $1 AND token = $2 AND expires_at > clock_timestamp()
    RETURNING name`
  return {
    async acquire(name, holder, ttlMs) {
      const [lease] = await connection.query<Lease>(acquire, [name, holder, checkedTtl(ttlMs)])
      return lease
    },

    async renew({ name, token }, ttlMs) {
      const [lease] = await connection.query<Lease>(renew, [name, token, checkedTtl(ttlMs)])
      return lease
    },

    async current(name) {
      const [lease] = await connection.query<Lease>(current, [name])
      return lease
    },

    async release({ name, token }) {
      return (await connection.query(release, [name, token])).length > 0
    },
  }
}

/** How long a lease lasts, in milliseconds. */
export function checkedTtl(ttlMs: number): number {
  if (Number.isSafeInteger(ttlMs) && ttlMs >= 1) return ttlMs
  throw new StoreError('STORE_INVALID_ARGUMENT', 'A lease lasts a whole number of milliseconds, at least 1')
}
