import type { Connection } from '../drivers/connection.js'
import { StoreError } from '../errors.js'
import { advisoryLock } from '../ledger/advisory-lock.js'
import type { Lease } from '../types.js'

/**
 * Lets one writer of blocks in at a time, and only with a lease that is held: until the transaction ends nobody can take it.
 *
 * @throws StoreError `STORE_LEASE_LOST`
 */
export async function fence(transaction: Connection, schema: string, { name, token }: Lease): Promise<void> {
  // The lease is judged last, because waiting for the lock takes time.
  await advisoryLock(transaction, 'blocks', schema)
  const held = await transaction.query(
    `SELECT token FROM ${schema}.leases
    WHERE name = $1 AND token = $2 AND expires_at > clock_timestamp() FOR SHARE`,
    [name, token],
  )
  if (held.length === 0) {
    throw new StoreError('STORE_LEASE_LOST', `The lease ${name} has expired or was taken by another`)
  }
}
