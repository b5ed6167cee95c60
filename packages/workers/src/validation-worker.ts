import { availableParallelism } from 'node:os'
import type { Failures, PhaseTwo, ProtocolParameters, SlotConfig } from '@ratatosk/ledger'
import type { Log } from '@ratatosk/ports'
import {
  createSubmissionWorker,
  type Delivery,
  type DeliverySlot,
  type Disposition,
  type QueueBackend,
} from '@ratatosk/queue'
import type { Store } from '@ratatosk/store'
import { type Outcome, recordActivity, type ValidationStats } from './activity.js'
import { BatchRunner, type BatchRunnerOptions } from './batch-runner.js'
import { contextAt, followBlockTime, slotsOfTries, triesOf } from './context.js'
import { type Candidate, examine, isCandidate, type Leaving } from './examine.js'
import { createOrphanExchange, type SharedOrphan } from './orphans.js'
import { type ParkedDelivery, ScriptLane } from './script-lane.js'
import { maxVerifiedOnArrival, SignatureChecks } from './signatures.js'
import type { BatchContext } from './validate-batch.js'

/** Options of {@link createValidationWorker}. */
export interface ValidationWorkerOptions {
  readonly queue: QueueBackend
  readonly store: Pick<Store, 'withLedger' | 'withUnlockedLedger' | 'rejections'> & {
    readonly blocks: Pick<Store['blocks'], 'newest'>
  }
  readonly parameters: ProtocolParameters
  /** 1 for mainnet, 0 for every test network. */
  readonly networkId: number
  readonly slots: SlotConfig
  /** Runs Plutus scripts. Without it, transactions that need one become dead letters. */
  readonly evaluator?: PhaseTwo['evaluator']
  /** The outputs that leave layer 2, in a deployment with a bridge. */
  readonly leaving?: Leaving | undefined
  /** Gets at most one summary a second while there is work, and up to five reasons of dead letters. */
  readonly log?: Log
  /** POSIX milliseconds. @defaultValue `Date.now` */
  readonly now?: () => number
  /** Maximum number of transactions that are validated and written together. @defaultValue 256 */
  readonly batchSize?: number
  /**
   * After how long without another transaction a batch is validated, in milliseconds; five times as long in a
   * steady stream. @defaultValue 5
   */
  readonly batchQuietMs?: number
  /**
   * How long the first transaction of a batch waits for others that keep arriving, in milliseconds.
   * @defaultValue 100
   */
  readonly batchWaitMs?: number
  /** Maximum number of deliveries that this worker handles at a time. @defaultValue 768 */
  readonly concurrency?: number
  /**
   * Maximum number of transactions whose scripts run at a time.
   * @defaultValue one fewer than the processors, from 1 to 4, as the threads of `createEvaluator`
   */
  readonly scriptConcurrency?: number
  /**
   * Maximum number of transactions that wait for scripts; they do not count as `concurrency`. If there are
   * more, the most expensive ones are delivered again later, without using up an attempt. @defaultValue 2048
   */
  readonly maxWaitingForScripts?: number
  /**
   * Maximum number of attempts of a transaction whose failure may be transient; then it is a dead letter.
   * @defaultValue 5
   */
  readonly maxAttempts?: number
  /**
   * Delay before the second attempt, in milliseconds; doubled for each further one, up to a minute.
   * @defaultValue 250
   */
  readonly backoffMs?: number
  /**
   * How long an unresponsive worker keeps its deliveries before other workers get them, in milliseconds.
   * @defaultValue 3000 on Redis, 10000 on SQL
   */
  readonly lockDurationMs?: number
  /**
   * Poll interval for deliveries of unresponsive workers, in milliseconds. @defaultValue a third of
   * the above
   */
  readonly stalledIntervalMs?: number
}

/** A running validation worker. */
export interface ValidationWorker {
  /** Resolves when the worker is connected and takes deliveries. */
  ready(): Promise<void>
  /** Counts since the worker was created. */
  stats(): ValidationStats
  /** Whether transactions arrive faster than they are validated: what can wait should. */
  busy(): boolean
  /**
   * Stops taking deliveries, finishes the batch that is running and returns the rest to the queue. Safe to
   * call twice.
   */
  close(): Promise<void>
}

/**
 * Takes submitted transactions from the queue, validates them in batches, and puts each into the mempool
 * ledger or into the dead letters. Any number of workers, in any number of processes, may share a queue and a
 * store.
 *
 * @example
 * const worker = createValidationWorker({ queue: backend, store, parameters, networkId: 0, slots, log })
 * await worker.ready()
 * // …
 * await worker.close()
 */
