import { setTimeout as delay } from 'node:timers/promises'
import type { Failures, Transaction } from '@ratatosk/ledger'
import type { Delivery } from '@ratatosk/queue'
import { isStoreError, type Store, type StoreError } from '@ratatosk/store'
import type { Outcome, ValidationObserver } from './activity.js'
import { commitBatch, commitUnlockedBatch, finalFailures } from './commit-batch.js'
import { deadLetterOf } from './dead-letters.js'
import { type Candidate, isCandidate, type Leaving } from './examine.js'
import { type OrphanExchange, Orphans } from './orphans.js'
import {
  type Offer,
  type ParkedDelivery,
  Parking,
  type ScriptLane,
  type WaitingDelivery,
} from './script-lane.js'
import type { SignatureChecks } from './signatures.js'
import type { BatchContext, ValidatedBatch } from './validate-batch.js'

export interface BatchRunnerOptions {
  readonly store: Pick<Store, 'withLedger' | 'withUnlockedLedger' | 'rejections'>
  readonly batches: BatchLimits
  readonly scripts: ScriptLane
  readonly signatures: Pick<SignatureChecks<ParkedDelivery>, 'remember' | 'verifyFew'>
  readonly maxAttempts: number
  readonly leaving: Leaving | undefined
  /** Shares transactions that miss an output with other validators; absent if there can be none. */
  readonly exchange?: OrphanExchange
  readonly observer: ValidationObserver
  /** POSIX milliseconds. */
  now(): number
  context(): BatchContext
  /** Milliseconds until the next delivery after this many attempts. */
  backoff(attempts: number): number
}

interface CommittedBatch {
  readonly batch: ValidatedBatch
  /** Further candidates that were validated with it. */
  readonly copies: readonly Offer[]
  readonly context: BatchContext
}

/** A decoded transaction takes about ten times its bytes. */
const orphanLimits = { count: 5_000, bytes: 16 * 1024 * 1024 }

const validationFailed: Failures = [
  { predicate: 'ValidationFailed', message: 'The node failed to validate this transaction', details: {} },
]

/** Validates and commits deliveries in batches. An outcome is durable before it is settled. */
export class BatchRunner {
  readonly #options: BatchRunnerOptions
  readonly #batcher: Batcher<WaitingDelivery | Offer>
  readonly #orphans = new Orphans(orphanLimits)
  readonly #parking: Parking
  readonly #closing = new AbortController()
  readonly #store: StoreRetry

