import pTimeout from 'p-timeout'
import { StoreError } from './errors.js'

/** How long `close` waits for running work, and then for the connections to close, in milliseconds. */
const closeTimeout = 5_000

/** Tracks running work, so that closing can wait for it. */
interface InFlight {
  /** @throws StoreError `STORE_CLOSED` */
  run<T>(start: () => Promise<T>): Promise<T>
  /** Refuses new work, waits for running work, then runs `finish`. A second call waits for the first. */
  close(finish: () => Promise<void>): Promise<void>
}

export function trackInFlight(): InFlight {
  const running = new Set<Promise<unknown>>()
  let closing: Promise<void> | undefined
  return {
    async run(start) {
      if (closing !== undefined) throw new StoreError('STORE_CLOSED', 'The store is closed')
      const work = start()
      running.add(work)
      try {
        return await work
      } finally {
        running.delete(work)
      }
    },

    close(finish) {
      closing ??= atMost(Promise.allSettled(running)).then(() => atMost(finish()))
      return closing
    },
  }
}

async function atMost(work: Promise<unknown>): Promise<void> {
  await pTimeout(work, { milliseconds: closeTimeout, message: false })
}
