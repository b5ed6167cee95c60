interface Held {
  /** POSIX milliseconds. */
  readonly due: number
  settle(passed: boolean): void
}

const tickMs = 50
/** While deliveries follow each other faster than this, what is missed may be among them … */
const quietMs = 250
/** … but no longer than this is waited for it. */
const longestMs = 5_000

/**
 * Deliveries that come again are kept in the worker meanwhile: where every statement takes its turn, a way back through
 * the queue costs several. As there, what waits in the queue comes before them.
 */
export class HeldDeliveries {
  readonly #most: number
  readonly #onSize: (size: number) => void
  readonly #backlog: () => Promise<number>
  readonly #held = new Set<Held>()
  #size = 0
  /** POSIX milliseconds. */
  #lastDelivery = 0
  #timer: NodeJS.Timeout | undefined
  #asking = false
  #closed = false

  /**
   * @param onSize told how many places are taken
   * @param backlog counts the submissions that nobody took from the queue yet
   */
  constructor(most: number, onSize: (size: number) => void, backlog: () => Promise<number>) {
    this.#most = most
    this.#onSize = onSize
    this.#backlog = backlog
  }

  /** Takes one of the places; false: there is none. */
  take(): boolean {
    if (this.#closed || this.#size >= this.#most) return false
    this.#onSize(++this.#size)
    return true
  }

  /** Gives a place back. */
  leave(): void {
    this.#onSize(--this.#size)
  }

  /** Tells of a delivery from the queue. */
  delivered(): void {
    this.#lastDelivery = Date.now()
  }

  /** Resolves after that time, behind what comes from the queue until then; with false, at once, when this is closed. */
  async passed(milliseconds: number): Promise<boolean> {
    if (this.#closed) return false
    this.#timer ??= setInterval(() => void this.#tick(), tickMs)
    return new Promise((settle) => {
      this.#held.add({ due: Date.now() + milliseconds, settle })
    })
  }

  close(): void {
    this.#closed = true
    for (const held of this.#held) this.#settle(held, false)
  }

  async #tick(): Promise<void> {
    const now = Date.now()
    const due = [...this.#held].filter((held) => held.due <= now)
    for (const held of due) if (held.due + longestMs <= now) this.#settle(held, true)
    if (due.length === 0 || this.#asking || now - this.#lastDelivery < quietMs) return
    this.#asking = true
    try {
      if ((await this.#backlog()) === 0) for (const held of due) this.#settle(held, true)
    } catch {
      // Whether anything comes before them is asked again at the next tick.
    } finally {
      this.#asking = false
    }
  }

  #settle(held: Held, passed: boolean): void {
    this.#held.delete(held)
    held.settle(passed)
    if (this.#held.size > 0) return
    clearInterval(this.#timer)
    this.#timer = undefined
  }
}
