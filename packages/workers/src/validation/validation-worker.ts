import type { PhaseTwo, ProtocolParameters, SlotConfig } from '@ratatosk/ledger'
import { createSubmissionWorker, type Disposition, type QueueBackend } from '@ratatosk/queue'
import type { Store } from '@ratatosk/store'
import { type Log, recordActivity, type ValidationStats } from './activity.js'
import { lateExchange } from './shared-orphans.js'
import { type Outcome, Validator } from './validator.js'

export interface ValidationWorkerOptions {
  readonly queue: QueueBackend
  readonly store: Pick<Store, 'withLedger' | 'rejections'>
  readonly parameters: ProtocolParameters
  /** 0 is every test network, 1 is mainnet. */
  readonly networkId: number
  readonly slots: SlotConfig
  /** Runs Plutus scripts; without it, transactions that need one become dead letters. */
  readonly evaluator?: PhaseTwo['evaluator']
  readonly log?: Log
  /** POSIX milliseconds. @defaultValue `Date.now` */
  readonly now?: () => number
  /** Transactions at most that are judged and written together. @defaultValue 256 */
  readonly batchSize?: number
  /** How long the first transaction of a batch waits for others, in milliseconds. @defaultValue 5 */
  readonly batchWaitMs?: number
  /** Deliveries at most that this worker holds at a time. @defaultValue 768 */
  readonly concurrency?: number
  /** After so many deliveries, what time has not mended becomes a dead letter. @defaultValue 5 */
  readonly maxAttempts?: number
  /** Until the second delivery, in milliseconds; doubled for each further one, up to a minute. @defaultValue 250 */
  readonly backoffMs?: number
  /**
   * How long a worker that says nothing keeps its deliveries, in milliseconds: others get them after that.
   * @defaultValue 3000 on Redis, 10000 on SQL
   */
  readonly lockDurationMs?: number
  /** How often deliveries of silent workers are looked for, in milliseconds. @defaultValue a third of the above */
  readonly stalledIntervalMs?: number
}

export interface ValidationWorker {
  /** Resolves when the worker is connected and takes jobs. */
  ready(): Promise<void>
  stats(): ValidationStats
  /** Takes nothing new, finishes the batches under way and gives the rest back to the queue. Safe to call twice. */
  close(): Promise<void>
}

const longestBackoffMs = 60_000

/**
 * Takes submissions from the queue, judges them in batches, and puts them into the mempool ledger or among the dead letters.
 * Any number of workers may share a queue and a store.
 *
 * @example
 * const worker = createValidationWorker({ queue: backend, store, parameters, networkId: 0, slots, log })
 * await worker.ready()
 * // …
 * await worker.close()
 */
export function createValidationWorker(options: ValidationWorkerOptions): ValidationWorker {
  const { queue, store, parameters, networkId, slots, evaluator, log } = options
  const { batchSize = 256, concurrency = 768, backoffMs = 250 } = options
  const backoff = (attempts: number) => Math.min(backoffMs * 2 ** (attempts - 1), longestBackoffMs)
  const activity = recordActivity(log)
  // An embedded database has one process, and a process needs no second worker.
  const exchange = queue.kind === 'pglite' ? undefined : lateExchange()
  const validator = new Validator({
    store,
    parameters,
    networkId,
    slots,
    evaluator,
    now: options.now ?? Date.now,
    batchSize,
    batchWaitMs: options.batchWaitMs ?? 5,
    maxAttempts: options.maxAttempts ?? 5,
    backoff,
    ...(exchange === undefined ? {} : { exchange }),
    observer: activity,
  })
  const joined = exchange
    ?.join(queue, (orphan) => validator.offer(orphan))
    .catch((error: Error) => {
      log?.warn({ err: error }, 'other workers cannot be told of transactions that miss an output')
    })
  const worker = createSubmissionWorker(
    queue,
    async (delivery) => dispositionOf(await validator.validate(delivery), backoff(delivery.attempt)),
    {
      concurrency,
      ...defined('lockDurationMs', options.lockDurationMs),
      ...defined('stalledIntervalMs', options.stalledIntervalMs),
    },
  )
  let closing: Promise<void> | undefined
  return {
    async ready() {
      await Promise.all([worker.ready(), joined])
    },
    stats: () => activity.stats(),
    close() {
      closing ??= (async () => {
        validator.close()
        await worker.close()
        activity.close()
      })()
      return closing
    },
  }
}

function dispositionOf({ kind }: Outcome, afterMs: number): Disposition {
  if (kind === 'postponed') return { kind: 'again', afterMs }
  return { kind: kind === 'released' ? 'release' : 'done' }
}

function defined<Name extends string, Value>(name: Name, value: Value | undefined) {
  return value === undefined ? {} : ({ [name]: value } as { readonly [name in Name]: Value })
}
