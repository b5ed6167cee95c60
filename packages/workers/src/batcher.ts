export interface BatchLimits {
  readonly size: number
  /** Milliseconds without a new item after which a batch starts; five times as many in a steady stream. */
  readonly quietMs: number
  /** Milliseconds after its first item at which a batch starts in any case. */
  readonly maxMs: number
}

/** A steady stream has longer pauses than the items of one job. */
const steadyFactor = 5
/** A batch of this size is followed by others: a client that waits for each transaction is no stream. */
const steadySize = 4

/** Runs one batch at a time: when it is full, after a pause, or when its first item waited long enough. */
export class Batcher<Item> {
  readonly #limits: BatchLimits
  readonly #run: (items: readonly Item[]) => Promise<void>
  #items: Item[] = []
  #timer: NodeJS.Timeout | undefined
  /** How many items the running batch has; 0 while none runs. */
  #running = 0
  /** When the first and the last of the waiting items were added, by the monotonic clock. */
  #first = 0
  #last = 0
  /** When the batch before started, and how many items it had. */
  #started = Number.NEGATIVE_INFINITY
  #size = 0

  /** @param run must not reject */
  constructor(limits: BatchLimits, run: (items: readonly Item[]) => Promise<void>) {
    this.#limits = limits
    this.#run = run
  }

  /** Whether items arrive faster than batches are run: more than a batch is waiting or running. */
  get busy(): boolean {
    return this.#items.length + this.#running > this.#limits.size
  }

  add(item: Item): void {
    this.#last = performance.now()
    if (this.#items.length === 0) this.#first = this.#last
    this.#items.push(item)
    this.#schedule()
  }

  #schedule(): void {
    if (this.#running > 0 || this.#items.length === 0) return
    const { size, maxMs } = this.#limits
    const due = Math.min(this.#last + this.#quietMs, this.#first + maxMs) - performance.now()
    if (this.#items.length >= size || due <= 0) this.#start()
    else
      this.#timer ??= setTimeout(() => {
        this.#timer = undefined
        this.#schedule()
      }, due)
  }

  get #quietMs(): number {
    const { quietMs, maxMs } = this.#limits
    const isSteady = this.#size >= steadySize && this.#first - this.#started < maxMs
    return isSteady ? quietMs * steadyFactor : quietMs
  }

  #start(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const { size } = this.#limits
    const batch = this.#items.slice(0, size)
    this.#running = this.#size = batch.length
    this.#items = this.#items.slice(size)
    this.#started = performance.now()
    this.#first = this.#started
    void this.#run(batch).finally(() => {
      this.#running = 0
      this.#schedule()
    })
  }
}
