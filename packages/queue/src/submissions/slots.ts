/** Bounds how many deliveries are handled at a time. Those beyond it wait, first come, first served. */
export class Slots {
  readonly #count: number
  #taken = 0
  #waiting: ((taken: boolean) => void)[] = []
  #closed = false

  constructor(count: number) {
    this.#count = count
  }

  /** How many more deliveries would not have to wait. */
  get free(): number {
    return Math.max(0, this.#count - this.#taken - this.#waiting.length)
  }

  /** Resolves with true once a slot is taken, or with false if this object is closed. */
  take(): Promise<boolean> {
    if (this.#closed) return Promise.resolve(false)
    if (this.#taken < this.#count) {
      this.#taken++
      return Promise.resolve(true)
    }
    return new Promise((resolve) => this.#waiting.push(resolve))
  }

  /** Gives back a slot. */
  leave(): void {
    const next = this.#waiting.shift()
    if (next === undefined) this.#taken--
    else next(true)
  }

  /** Those that wait get no slot. */
  close(): void {
    this.#closed = true
    const waiting = this.#waiting
    this.#waiting = []
    for (const resolve of waiting) resolve(false)
  }
}
