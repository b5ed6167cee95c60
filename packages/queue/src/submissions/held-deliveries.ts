interface Held {
  /** POSIX milliseconds. */
  readonly due: number
  settle(elapsed: boolean): void
}

const tickMs = 50
/** While deliveries arrive closer together, the input that a held one waits for may be among them. */
const quietMs = 250
/** … but a held delivery does not wait longer than this past its due time. */
const maxOverdueMs = 5_000

/** Keeps deliveries to be repeated in memory: a return to PGlite's queue costs several statements. */
export class HeldDeliveries {
  readonly #capacity: number
  readonly #waiting: () => Promise<number>
  readonly #held = new Set<Held>()
  #size = 0
  /** POSIX milliseconds. */
  #lastDelivery = 0
  #timer: NodeJS.Timeout | undefined
  #counting = false
  #closed = false

  /** `capacity`: the most held deliveries; `waiting`: counts transactions that no worker has taken yet. */
  constructor(capacity: number, waiting: () => Promise<number>) {
    this.#capacity = capacity
    this.#waiting = waiting
  }

  /** Reserves a place; false if all are taken. */
  take(): boolean {
    if (this.#closed || this.#size >= this.#capacity) return false
    this.#size++
    return true
  }

  leave(): void {
    this.#size--
  }

  delivered(): void {
    this.#lastDelivery = Date.now()
  }

  /** Resolves with true after the time and the deliveries waiting before; with false once closed. */
  async elapsed(milliseconds: number): Promise<boolean> {
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
    for (const held of due) if (held.due + maxOverdueMs <= now) this.#settle(held, true)
    if (due.length === 0 || this.#counting || now - this.#lastDelivery < quietMs) return
    this.#counting = true
    try {
      if ((await this.#waiting()) === 0) for (const held of due) this.#settle(held, true)
    } catch {
      // The next tick counts again.
    } finally {
      this.#counting = false
    }
  }

  #settle(held: Held, elapsed: boolean): void {
    this.#held.delete(held)
    held.settle(elapsed)
    if (this.#held.size > 0) return
    clearInterval(this.#timer)
    this.#timer = undefined
  }
}
