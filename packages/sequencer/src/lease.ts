import type { Operation } from '@ratatosk/ports'
import type { Lease, Leases, Store } from '@ratatosk/store'

/** A lease that is renewed while it is held. */
export interface HeldLease {
  /** As of the latest renewal. */
  readonly lease: Lease
  /** Aborts when the lease is lost: it expired, or another holder took it. */
  readonly lost: AbortSignal
  /** Frees the lease. Safe to call twice, and after the lease is lost. */
  release(): Promise<void>
}

/**
 * Takes a lease and renews it every third of its lifetime. Resolves with undefined when another holder has
 * it.
 */
export async function holdLease(
  leases: Leases,
  name: string,
  holder: string,
  ttlMs: number,
): Promise<HeldLease | undefined> {
  const requestedAt = performance.now()
  const first = await leases.acquire(name, holder, ttlMs)
  return first === undefined ? undefined : renewed(leases, first, ttlMs, requestedAt + ttlMs)
}

/**
 * @param expiresAt by this process's monotonic clock, which counts from before the request: never later than
 * the database's expiry
 */
function renewed(leases: Leases, first: Lease, ttlMs: number, expiresAt: number): HeldLease {
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

const OPERATION_LOCK = 'operation'
const operations: readonly Operation[] = ['init', 'commit', 'merge', 'reset', 'repair', 'remove']

/**
 * The operation that is running, in whichever process. It holds the operation lock, which is a lease: the
 * lock of a killed process expires.
 *
 * @example
 * const operation = await operationUnderWay(store)
 * const resetInProgress = operation === 'reset' || operation === 'init' || operation === 'repair'
 */
export async function operationUnderWay({ leases }: Pick<Store, 'leases'>): Promise<Operation | undefined> {
  const lease = await leases.current(OPERATION_LOCK)
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
    const held = await holdLease(store.leases, OPERATION_LOCK, `${holder}:${operation}`, ttlMs)
    if (held !== undefined) return held
    const running = await operationUnderWay(store)
    // Undefined when the lock was freed between both reads: try again.
    if (running !== undefined) return running
  }
}