export function createValidationWorker(options: ValidationWorkerOptions): ValidationWorker {
  const { queue, store, parameters, networkId, slots, evaluator, log } = options
  const { batchSize = 256, concurrency = 768 } = options
  const activity = recordActivity(log)
  const { now = Date.now } = options
  const blockTime = followBlockTime(store.blocks, now)
  // PGlite belongs to one process, which needs no second worker.
  const exchange = queue.kind === 'pglite' ? undefined : createOrphanExchange()
  const validator = new Validator({
    store,
    parameters,
    networkId,
    slots,
    evaluator,
    leaving: options.leaving,
    scriptConcurrency: options.scriptConcurrency ?? Math.min(4, Math.max(1, availableParallelism() - 1)),
    maxWaitingForScripts: options.maxWaitingForScripts ?? 2048,
    now,
    blockTime: blockTime.now,
    batches: { size: batchSize, quietMs: options.batchQuietMs ?? 5, maxMs: options.batchWaitMs ?? 100 },
    ...triesOf(options),
    ...(exchange === undefined ? {} : { exchange }),
    observer: activity,
  })
  const joined = exchange
    ?.join(queue, (orphan) => validator.offer(orphan))
    .catch((error: Error) => {
      log?.warn(
        { err: error },
        'Failed to join the orphan channel; transactions that miss an output are not shared',
      )
    })
  const validate: Parameters<typeof createSubmissionWorker>[1] = async (delivery, slot) => {
    await blockTime.refresh()
    return validator.validate(delivery, slot)
  }
  const worker = createSubmissionWorker(queue, validate, {
    concurrency,
    ...defined('lockDurationMs', options.lockDurationMs),
    ...defined('stalledIntervalMs', options.stalledIntervalMs),
  })
  let closing: Promise<void> | undefined
  return {
    async ready() {
      await Promise.all([worker.ready(), joined])
    },
    stats: () => ({ ...activity.stats(), waitingForScripts: validator.waitingForScripts }),
    busy: () => validator.busy,
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

function defined<Name extends string, Value>(name: Name, value: Value | undefined) {
  return value === undefined ? {} : ({ [name]: value } as { readonly [name in Name]: Value })
}

export interface ValidatorOptions extends Omit<BatchRunnerOptions, 'scripts' | 'signatures' | 'context'> {
  readonly parameters: ProtocolParameters
  readonly networkId: number
  readonly slots: SlotConfig
  readonly evaluator: PhaseTwo['evaluator'] | undefined
  readonly leaving: Leaving | undefined
  /** When the next block begins: now, or at the end of the newest one. */
  blockTime(): number
  readonly scriptConcurrency: number
  readonly maxWaitingForScripts: number
}

/** Bytes of CBOR that wait for scripts. */
const maxLaneBytes = 16 * 1024 * 1024

/** Validates deliveries in two phases: phase A here, one by one, and phase B in batches. */
export class Validator {
  readonly #options: ValidatorOptions
  readonly #signatures = new SignatureChecks<ParkedDelivery>()
  readonly #scripts: ScriptLane
  readonly #runner: BatchRunner
  readonly #slotsOfTries: bigint

  constructor(options: ValidatorOptions) {
    const { evaluator, slots, scriptConcurrency, maxWaitingForScripts } = options
    this.#options = options
    this.#slotsOfTries = slotsOfTries(options, slots.slotLength)
    this.#scripts = new ScriptLane({
      phaseTwo: evaluator === undefined ? undefined : { evaluator, slots },
      signatures: this.#signatures,
      concurrency: scriptConcurrency,
      maxCount: maxWaitingForScripts,
      maxBytes: maxLaneBytes,
    })
    this.#runner = new BatchRunner({
      ...options,
      scripts: this.#scripts,
      signatures: this.#signatures,
      context: () => this.#context(),
    })
  }

  /** Never rejects. `slot` is vacated while the transaction waits for scripts or many signatures. */
  async validate(delivery: Delivery, slot: DeliverySlot): Promise<Disposition> {
    const { observer, backoff } = this.#options
    const outcome = await this.#outcome(delivery, slot)
    this.#scripts.leave(delivery.id)
    observer.settled(delivery, outcome)
    return dispositionOf(outcome, backoff(delivery.attempt))
  }

  async #outcome(delivery: Delivery, slot: DeliverySlot): Promise<Outcome> {
    let examined: Candidate | Failures
    const began = performance.now()
    try {
      examined = examine(delivery.cbor, this.#context(), this.#options.leaving, {
        max: maxVerifiedOnArrival,
        remembered: this.#signatures,
      })
      if (isCandidate(examined)) examined = this.#scripts.recall(examined)
      this.#options.observer.examined(performance.now() - began)
    } catch (error) {
      return this.#runner.fail(delivery, undefined, error)
    }
    return new Promise((settle) => {
      this.#runner.add({ delivery, examined, slot, settle })
    })
  }

  get busy(): boolean {
    return this.#runner.busy
  }

  get waitingForScripts(): number {
    return this.#scripts.size
  }

  /** Takes a copy of a transaction that waits for its next delivery: it is accepted if possible. */
  offer({ cbor, until }: SharedOrphan): void {
    if (!(until > this.#options.now())) return
    try {
      // The worker that has the delivery may have verified the signatures, and this one may never need to.
      const signatures = { max: 0, remembered: this.#signatures }
      const candidate = examine(cbor, this.#context(), this.#options.leaving, signatures)
      if (isCandidate(candidate) && candidate.flaws.length === 0) this.#runner.add({ candidate, until })
    } catch {
      // The validator that gets the delivery reports the defect.
    }
  }

  /** Finishes the batch that is running. Deliveries that wait for scripts or for the store are released. */
  close(): void {
    this.#runner.close()
  }

  #context(): BatchContext {
    const context = contextAt(this.#options, this.#options.blockTime())
    return { ...context, lastTry: context.slot + this.#slotsOfTries }
  }
}

function dispositionOf(outcome: Outcome, backoffMs: number): Disposition {
  switch (outcome.kind) {
    case 'postponed':
      return { kind: 'again', afterMs: backoffMs }
    case 'deferred':
      return { kind: 'later', afterMs: outcome.afterMs }
    case 'released':
      return { kind: 'release' }
    default:
      return { kind: 'done' }
  }
}
