import type { Turns } from '@ratatosk/ports'
import { CheapestFirst } from './cheapest-first.js'

export interface TurnsOptions {
  /** The most that wait for their turn. @defaultValue 32 */
  readonly maxWaiting?: number
  /** Maximum wait, in milliseconds. @defaultValue 5000 */
  readonly maxWaitMs?: number
}

/** Too many evaluations are waiting. Nothing is known about the transaction. */
export class EvaluationsBusyError extends Error {
  readonly code = 'WORKERS_EVALUATIONS_BUSY'
  /** When to try again, in milliseconds. */
  readonly retryAfterMs = 2000

  constructor() {
    super('Too many transactions wait to be evaluated')
    this.name = 'EvaluationsBusyError'
  }
}

interface Holder {
  readonly cost: bigint
}

/**
 * Opens turns for work that costs clients no fee: one at a time, the cheapest first, and at most half of the
 * time, so that validation is never short of more than half a thread. A cheaper one takes the place of the
 * costliest that waits.
 *
 * @example
 * const turns = openTurns()
 * const result = await turns.take(cost, request.signal, () => evaluator.evaluate(...transaction))
 */
export function openTurns({ maxWaiting = 32, maxWaitMs = 5000 }: TurnsOptions = {}): Turns {
  const queue = new CheapestFirst<Holder>(1)

  return {
    async take(cost, signal, work) {
      signal?.throwIfAborted()
      if (queue.waiting >= maxWaiting) {
        const last = queue.costliest
        if (last === undefined || last.cost <= cost) throw new EvaluationsBusyError()
        queue.withdraw(last)
      }
      const holder: Holder = { cost }
      const withdraw = () => queue.withdraw(holder)
      const timer = setTimeout(withdraw, maxWaitMs)
      signal?.addEventListener('abort', withdraw, { once: true })
      const granted = await queue.acquire(holder)
      clearTimeout(timer)
      signal?.removeEventListener('abort', withdraw)
      if (!granted) {
        signal?.throwIfAborted()
        throw new EvaluationsBusyError()
      }
      const began = performance.now()
      try {
        return await work()
      } finally {
        setTimeout(() => queue.release(), performance.now() - began).unref()
      }
    },
  }
}
