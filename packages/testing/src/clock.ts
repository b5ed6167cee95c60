/** A clock that can be set. It runs as fast as the system's. */
export class Clock {
  #aheadMs = 0

  /** The time in POSIX milliseconds. */
  readonly now = (): number => Date.now() + this.#aheadMs

  /** Moves the clock, forward or back. */
  move(ms: number): void {
    this.#aheadMs += ms
  }

  set(time: number): void {
    this.move(time - this.now())
  }
}
