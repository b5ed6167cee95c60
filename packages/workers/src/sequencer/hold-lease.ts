import type { Lease, Leases } from '@ratatosk/store'

/** A lease that is renewed while it is held. */
export interface HeldLease {
  /** As it was renewed last. */
  readonly lease: Lease
  /** Aborts when it is lost: expired, or taken by another. */
  readonly lost: AbortSignal
  /** Frees it. Safe to call twice, and when it is lost. */
  release(): Promise<void>
}

/** @returns undefined where somebody else holds it */
export async function holdLease(
  leases: Leases,
  name: string,
  holder: string,
  ttlMs: number,
): Promise<HeldLease | undefined> {
  const asked = performance.now()
  const first = await leases.acquire(name, holder, ttlMs)
  return first === undefined ? undefined : keep(leases, first, ttlMs, asked + ttlMs)
}

/** @param until of this process's own clock; the database's may give a little more */
function keep(leases: Leases, first: Lease, ttlMs: number, until: number): HeldLease {
  const lost = new AbortController()
  let lease = first
  let released: Promise<void> | undefined
  let expiry = setTimeout(lose, until - performance.now())
  let renewal = setTimeout(renew, ttlMs / 3)

  function lose(): void {
    clearTimeout(expiry)
    clearTimeout(renewal)
    lost.abort(new Error(`The lease ${first.name} is lost`))
  }

  async function renew(): Promise<void> {
    const asked = performance.now()
    // A store that is away may be back before the lease expires.
    const renewed = await leases.renew(lease, ttlMs).catch(() => 'unknown' as const)
    if (lost.signal.aborted || released !== undefined) return
    if (renewed === undefined) return lose()
    if (renewed !== 'unknown') {
      lease = renewed
      clearTimeout(expiry)
      expiry = setTimeout(lose, asked + ttlMs - performance.now())
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