  constructor(options: BatchRunnerOptions) {
    const { batches, scripts, signatures, observer } = options
    this.#options = options
    this.#batcher = new Batcher(batches, (items) => this.#runBatch(items))
    this.#parking = new Parking({
      scripts,
      signatures,
      signal: this.#closing.signal,
      validateAgain: (item) => this.#batcher.add(item),
    })
    this.#store = storeRetry({
      signal: this.#closing.signal,
      onUnavailable: (error) => observer.storeUnavailable(error),
      onAvailable: () => observer.storeAvailable(),
    })
  }

  add(item: WaitingDelivery | Offer): void {
    this.#batcher.add(item)
  }

  /** Whether transactions arrive faster than they are validated. */
  get busy(): boolean {
    return this.#batcher.busy
  }

  /** Finishes the batch that is running. Deliveries that wait for scripts or for the store are released. */
  close(): void {
    this.#closing.abort()
    this.#parking.close()
  }

  /** Delivers a transaction that the node fails to validate again; after the last attempt, a dead letter. */
  async fail(delivery: Delivery, candidate: Candidate | undefined, error: unknown): Promise<Outcome> {
    const { store, maxAttempts, observer } = this.#options
    observer.failed(delivery, error)
    if (delivery.attempt < maxAttempts) return { kind: 'postponed', failures: validationFailed }
    try {
      const deadLetter = deadLetterOf(delivery, candidate?.transaction.id, validationFailed)
      await this.#store.retryWhileUnavailable(() => store.rejections.add([deadLetter]))
      return {
        kind: 'rejected',
        failures: validationFailed,
        ...(candidate && { transaction: candidate.key }),
      }
    } catch (reason) {
      return isUnavailable(reason) ? { kind: 'released' } : { kind: 'postponed', failures: validationFailed }
    }
  }

  /** Never rejects. A batch that fails as a whole is halved until the item that makes it fail is alone. */
  async #runBatch(items: readonly (WaitingDelivery | Offer)[]): Promise<void> {
    const { observer, scripts } = this.#options
    const began = performance.now()
    try {
      const deliveries = items.filter(isEntry)
      await this.#validateAndCommit(deliveries, items.filter(isOffer))
      observer.batch(deliveries.length, performance.now() - began)
    } catch (error) {
      if (isUnavailable(error)) {
        for (const entry of items.filter(isEntry)) entry.settle({ kind: 'released' })
        return
      }
      const [item] = items
      if (item === undefined || items.length > 1) {
        const half = Math.ceil(items.length / 2)
        await this.#runBatch(items.slice(0, half))
        await this.#runBatch(items.slice(half))
      } else if (isEntry(item)) {
        const { delivery, examined } = item
        item.settle(await this.fail(delivery, isCandidate(examined) ? examined : undefined, error))
      }
    } finally {
      for (const { parkedAs } of items.filter(isOffer)) if (parkedAs !== undefined) scripts.leave(parkedAs)
    }
  }

  async #validateAndCommit(entries: readonly WaitingDelivery[], offers: readonly Offer[]): Promise<void> {
    const candidates = [
      ...entries.map(({ examined }) => examined).filter(isCandidate),
      ...offers.map(({ candidate }) => candidate),
    ]
    if (candidates.length === 0) {
      await this.#rejectUndecodable(entries)
      return
    }
    const { batch, copies, context } = await this.#store.retryWhileUnavailable(() =>
      this.#commit(entries, offers, candidates),
    )
    for (const [{ key }, { kind }] of batch.decisions) {
      if (kind === 'accepted' || kind === 'known') this.#orphans.drop(key)
    }
    for (const { candidate, until } of offers) {
      const decision = batch.decisions.get(candidate)
      if (decision?.kind === 'retriable') this.#orphans.keep(candidate, decision.missing, until)
    }
    for (const copy of copies) {
      const decision = batch.decisions.get(copy.candidate)
      if (decision?.kind === 'parked' && decision.verify)
        void this.#parking.verifyCopy(copy, decision, context)
    }
    for (const entry of entries) this.#conclude(entry, batch, context)
  }

  /** @param candidates of the entries and the offers */
  async #commit(
    entries: readonly WaitingDelivery[],
    offers: readonly Offer[],
    candidates: readonly Candidate[],
  ): Promise<CommittedBatch> {
    const { store, maxAttempts, leaving, now, batches, scripts, signatures } = this.#options
    const present = () => {
      const context = this.#options.context()
      const current = offers.filter(({ until }) => until > now())
      const copies: readonly Offer[] = [...current, ...this.#orphans.following(candidates, now())]
      const conditions = {
        context,
        provisional: scripts.provisional,
        maxAttempts,
        leaving,
        verifyFew: (transaction: Transaction) => signatures.verifyFew(transaction),
      }
      return { context, copies, followers: copies.map(({ candidate }) => candidate), conditions }
    }
    // If a batch is full, more are waiting, perhaps in other processes too: the lock is kept short.
    if (candidates.length >= batches.size) {
      const committed = await store
        .withUnlockedLedger(async (unlocked) => {
          const { context, copies, followers, conditions } = present()
          const isCurrent = () =>
            this.#options.context().slot === context.slot && copies.every(({ until }) => until > now())
          const batch = await commitUnlockedBatch(unlocked, entries, followers, conditions, isCurrent)
          return batch && { batch, copies, context }
        })
        .catch(undefinedIfConflict)
      if (committed !== undefined) return committed
    }
    return store.withLedger(async (ledger) => {
      const { context, copies, followers, conditions } = present()
      return { batch: await commitBatch(ledger, entries, followers, conditions), copies, context }
    })
  }

  /** Dead letters need no lock on the ledger. */
  async #rejectUndecodable(entries: readonly WaitingDelivery[]): Promise<void> {
    const rejected = entries.flatMap(({ delivery, examined, settle }) =>
      isCandidate(examined) ? [] : [{ delivery, failures: examined, settle }],
    )
    const deadLetters = rejected.map(({ delivery, failures }) => deadLetterOf(delivery, undefined, failures))
    await this.#store.retryWhileUnavailable(() => this.#options.store.rejections.add(deadLetters))
    for (const { failures, settle } of rejected) settle({ kind: 'rejected', failures })
  }

  #conclude(entry: WaitingDelivery, batch: ValidatedBatch, context: BatchContext): void {
    const { delivery, examined } = entry
    if (!isCandidate(examined)) {
      entry.settle({ kind: 'rejected', failures: examined })
      return
    }
    const decision = batch.decisions.get(examined)
    if (decision === undefined) throw new Error('A candidate was not validated')
    if (decision.kind === 'parked') {
      void this.#parking.park(entry, examined, decision, context)
      return
    }
    const failures = finalFailures(delivery, decision, this.#options.maxAttempts)
    if (failures === undefined && decision.kind === 'retriable') {
      // Phase A passed, so what was verified is valid; it need not be verified again at the next attempt.
      if (examined.verified) this.#options.signatures.remember(examined.transaction, [])
      this.#keepOrphan(delivery, examined, decision.missing)
      entry.settle({ kind: 'postponed', failures: decision.failures })
      return
    }
    if (failures === undefined) {
      entry.settle({ kind: decision.kind === 'known' ? 'known' : 'accepted' })
      return
    }
    this.#orphans.drop(examined.key)
    entry.settle({ kind: 'rejected', failures, transaction: examined.key })
  }

  /** Keeps a copy until another delivery could make the transaction a dead letter. */
  #keepOrphan({ attempt, cbor }: Delivery, candidate: Candidate, missing: readonly string[]): void {
    if (missing.length === 0) return
    const { maxAttempts, backoff, now, exchange } = this.#options
    if (exchange === undefined) {
      this.#orphans.keep(candidate, missing, Number.POSITIVE_INFINITY)
      return
    }
    let until = now()
    for (let past = attempt; past < maxAttempts; past++) until += backoff(past)
    // A copy that was shared at an earlier attempt still serves, unless the deliveries are late.
    const shared = this.#orphans.until(candidate.key) ?? now()
    this.#orphans.keep(candidate, missing, until)
    if (until - shared > (until - now()) / 2) exchange.share({ cbor, until })
  }
}

