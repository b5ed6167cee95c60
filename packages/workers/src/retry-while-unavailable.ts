import { setTimeout as delay } from 'node:timers/promises'
import { isStoreError, type StoreError } from '@ratatosk/store'

/** Runs work on the store, again and again while the store is unavailable. */
export interface StoreRetry {
  /**
   * Retries while the store is unavailable, and a `STORE_CONFLICT` a few times at once.
   * @throws the error of `work`; one of {@link isUnavailable} only once `signal` is aborted
   */
  retryWhileUnavailable<T>(work: () => Promise<T>): Promise<T>
}

interface StoreRetryOptions {
  /** Aborted when the worker closes. */
  readonly signal: AbortSignal
  /** Called once at the start of an outage, and once at its end. */
  onUnavailable(error: StoreError): void
  onAvailable(): void
}

/** Whether the store could not be reached, so that nothing is known about the work. */
export function isUnavailable(error: unknown): error is StoreError {
  return isStoreError(error) && unavailable.has(error.code)
}

const unavailable: ReadonlySet<string> = new Set(['STORE_UNAVAILABLE', 'STORE_TIMEOUT', 'STORE_CLOSED'])
const maxConflicts = 5
const firstDelayMs = 100
const maxDelayMs = 2000

export function storeRetry({ signal, onUnavailable, onAvailable }: StoreRetryOptions): StoreRetry {
  let outage: StoreError | undefined
  return {
    async retryWhileUnavailable(work) {
      let conflicts = 0
      for (let delayMs = firstDelayMs; ; delayMs = Math.min(delayMs * 2, maxDelayMs)) {
        if (outage !== undefined && signal.aborted) throw outage
        try {
          const result = await work()
          if (outage !== undefined) onAvailable()
          outage = undefined
          return result
        } catch (error) {
          if (isStoreError(error) && error.code === 'STORE_CONFLICT' && ++conflicts < maxConflicts) continue
          if (!isUnavailable(error)) throw error
          if (outage === undefined) onUnavailable(error)
          outage = error
          await delay(delayMs, undefined, { signal }).catch(() => undefined)
        }
      }
    },
  }
}
