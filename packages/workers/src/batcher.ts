/**
 * Collects items into batches and runs one batch at a time: as soon as `size` items are waiting, or `waitMs` after the first of them
 * was added.
 */
export class Batcher<Item> {
  readonly #size: number
  readonly #waitMs: number
  readonly #run: (items: readonly Item[]) => Promise<void>
  #items: Item[] = []
  #timer: NodeJS.Timeout | undefined
  #running = false

  /**
   * @param size the most items in a batch
   * @param waitMs milliseconds
   * @param run must not reject
   */
  constructor(size: number, waitMs: number, run: (items: readonly Item[]) => Promise<void>) {
    this.#size = size
    this.#waitMs = waitMs
    this.#run = run
  }

  add(item: Item): void {
    this.#items.push(item)
    this.#schedule()
  }

  #schedule(): void {
    if (this.#running || this.#items.length === 0) return
    if (this.#items.length >= this.#size) this.#start()
    else this.#timer ??= setTimeout(() => this.#start(), this.#waitMs)
  }

  #start(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    if (this.#running) return
    this.#running = true
    const batch = this.#items.slice(0, this.#size)
    this.#items = this.#items.slice(this.#size)
    void this.#run(batch).finally(() => {
      this.#running = false
      this.#schedule()
    })
  }
}