function undefinedIfConflict(error: unknown): undefined {
  if (!isStoreError(error) || error.code !== 'STORE_CONFLICT') throw error
}

function isEntry(item: WaitingDelivery | Offer): item is WaitingDelivery {
  return 'settle' in item
}

function isOffer(item: WaitingDelivery | Offer): item is Offer {
  return !isEntry(item)
}

/** Runs work on the store, again and again while the store is unavailable. */
interface StoreRetry {
  /**
   * Retries while the store is unavailable, and a `STORE_CONFLICT` a few times at once.
   * @throws the error of `work`; one of {@link isUnavailable} only once `signal` is aborted
   */
  retryWhileUnavailable<T>(work: () => Promise<T>): Promise<T>
}

interface StoreRetryOptions {
  /** Aborted when the worker closes. */
  readonly signal: AbortSignal
  /** Called once at the start of an outage, and once at its end. */
  onUnavailable(error: StoreError): void
  onAvailable(): void
}

/** Whether the store could not be reached, so that nothing is known about the work. */
export function isUnavailable(error: unknown): error is StoreError {
  return isStoreError(error) && unavailable.has(error.code)
}

const unavailable: ReadonlySet<string> = new Set(['STORE_UNAVAILABLE', 'STORE_TIMEOUT', 'STORE_CLOSED'])
const maxConflicts = 5
const firstDelayMs = 100
const maxDelayMs = 2000

