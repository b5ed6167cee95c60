import type { ValidationObserver } from './observer.js'

/** The part of a pino logger that is used. */
export interface Log {
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
}

/** Counts since the start of the worker. */
export interface ValidationStats {
  /** Submissions that ended in the ledger by their own delivery. */
  readonly accepted: number
  /** Submissions of what was accepted before. */
  readonly known: number
  /** Submissions that became dead letters. */
  readonly rejected: number
  /** Deliveries that are to be repeated. */
  readonly postponed: number
  /** Deliveries given back to the queue undecided. */
  readonly released: number
  readonly batches: number
}

export interface Activity extends ValidationObserver {
  stats(): ValidationStats
  /** Logs what was not logged yet, and nothing more. */
  close(): void
}

const summaryMs = 1000

/** Counts, and logs one line a second at most while there is work. */
export function recordActivity(log: Log | undefined): Activity {
  const counts = { accepted: 0, known: 0, rejected: 0, postponed: 0, released: 0, batches: 0 }
  let logged = { ...counts }
  let busyMs = 0
  let timer: NodeJS.Timeout | undefined

  function summarize(): void {
    timer = undefined
    const since: { [name: string]: number } = {}
    for (const name of Object.keys(counts) as (keyof typeof counts)[])
      since[name] = counts[name] - logged[name]
    logged = { ...counts }
    log?.info({ ...since, busyMs: Math.round(busyMs) }, 'validated transactions')
    busyMs = 0
  }

  return {
    settled({ kind }) {
      counts[kind]++
      if (log !== undefined) timer ??= setTimeout(summarize, summaryMs).unref()
    },
    batch(milliseconds) {
      counts.batches++
      busyMs += milliseconds
    },
    failed({ id }, error) {
      log?.error({ err: error, submission: id }, 'a transaction could not be judged')
    },
    storeAway(error) {
      log?.warn({ err: error }, 'the store is away; validation waits for it')
    },
    storeBack() {
      log?.info({}, 'the store is back')
    },
    stats: () => ({ ...counts }),
    close() {
      if (timer === undefined) return
      clearTimeout(timer)
      summarize()
    },
  }
}
