import { StoreError } from './errors.js'

/** Milliseconds that work under way is given to end. */
const closeTimeout = 5_000

/** Lets work through until it is closed. */
export interface Gate {
  /** @throws StoreError `STORE_CLOSED` */
  enter<T>(start: () => Promise<T>): Promise<T>
  /** Refuses new work, waits for what is under way, then runs `finish`; a second call waits for the first. */
  close(): Promise<void>
}

export function openGate(finish: () => Promise<void>): Gate {
  const running = new Set<Promise<unknown>>()
  let closing: Promise<void> | undefined
  return {
    async enter(start) {
      if (closing !== undefined) throw new StoreError('STORE_CLOSED', 'The store is closed')
      const work = start()
      running.add(work)
      try {
        return await work
      } finally {
        running.delete(work)
      }
    },

    close() {
      closing ??= within(Promise.allSettled(running)).then(() => within(finish()))
      return closing
    },
  }
}

async function within(work: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const enough = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, closeTimeout)
  })
  try {
    await Promise.race([work, enough])
  } finally {
    clearTimeout(timer)
  }
}
