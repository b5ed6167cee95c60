import type { ClaimStore, HeldClaim, Log } from '@ratatosk/ports'

/** Extends the leases of the claims that this process works on. */
export interface ClaimLeases {
  /** Extends the leases of `claims` until `work` settles. */
  during<T>(claims: readonly HeldClaim[], work: () => Promise<T>): Promise<T>
}

/** One timer extends all leases together, three times per `leaseMs`. */
export function holdLeases(
  store: Pick<ClaimStore, 'extend'>,
  leaseMs: number,
  log: Log | undefined,
): ClaimLeases {
  const held = new Set<HeldClaim>()
  let timer: NodeJS.Timeout | undefined

  function extend(): void {
    store.extend([...held], leaseMs).catch((err: unknown) => {
      log?.warn({ err }, 'Failed to extend the leases of faucet claims')
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
