import type { HeldLease, Lease, Leases } from './types.js'

/**
 * Renews a lease every third of its lifetime. `expiresAt` counts from before the request by the monotonic
 * clock: never later than the database's expiry.
 */
export function keepRenewed(
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
