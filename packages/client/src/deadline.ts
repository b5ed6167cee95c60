/** Ends an attempt when its time is over, or when the caller's signal says so. */
export class Deadline {
  readonly #controller = new AbortController()
  readonly #given: AbortSignal | undefined
  #ms: number | undefined
  readonly #forward = () => this.#controller.abort(this.#given?.reason)
  #timer: ReturnType<typeof setTimeout> | undefined
  #isOver = false

  /** @param ms no limit without it */
  constructor(given: AbortSignal | undefined, ms: number | undefined) {
    this.#given = given
    this.#ms = ms
    if (given?.aborted) this.#forward()
    given?.addEventListener('abort', this.#forward)
    this.restart()
  }

  /** Milliseconds of the limit. */
  get ms(): number {
    return this.#ms ?? 0
  }

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  /** Whether the time is over, rather than the caller's signal aborted. */
  get isOver(): boolean {
    return this.#isOver
  }

  /** Counts the time from now. @param ms instead of that which was given */
  restart(ms = this.#ms): void {
    this.#ms = ms
    clearTimeout(this.#timer)
    if (this.#ms === undefined) return
    this.#timer = setTimeout(() => {
      this.#isOver = true
      this.#controller.abort()
    }, this.#ms)
  }

  /** Ends the attempt, also an answer that no one reads. */
  end(): void {
    this.clear()
    this.#controller.abort()
  }

  clear(): void {
    clearTimeout(this.#timer)
    this.#given?.removeEventListener('abort', this.#forward)
  }
}

/** Waits; rejects with the signal's reason once it is aborted. */
export function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason)
    const onAbort = () => {
      clearTimeout(timer)
      reject(signal?.reason)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', onAbort)
      resolve()
    }, ms)
    signal?.addEventListener('abort', onAbort, { once: true })
  })
}
