import type { ClaimStore, HeldClaim } from '../ports.js'
import type { Log } from '../types.js'

/** The claims that this process carries on: as long as it lives, their leases do. */
export interface Holds {
  /** Keeps the leases of claims alive during `work`. */
  during<T>(claims: readonly HeldClaim[], work: () => Promise<T>): Promise<T>
}

export function keepHolds(store: Pick<ClaimStore, 'extend'>, leaseMs: number, log: Log | undefined): Holds {
  const held = new Set<HeldClaim>()
  let timer: NodeJS.Timeout | undefined

  function extend(): void {
    store.extend([...held], leaseMs).catch((err: unknown) => {
      log?.warn({ err }, 'the leases of claims could not be extended')
    })
  }

  return {
    async during(claims, work) {
      if (claims.length === 0) return work()
      for (const claim of claims) held.add(claim)
      timer ??= setInterval(extend, leaseMs / 3)
      try {
        return await work()
      } finally {
        for (const claim of claims) held.delete(claim)
        if (held.size === 0) {
          clearInterval(timer)
          timer = undefined
        }
      }
    },
  }
}
