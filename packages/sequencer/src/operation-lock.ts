import type { Operation } from '@ratatosk/ports'
import type { HeldLease, Store } from '@ratatosk/store'

const operationLock = 'operation'
const operations: readonly Operation[] = [
  'init',
  'commit',
  'merge',
  'reset',
  'repair',
  'remove',
  'register',
  'retire',
  'release',
]

/**
 * The operation that is running, in whichever process. It holds the operation lock, which is a lease: the
 * lock of a killed process expires.
 *
 * @example
 * const operation = await operationUnderWay(store)
 * const resetInProgress = operation === 'reset' || operation === 'init' || operation === 'repair'
 */
export async function operationUnderWay({ leases }: Pick<Store, 'leases'>): Promise<Operation | undefined> {
  const lease = await leases.current(operationLock)
  const name = lease?.holder.slice(lease.holder.lastIndexOf(':') + 1)
  return operations.find((operation) => operation === name)
}

/** Takes the operation lock. Resolves with the running operation when another one holds it. */
export async function lockOperation(
  store: Pick<Store, 'leases'>,
  holder: string,
  operation: Operation,
  ttlMs: number,
): Promise<HeldLease | Operation> {
  for (;;) {
    const held = await store.leases.hold(operationLock, `${holder}:${operation}`, ttlMs)
    if (held !== undefined) return held
    const running = await operationUnderWay(store)
    // Undefined when the lock was freed between both reads: try again.
    if (running !== undefined) return running
  }
}
