import { setImmediate as nextIteration } from 'node:timers/promises'

interface Pending<Item, Result> {
  readonly item: Item
  resolve(result: Result): void
  reject(error: unknown): void
}

interface BulkOptions {
  readonly maxItems: number
  /** Event-loop iterations without a new item before a call; at least one. */
  readonly quietIterations: number
  /** Minimum milliseconds between starts of calls below `promptItems`: only a steady stream is collected. */
  readonly paceMs: number
  /** Milliseconds without a new item that end such a wait: answered clients are back, or gone. */
  readonly quietMs: number
  /** The same after a call of `steadySize` items or more, whose clients are many. */
  readonly steadyQuietMs: number
  /** So many items are not held back. */
  readonly promptItems: number
}

/** A call of so many items is of a stream: a client that waits for each answer sends one. */
const steadySize = 4

/**
 * Combines items of the same few event-loop iterations, or of a running call, into the next call; an embedded
 * database blocks the loop, so milliseconds mean little. All items of a call succeed or fail together.
 */
export function addsInBulk<Item, Result>(
  call: (items: readonly Item[]) => Promise<readonly Result[]>,
  { maxItems, quietIterations, paceMs, quietMs, steadyQuietMs, promptItems }: BulkOptions,
): (item: Item) => Promise<Result> {
  let pending: Pending<Item, Result>[] = []
  let draining = false
  let called = Number.NEGATIVE_INFINITY
  let calledWith = 0
  let onArrival = () => {}

  /** Waits until a call may start. */
  async function pace(): Promise<void> {
    const early = called + paceMs - performance.now()
    if (early <= 0 || pending.length >= promptItems) return
    await new Promise<void>((resolve) => {
      const end = () => {
        clearTimeout(longest)
        clearTimeout(silence)
        onArrival = () => {}
        resolve()
      }
      const longest = setTimeout(end, early)
      const silence = setTimeout(end, calledWith < steadySize ? quietMs : steadyQuietMs)
      onArrival = () => {
        if (pending.length >= promptItems) end()
        else silence.refresh()
      }
    })
  }

  async function drain(): Promise<void> {
    draining = true
    while (pending.length > 0) {
      let quiet = 0
      do {
        const before = pending.length
        await nextIteration()
        quiet = pending.length === before ? quiet + 1 : 0
      } while (quiet < quietIterations && pending.length < maxItems)
      await pace()
      called = performance.now()
      const batch = pending.slice(0, maxItems)
      pending = pending.slice(maxItems)
      calledWith = batch.length
      try {
        const results = await call(batch.map(({ item }) => item))
        results.forEach((result, index) => {
          batch[index]?.resolve(result)
        })
      } catch (error) {
        for (const { reject } of batch) reject(error)
      }
    }
    draining = false
  }

  return (item) =>
    new Promise((resolve, reject) => {
      pending.push({ item, resolve, reject })
      if (!draining) void drain()
      else onArrival()
    })
}
