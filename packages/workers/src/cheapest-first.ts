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
