import type { ValidationObserver } from './observer.js'
import type { Submission } from './submission.js'
import type { Outcome } from './validator.js'

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

type Rejected = Extract<Outcome, { kind: 'rejected' }>

const summaryMs = 1000
/** Between two summaries: a flood of dead letters must not become a flood of lines. The summary counts them all. */
const deadLetterLines = 5

/** Counts, and logs a line a second at most while there is work, and why submissions became dead letters. */
export function recordActivity(log: Log | undefined): Activity {
  const counts = { accepted: 0, known: 0, rejected: 0, postponed: 0, released: 0, batches: 0 }
  let logged = { ...counts }
  let busyMs = 0
  let deadLetters = 0
  let timer: NodeJS.Timeout | undefined

  function summarize(): void {
    timer = undefined
    const since: { [name: string]: number } = {}
    for (const name of Object.keys(counts) as (keyof typeof counts)[])
      since[name] = counts[name] - logged[name]
    logged = { ...counts }
    log?.info({ ...since, busyMs: Math.round(busyMs) }, 'validated transactions')
    busyMs = 0
    deadLetters = 0
  }

  return {
    settled(submission, outcome) {
      counts[outcome.kind]++
      if (outcome.kind === 'rejected' && ++deadLetters <= deadLetterLines) {
        log?.info(deadLetterOf(submission, outcome), 'dead letter')
      }
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

function deadLetterOf({ id, attempt }: Submission, { failures: [first], transaction }: Rejected) {
  return {
    submission: id,
    tx: transaction,
    attempts: attempt,
    code: first?.predicate,
    reason: first?.message,
  }
}
