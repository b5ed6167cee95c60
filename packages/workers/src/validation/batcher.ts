/**
 * Gathers items into batches and runs one batch at a time: as soon as `size` items are there, or `waitMs` after the
 * first of them came.
 */
export class Batcher<Item> {
  readonly #size: number
  readonly #waitMs: number
  readonly #run: (items: readonly Item[]) => Promise<void>
  #items: Item[] = []
  #timer: NodeJS.Timeout | undefined
  #underWay = false

  /** @param run must not reject */
  constructor(size: number, waitMs: number, run: (items: readonly Item[]) => Promise<void>) {
    this.#size = size
    this.#waitMs = waitMs
    this.#run = run
  }

  add(item: Item): void {
    this.#items.push(item)
    this.#consider()
  }

  #consider(): void {
    if (this.#underWay || this.#items.length === 0) return
    if (this.#items.length >= this.#size) this.#start()
    else this.#timer ??= setTimeout(() => this.#start(), this.#waitMs)
  }

  #start(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    if (this.#underWay) return
    this.#underWay = true
    const batch = this.#items.slice(0, this.#size)
    this.#items = this.#items.slice(this.#size)
    void this.#run(batch).finally(() => {
      this.#underWay = false
      this.#consider()
    })
  }
}
