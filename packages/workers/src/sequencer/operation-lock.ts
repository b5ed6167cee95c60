import type { Store } from '@ratatosk/store'
import { type HeldLease, holdLease } from './hold-lease.js'
import type { Operation } from './types.js'

const LOCK = 'operation'
const operations: readonly Operation[] = ['init', 'commit', 'merge', 'reset', 'repair']

/**
 * The operation that holds the lock, in whatever process.
 *
 * @example
 * const operation = await operationUnderWay(store)
 * const resetInProgress = operation === 'reset' || operation === 'init' || operation === 'repair'
 */
export async function operationUnderWay({ leases }: Pick<Store, 'leases'>): Promise<Operation | undefined> {
  const lease = await leases.current(LOCK)
  const name = lease?.holder.slice(lease.holder.lastIndexOf(':') + 1)
  return operations.find((operation) => operation === name)
}

/** Takes the lock for an operation, or says which one has it. */
export async function lockOperation(
  store: Pick<Store, 'leases'>,
  holder: string,
  operation: Operation,
  ttlMs: number,
): Promise<HeldLease | Operation> {
  for (;;) {
    const held = await holdLease(store.leases, LOCK, `${holder}:${operation}`, ttlMs)
    if (held !== undefined) return held
    // Free again between the two questions: asked anew.
    const other = await operationUnderWay(store)
    if (other !== undefined) return other
  }
}
