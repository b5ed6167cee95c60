/** Lets one step work at a time, and whoever was asked for by a person before what runs by itself. */
export interface Gate {
  /** Runs `step` after the one under way; meanwhile `yields` is true. */
  enter<T>(step: () => Promise<T>): Promise<T>
  /** Whether somebody waits at the gate or works behind it by {@link enter}. */
  readonly yields: boolean
  /** Runs `step` at once, where nobody works or waits; otherwise answers undefined. */
  tryEnter<T>(step: () => Promise<T>): Promise<T> | undefined
}

export function createGate(): Gate {
  let last: Promise<unknown> = Promise.resolve()
  let working = false
  let entered = 0

  function run<T>(step: () => Promise<T>): Promise<T> {
    working = true
    const done = step().finally(() => {
      working = false
    })
    last = done.catch(() => undefined)
    return done
  }

  return {
    async enter(step) {
      entered++
      try {
        while (working) await last
        return await run(step)
      } finally {
        entered--
      }
    },
    get yields() {
      return entered > 0
    },
    tryEnter(step) {
      return working || entered > 0 ? undefined : run(step)
    },
  }
}
