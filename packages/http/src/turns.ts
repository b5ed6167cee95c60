/** Milliseconds of work after which other work takes its turn. */
const turnMs = 10

/**
 * Runs what waits in order, a little in each turn of the event loop, so that connections and timers take
 * their turns between.
 */
export class TurnQueue {
  readonly #isOpen: () => boolean
  readonly #waiting = new Set<{ readonly run: () => void }>()
  /** Whether a step is due in this turn. */
  #stepping = false
  /** When the first of this turn was run. */
  #began: number | undefined
  #ending = false

  /** @param isOpen whether what waits may run now; asked again in each turn */
  constructor(isOpen: () => boolean = () => true) {
    this.#isOpen = isOpen
  }

  get isEmpty(): boolean {
    return this.#waiting.size === 0
  }

  add(run: () => void): void {
    this.#waiting.add({ run })
    if (!this.#stepping) this.#stepSoon()
  }

  /** Resolves when it is the caller's turn. */
  next(): Promise<void> {
    return new Promise((resolve) => this.add(resolve))
  }

  /** After what was begun has run, as far as it waits for nothing: it counts to the work of this turn. */
  #stepSoon(): void {
    this.#stepping = true
    queueMicrotask(() => process.nextTick(() => this.#step()))
  }

  #step(): void {
    this.#stepping = false
    const [oldest] = this.#waiting
    if (oldest === undefined) return
    this.#endTurnLater()
    const now = performance.now()
    if (!this.#isOpen() || now - (this.#began ?? now) >= turnMs) return
    this.#began ??= now
    this.#waiting.delete(oldest)
    this.#stepSoon()
    oldest.run()
  }

  #endTurnLater(): void {
    if (this.#ending) return
    this.#ending = true
    setImmediate(() => {
      this.#ending = false
      this.#began = undefined
      this.#step()
    })
  }
}
