import { LRUCache } from 'lru-cache'
import pThrottle from 'p-throttle'
import { unlessAborted } from './http/limits.js'
import type { CallOptions, Layer1 } from './types.js'

/** The reads of a {@link Layer1} that clients trigger. */
export type Layer1Reads = Pick<Layer1, 'utxosAt' | 'utxosAsOf' | 'utxosByUnit' | 'utxosByPolicy' | 'tip'>

/** Reads that all callers share. */
export interface SharedReads extends Layer1Reads {
  /** Forgets all answers, so that the next reads see what a transaction of this process changed. */
  forget(): void
}

export interface SharedReadsOptions {
  /** Milliseconds for which an answer is shared; default 3000. */
  readonly freshForMs?: number
  /** Calls to the provider a second at most; further ones wait. Default 2. */
  readonly callsPerSecond?: number
}

/** Milliseconds for which a failure is shared, so that a failing provider is not asked by every client. */
const failureForMs = 1000
const maxAnswers = 100

/**
 * Shares the answers of layer-1 reads among all callers, so that clients cannot spend the provider's quota:
 * concurrent calls share one request, later ones share its answer for some seconds, and requests are limited
 * by rate. A caller's signal ends its own wait, not the shared request. Not for code that must see its own
 * writes, such as a sequencer.
 *
 * @example
 * const reads = shareReads(layer1)
 * await Promise.all(clients.map(() => reads.utxosAt(address))) // one request
 */
export function shareReads(
  layer1: Layer1Reads,
  { freshForMs = 3000, callsPerSecond = 2 }: SharedReadsOptions = {},
): SharedReads {
  const answers = new LRUCache<string, Promise<unknown>>({ max: maxAnswers, perf: Date })
  const throttle = pThrottle({ limit: callsPerSecond, interval: 1000, strict: true })
  const call = throttle((read: () => Promise<unknown>) => read())

  function shared<T>(key: string, options: CallOptions | undefined, read: () => Promise<T>): Promise<T> {
    let answer = answers.get(key) as Promise<T> | undefined
    if (answer === undefined) {
      const asked = call(read) as Promise<T>
      answers.set(key, asked)
      const keepFor = (ttl: number) => {
        if (answers.peek(key) === asked) answers.set(key, asked, { ttl })
      }
      asked.then(
        () => keepFor(freshForMs),
        () => keepFor(failureForMs),
      )
      answer = asked
    }
    return options?.signal ? unlessAborted(options.signal, answer) : answer
  }

  return {
    utxosAt(address, options) {
      const { policy } = options ?? {}
      const only = policy === undefined ? undefined : { policy }
      return shared(`address ${address} ${policy}`, options, () => layer1.utxosAt(address, only))
    },
    utxosAsOf(address, options) {
      const { policy } = options ?? {}
      const only = policy === undefined ? undefined : { policy }
      return shared(`as of ${address} ${policy}`, options, () => layer1.utxosAsOf(address, only))
    },
    utxosByUnit: (unit, options) => shared(`unit ${unit}`, options, () => layer1.utxosByUnit(unit)),
    utxosByPolicy: (policyId, options) =>
      shared(`policy ${policyId}`, options, () => layer1.utxosByPolicy(policyId)),
    tip: (options) => shared('tip', options, () => layer1.tip()),
    forget: () => answers.clear(),
  }
}