export function storeRetry({ signal, onUnavailable, onAvailable }: StoreRetryOptions): StoreRetry {
  let outage: StoreError | undefined
  return {
    async retryWhileUnavailable(work) {
      let conflicts = 0
      for (let delayMs = firstDelayMs; ; delayMs = Math.min(delayMs * 2, maxDelayMs)) {
        if (outage !== undefined && signal.aborted) throw outage
        try {
          const result = await work()
          if (outage !== undefined) onAvailable()
          outage = undefined
          return result
        } catch (error) {
          if (isStoreError(error) && error.code === 'STORE_CONFLICT' && ++conflicts < maxConflicts) continue
          if (!isUnavailable(error)) throw error
          if (outage === undefined) onUnavailable(error)
          outage = error
          await delay(delayMs, undefined, { signal }).catch(() => undefined)
        }
      }
    },
  }
}

interface BatchLimits {
  readonly size: number
  /** Milliseconds without a new item after which a batch starts; five times as many in a steady stream. */
  readonly quietMs: number
  /** Milliseconds after its first item at which a batch starts in any case. */
  readonly maxMs: number
}

/** A steady stream has longer pauses than the items of one job. */
const steadyFactor = 5
/** A batch of this size is followed by others: a client that waits for each transaction is no stream. */
const steadySize = 4

/** Runs one batch at a time: when it is full, after a pause, or when its first item waited long enough. */
export class Batcher<Item> {
  readonly #limits: BatchLimits
  readonly #run: (items: readonly Item[]) => Promise<void>
  #items: Item[] = []
  #timer: NodeJS.Timeout | undefined
  /** How many items the running batch has; 0 while none runs. */
  #running = 0
  /** When the first and the last of the waiting items were added, by the monotonic clock. */
  #first = 0
  #last = 0
  /** When the batch before started, and how many items it had. */
  #started = Number.NEGATIVE_INFINITY
  #size = 0

  /** @param run must not reject */
  constructor(limits: BatchLimits, run: (items: readonly Item[]) => Promise<void>) {
    this.#limits = limits
    this.#run = run
  }

  /** Whether items arrive faster than batches are run: more than a batch is waiting or running. */
  get busy(): boolean {
    return this.#items.length + this.#running > this.#limits.size
  }

  add(item: Item): void {
    this.#last = performance.now()
    if (this.#items.length === 0) this.#first = this.#last
    this.#items.push(item)
    this.#schedule()
  }

  #schedule(): void {
    if (this.#running > 0 || this.#items.length === 0) return
    const { size, maxMs } = this.#limits
    const due = Math.min(this.#last + this.#quietMs, this.#first + maxMs) - performance.now()
    if (this.#items.length >= size || due <= 0) this.#start()
    else
      this.#timer ??= setTimeout(() => {
        this.#timer = undefined
        this.#schedule()
      }, due)
  }

  get #quietMs(): number {
    const { quietMs, maxMs } = this.#limits
    const isSteady = this.#size >= steadySize && this.#first - this.#started < maxMs
    return isSteady ? quietMs * steadyFactor : quietMs
  }

  #start(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const { size } = this.#limits
    const batch = this.#items.slice(0, size)
    this.#running = this.#size = batch.length
    this.#items = this.#items.slice(size)
    this.#started = performance.now()
    this.#first = this.#started
    void this.#run(batch).finally(() => {
      this.#running = 0
      this.#schedule()
    })
  }
}
