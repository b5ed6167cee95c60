import type { Store } from '@ratatosk/store'

const freshForMs = 250

/** When the next block begins, but not in the past: POSIX milliseconds. */
export interface BlockTime {
  /** Reads the newest block, at most every 250 ms. A failure keeps what is known. */
  refresh(): Promise<void>
  now(): number
}

/**
 * A block ends up to its validity after it was committed, and the next one begins there: transactions are
 * judged as of that end.
 */
export function followBlockTime(blocks: Pick<Store['blocks'], 'newest'>, clock: () => number): BlockTime {
  let end = 0
  let readAt = Number.NEGATIVE_INFINITY
  let reading: Promise<void> | undefined
  async function read(): Promise<void> {
    try {
      end = Number((await blocks.newest())?.endTime ?? 0n)
    } catch {
      // The next read of the ledger says that the store fails.
    }
    readAt = performance.now()
    reading = undefined
  }
  return {
    async refresh() {
      if (performance.now() - readAt < freshForMs) return
      reading ??= read()
      await reading
    },
    now: () => Math.max(clock(), end),
  }
}
