import type { Failures } from '@ratatosk/ledger'
import type { Log } from '@ratatosk/ports'
import type { Delivery } from '@ratatosk/queue'

export type Outcome =
  /** The transaction was applied to the ledger. */
  | { readonly kind: 'accepted' }
  /** The transaction was in the ledger before. */
  | { readonly kind: 'known' }
  /** The submission is a dead letter. `transaction` is its id in hex, if it decodes. */
  | { readonly kind: 'rejected'; readonly failures: Failures; readonly transaction?: string }
  /** The transaction must be delivered again, because a later delivery may have another outcome. */
  | { readonly kind: 'postponed'; readonly failures: Failures }
  /** Too many scripts wait: the transaction is delivered again, without using up an attempt. */
  | { readonly kind: 'deferred'; readonly afterMs: number }
  /** Nothing was decided, because the worker is closing. */
  | { readonly kind: 'released' }

/** Receives the events of validation, for statistics and logs. */
export interface ValidationObserver {
  /** The outcome of a delivery is durable. */
  settled(delivery: Delivery, outcome: Outcome): void
  /** Phase A has examined a delivery. */
  examined(milliseconds: number): void
  /** Phase B has decided a batch, and what it decided is stored. */
  batch(deliveries: number, milliseconds: number): void
  /** The node failed to validate a transaction, because of a defect or a failing dependency. */
  failed(delivery: Delivery, error: unknown): void
  storeUnavailable(error: Error): void
  storeAvailable(): void
}

/** Counts since the worker was created. */
export interface ValidationStats {
  /** Deliveries that put their transaction into the ledger. */
  readonly accepted: number
  /** Deliveries of transactions that were in the ledger before. */
  readonly known: number
  /** Deliveries that became dead letters. */
  readonly rejected: number
  /** Deliveries that will be repeated. */
  readonly postponed: number
  /** Deliveries that were postponed without an attempt, because too many scripts were waiting. */
  readonly deferred: number
  /** Deliveries that were returned to the queue undecided. */
  readonly released: number
  /** Milliseconds that phase A took, all together. */
  readonly examineMs: number
  /** Batches of phase B. */
  readonly batches: number
  /** Their deliveries, all together. */
  readonly batchDeliveries: number
  /** Milliseconds that batches took, all together. */
  readonly batchMs: number
  /** The rejected ones by their first broken rule. */
  readonly rejectedBy: Readonly<Record<string, number>>
  /** Transactions that wait for scripts now. */
  readonly waitingForScripts: number
}

export interface Activity extends ValidationObserver {
  stats(): Omit<ValidationStats, 'waitingForScripts'>
  /** Logs what has not been logged yet. */
  close(): void
}

type Rejected = Extract<Outcome, { kind: 'rejected' }>

const summaryMs = 1000
/** The most dead letters logged between two summaries, so that a flood of them is not a flood of lines. */
const maxDeadLetterLines = 5

/** Counts outcomes; logs a summary at most once a second, and the reasons of dead letters. */
export function recordActivity(log: Log | undefined): Activity {
  const counts = { accepted: 0, known: 0, rejected: 0, postponed: 0, deferred: 0, released: 0, batches: 0 }
  const rejectedBy: Record<string, number> = {}
  let examineMs = 0
  let batchDeliveries = 0
  let batchMs = 0
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
    log?.info({ ...since, busyMs: Math.round(busyMs) }, 'Transactions validated')
    busyMs = 0
    deadLetters = 0
  }

  return {
    settled(delivery, outcome) {
      counts[outcome.kind]++
      if (outcome.kind === 'rejected') {
        const rule = outcome.failures[0]?.predicate ?? 'unknown'
        rejectedBy[rule] = (rejectedBy[rule] ?? 0) + 1
      }
      if (outcome.kind === 'rejected' && ++deadLetters <= maxDeadLetterLines) {
        log?.info(deadLetterFields(delivery, outcome), 'Dead letter')
      }
      if (log !== undefined) timer ??= setTimeout(summarize, summaryMs).unref()
    },
    examined(milliseconds) {
      examineMs += milliseconds
    },
    batch(deliveries, milliseconds) {
      counts.batches++
      batchDeliveries += deliveries
      busyMs += milliseconds
      batchMs += milliseconds
    },
    failed({ id }, error) {
      log?.error({ err: error, submission: id }, 'Failed to validate a transaction')
    },
    storeUnavailable(error) {
      log?.warn({ err: error }, 'Store unavailable; validation waits for it')
    },
    storeAvailable() {
      log?.info({}, 'Store available again')
    },
    stats: () => ({ ...counts, examineMs, batchDeliveries, batchMs, rejectedBy: { ...rejectedBy } }),
    close() {
      if (timer === undefined) return
      clearTimeout(timer)
      summarize()
    },
  }
}

function deadLetterFields({ id, attempt }: Delivery, { failures: [first], transaction }: Rejected) {
  return {
    submission: id,
    tx: transaction,
    attempts: attempt,
    code: first?.predicate,
    reason: first?.message,
  }
}
