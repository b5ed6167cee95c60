import { setTimeout as delay } from 'node:timers/promises'

/** The store was away until the worker closed: nothing was decided. */
export class StoreAwayError extends Error {
  override readonly name = 'StoreAwayError'
}

export interface StorePatience {
  /** Runs `work` until the store has done it, however long it is away; other errors are thrown. */
  insist<T>(work: () => Promise<T>): Promise<T>
}

export interface PatienceOptions {
  /** Aborted when the worker closes. */
  readonly signal: AbortSignal
  /** Told once an outage, and once it is over. */
  onAway(error: Error): void
  onBack(): void
}

const away: ReadonlySet<unknown> = new Set(['STORE_UNAVAILABLE', 'STORE_TIMEOUT', 'STORE_CLOSED'])
const conflictsBorne = 5

export function storePatience({ signal, onAway, onBack }: PatienceOptions): StorePatience {
  let isAway = false
  return {
    async insist(work) {
      let conflicts = 0
      for (let pause = 100; ; pause = Math.min(pause * 2, 2000)) {
        if (isAway && signal.aborted) throw new StoreAwayError('The store is away')
        try {
          const result = await work()
          if (isAway) onBack()
          isAway = false
          return result
        } catch (error) {
          const code = codeOf(error)
          if (code === 'STORE_CONFLICT' && ++conflicts < conflictsBorne) continue
          if (!(error instanceof Error) || !away.has(code)) throw error
          if (!isAway) onAway(error)
          isAway = true
          await delay(pause, undefined, { signal }).catch(() => undefined)
        }
      }
    },
  }
}

function codeOf(error: unknown): unknown {
  return typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined
}
