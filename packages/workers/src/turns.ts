import type { Turns } from '@ratatosk/ports'

/** Admits a number of holders at a time, the cheapest of those that wait first. */
export class CheapestFirst<Holder extends { readonly cost: bigint }> {
  readonly #concurrency: number
  readonly #waiting: { readonly holder: Holder; start(admitted: boolean): void }[] = []
  #taken = 0

  constructor(concurrency: number) {
    this.#concurrency = concurrency
  }

  get waiting(): number {
    return this.#waiting.length
  }

  /** The holder that would be admitted last. */
  get costliest(): Holder | undefined {
    return this.#waiting.at(-1)?.holder
  }

  /** @returns true when the holder is admitted, until {@link release}; false if it was withdrawn before */
  acquire(holder: Holder): Promise<boolean> {
    return new Promise((start) => {
      const index = this.#waiting.findLastIndex((other) => other.holder.cost <= holder.cost)
      this.#waiting.splice(index + 1, 0, { holder, start })
      this.#admit()
    })
  }

  release(): void {
    this.#taken--
    this.#admit()
  }

  withdraw(holder: Holder): void {
    const index = this.#waiting.findIndex((other) => other.holder === holder)
    if (index >= 0) this.#waiting.splice(index, 1)[0]?.start(false)
  }

  #admit(): void {
    // Later, so that the cheapest of those that arrive together is first.
    queueMicrotask(() => {
      while (this.#taken < this.#concurrency) {
        const next = this.#waiting.shift()
        if (next === undefined) return
        this.#taken++
        next.start(true)
      }
    })
  }
}

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
