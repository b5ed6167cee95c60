import type { QueueSize } from './submission-id.js'

/** The shortest time between two counts, in milliseconds. */
const recountMs = 250
/** Counting takes at most one part in this many of the time. */
const countingShare = 20

/** Limits waiting transactions and bytes by the last count plus own additions; others' may exceed it. */
export class WaitingLimit {
  readonly #limit: QueueSize
  readonly #count: () => Promise<QueueSize>
  #counted: QueueSize = { transactions: 0, bytes: 0 }
  readonly #added = { transactions: 0, bytes: 0 }
  readonly #inProgress = { transactions: 0, bytes: 0 }
  /** On the clock of `performance.now()`. */
  #nextCount = Number.NEGATIVE_INFINITY
  #counting: Promise<void> | undefined
  #known = false

  /** @param count what is waiting; if it rejects, the last estimate remains */
  constructor(limit: QueueSize, count: () => Promise<QueueSize>) {
    this.#limit = limit
    this.#count = count
  }

  /** Runs `add` for a transaction of this size; undefined if a limit is reached. */
  async admit<Result>(bytes: number, add: () => Promise<Result>): Promise<Result | undefined> {
    if (performance.now() >= this.#nextCount) this.#counting ??= this.#recount()
    if (!this.#known || this.#isReached(bytes)) await this.#counting
    if (this.#isReached(bytes)) return undefined
    for (const sum of [this.#added, this.#inProgress]) {
      sum.transactions++
      sum.bytes += bytes
    }
    try {
      return await add()
    } finally {
      this.#inProgress.transactions--
      this.#inProgress.bytes -= bytes
    }
  }

  #isReached(bytes: number): boolean {
    const { transactions, bytes: counted } = this.#counted
    return (
      transactions + this.#added.transactions >= this.#limit.transactions ||
      counted + this.#added.bytes + bytes > this.#limit.bytes
    )
  }

  async #recount(): Promise<void> {
    const started = performance.now()
    const transactions = this.#added.transactions - this.#inProgress.transactions
    const bytes = this.#added.bytes - this.#inProgress.bytes
    try {
      this.#counted = await this.#count()
      // Additions in progress when the count began may be missing in it.
      this.#added.transactions -= transactions
      this.#added.bytes -= bytes
      this.#known = true
    } catch {
      // If the store is not available, adding fails too.
    } finally {
      const ended = performance.now()
      this.#nextCount = ended + Math.max(recountMs, (ended - started) * countingShare)
      this.#counting = undefined
    }
  }
}
