/** Lets a number of holders work at a time. Of those that wait the cheapest is next. */
export class Turns<Holder extends { readonly cost: bigint }> {
  readonly #concurrency: number
  readonly #waiting: { readonly holder: Holder; start(granted: boolean): void }[] = []
  #taken = 0

  constructor(concurrency: number) {
    this.#concurrency = concurrency
  }

  get waiting(): number {
    return this.#waiting.length
  }

  /** @returns true when the holder may work, until {@link end}; false if it was withdrawn before */
  take(holder: Holder): Promise<boolean> {
    return new Promise((start) => {
      const index = this.#waiting.findLastIndex((other) => other.holder.cost <= holder.cost)
      this.#waiting.splice(index + 1, 0, { holder, start })
      this.#grant()
    })
  }

  end(): void {
    this.#taken--
    this.#grant()
  }

  withdraw(holder: Holder): void {
    const index = this.#waiting.findIndex((other) => other.holder === holder)
    if (index >= 0) this.#waiting.splice(index, 1)[0]?.start(false)
  }

  #grant(): void {
    // Later, so that the cheapest of those that come together is first.
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
