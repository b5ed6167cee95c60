import {
  type Failures,
  type PhaseTwo,
  type ProtocolParameters,
  type RuleContext,
  type SlotConfig,
  type Transaction,
  timeToSlot,
} from '@ratatosk/ledger'
import type { Delivery, DeliverySlot, Disposition } from '@ratatosk/queue'
import { isStoreError, type Store } from '@ratatosk/store'
import type { Outcome, ValidationObserver } from './activity.js'
import { Batcher } from './batcher.js'
import { commitBatch, commitUnlockedBatch, type ExaminedDelivery, finalFailures } from './commit-batch.js'
import { deadLetterOf } from './dead-letters.js'
import { type Candidate, examine, isCandidate } from './examine.js'
import { type Copy, type OrphanExchange, Orphans, type SharedOrphan } from './orphans.js'
import { isUnavailable, storeRetry } from './retry-while-unavailable.js'
import { type ParkedDelivery, ScriptLane } from './script-lane.js'
import { mostVerifiedOnArrival, SignatureChecks } from './signatures.js'
import type { ParkedDecision, ValidatedBatch } from './validate-batch.js'

export interface ValidatorOptions {
  readonly store: Pick<Store, 'withLedger' | 'withUnlockedLedger' | 'rejections'>
  readonly parameters: ProtocolParameters
  readonly networkId: number
  readonly slots: SlotConfig
  readonly evaluator: PhaseTwo['evaluator'] | undefined
  /** The most transactions whose scripts run at a time. */
  readonly scriptConcurrency: number
  /** The most transactions that wait for scripts. */
  readonly maxWaitingForScripts: number
  /** POSIX milliseconds. */
  readonly now: () => number
  readonly batchSize: number
  readonly batchQuietMs: number
  readonly batchWaitMs: number
  readonly maxAttempts: number
  /** Shares transactions that miss an output with other validators; absent if there can be none. */
  readonly exchange?: OrphanExchange
  /** Milliseconds until the next delivery after this many attempts. */
  readonly backoff: (attempts: number) => number
  readonly observer: ValidationObserver
}

/** A delivery that waits for its outcome. */
interface Entry extends ExaminedDelivery {
  readonly slot: DeliverySlot
  settle(outcome: Outcome): void
}

/** A copy that is validated again or for the first time. */
interface Offer extends Copy {
  /** Its place in the lane, if it has one. */
  readonly place?: string
}

interface CommittedBatch {
  readonly batch: ValidatedBatch
  /** Further candidates that were validated with it. */
  readonly copies: readonly Offer[]
  readonly context: RuleContext
}

/** A decoded transaction takes about ten times its bytes. */
const orphanLimits = { count: 5_000, bytes: 16 * 1024 * 1024 }

/** Bytes of CBOR that wait for scripts. */
const maxLaneBytes = 16 * 1024 * 1024

/** Validates deliveries in two phases and in batches. An outcome is durable before it is returned. */
export class Validator {
  readonly #options: ValidatorOptions
  readonly #batcher: Batcher<Entry | Offer>
  readonly #orphans = new Orphans(orphanLimits)
  readonly #signatures = new SignatureChecks<ParkedDelivery>()
  readonly #scripts: ScriptLane
  readonly #parked = new Set<Entry>()
  readonly #closing = new AbortController()
  readonly #store

  constructor(options: ValidatorOptions) {
    const { evaluator, slots, observer, scriptConcurrency, maxWaitingForScripts } = options
    this.#options = options
    this.#batcher = new Batcher(
      { size: options.batchSize, quietMs: options.batchQuietMs, mostMs: options.batchWaitMs },
      (items) => this.#runBatch(items),
    )
    this.#scripts = new ScriptLane({
      phaseTwo: evaluator === undefined ? undefined : { evaluator, slots },
      signatures: this.#signatures,
      concurrency: scriptConcurrency,
      maxCount: maxWaitingForScripts,
      maxBytes: maxLaneBytes,
    })
    this.#store = storeRetry({
      signal: this.#closing.signal,
      onUnavailable: (error) => observer.storeUnavailable(error),
      onAvailable: () => observer.storeAvailable(),
    })
  }

  /**
   * Never rejects.
   *
   * @param slot vacated while the transaction waits for scripts or for many signatures
   */
  async validate(delivery: Delivery, slot: DeliverySlot): Promise<Disposition> {
    const { observer, backoff } = this.#options
    const outcome = await this.#outcome(delivery, slot)
    this.#scripts.leave(delivery.id)
    observer.settled(delivery, outcome)
    return dispositionOf(outcome, backoff(delivery.attempt))
  }

  async #outcome(delivery: Delivery, slot: DeliverySlot): Promise<Outcome> {
    let examined: Candidate | Failures
    try {
      examined = this.#examine(delivery.cbor, mostVerifiedOnArrival)
      if (isCandidate(examined)) examined = this.#scripts.recall(examined)
    } catch (error) {
      return this.#failed(delivery, undefined, error)
    }
    return new Promise((settle) => {
      this.#batcher.add({ delivery, examined, slot, settle })
    })
  }

  /** Whether transactions arrive faster than they are validated. */
  get busy(): boolean {
    return this.#batcher.busy
  }

  /** The number of transactions that wait for scripts or for many signatures. */
  get waitingForScripts(): number {
    return this.#scripts.size
  }

  /** Takes a copy of a transaction that waits for its next delivery: it is accepted if possible. */
  offer({ cbor, until }: SharedOrphan): void {
    if (!(until > this.#options.now())) return
    try {
      // The worker that has the delivery may have verified the signatures, and this one may never need to.
      const candidate = this.#examine(cbor, 0)
      if (isCandidate(candidate) && candidate.flaws.length === 0) this.#batcher.add({ candidate, until })
    } catch {
      // The validator that gets the delivery reports the defect.
    }
  }

  /** Finishes the batch that is running. Deliveries that wait for scripts or for the store are released. */
  close(): void {
    this.#closing.abort()
    for (const entry of this.#parked) entry.settle({ kind: 'released' })
    this.#parked.clear()
  }

  /** Never rejects. A batch that fails as a whole is halved until the item that makes it fail is alone. */
  async #runBatch(items: readonly (Entry | Offer)[]): Promise<void> {
    const began = performance.now()
    try {
      await this.#validateAndCommit(items.filter(isEntry), items.filter(isOffer))
      this.#options.observer.batch(performance.now() - began)
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
        item.settle(await this.#failed(delivery, isCandidate(examined) ? examined : undefined, error))
      }
    } finally {
      for (const { place } of items.filter(isOffer)) if (place !== undefined) this.#scripts.leave(place)
    }
  }

  async #validateAndCommit(entries: readonly Entry[], offers: readonly Offer[]): Promise<void> {
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
      if (decision?.kind === 'parked' && decision.verify) void this.#verifyCopy(copy, decision, context)
    }
    for (const entry of entries) this.#conclude(entry, batch, context)
  }

  /** @param candidates of the entries and the offers */
  async #commit(
    entries: readonly Entry[],
    offers: readonly Offer[],
    candidates: readonly Candidate[],
  ): Promise<CommittedBatch> {
    const { store, maxAttempts, now, batchSize } = this.#options
    const present = () => {
      const context = this.#context()
      const current = offers.filter(({ until }) => until > now())
      const copies: readonly Offer[] = [...current, ...this.#orphans.following(candidates, now())]
      const conditions = {
        context,
        provisional: this.#scripts.provisional,
        maxAttempts,
        verifyFew: (transaction: Transaction) => this.#signatures.verifyFew(transaction),
      }
      return { context, copies, followers: copies.map(({ candidate }) => candidate), conditions }
    }
    // If a batch is full, more are waiting, perhaps in other processes too: the lock is kept short.
    if (candidates.length >= batchSize) {
      const committed = await store
        .withUnlockedLedger(async (unlocked) => {
          const { context, copies, followers, conditions } = present()
          const isCurrent = () =>
            this.#context().slot === context.slot && copies.every(({ until }) => until > now())
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
  async #rejectUndecodable(entries: readonly Entry[]): Promise<void> {
    const rejected = entries.flatMap(({ delivery, examined, settle }) =>
      isCandidate(examined) ? [] : [{ delivery, failures: examined, settle }],
    )
    const deadLetters = rejected.map(({ delivery, failures }) => deadLetterOf(delivery, undefined, failures))
    await this.#store.retryWhileUnavailable(() => this.#options.store.rejections.add(deadLetters))
    for (const { failures, settle } of rejected) settle({ kind: 'rejected', failures })
  }

  #conclude(entry: Entry, batch: ValidatedBatch, context: RuleContext): void {
    const { delivery, examined } = entry
    if (!isCandidate(examined)) {
      entry.settle({ kind: 'rejected', failures: examined })
      return
    }
    const decision = batch.decisions.get(examined)
    if (decision === undefined) throw new Error('A candidate was not validated')
    if (decision.kind === 'parked') {
      void this.#park(entry, examined, decision, context)
      return
    }
    const failures = finalFailures(delivery, decision, this.#options.maxAttempts)
    if (failures === undefined && decision.kind === 'retriable') {
      // Phase A passed, so what was verified is valid; it need not be verified again at the next attempt.
      if (examined.verified) this.#signatures.remember(examined.transaction, [])
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

  /**
   * Keeps a copy until the earliest moment at which another delivery could make the transaction a dead
   * letter.
   */
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

  /**
   * A copy whose inputs have become known is validated again with its signatures. If it has to wait, its
   * delivery does that.
   */
  async #verifyCopy(
    { candidate, until }: Copy,
    decision: ParkedDecision,
    context: RuleContext,
  ): Promise<void> {
    const place = `copy of ${candidate.key}`
    if (this.#closing.signal.aborted || this.#scripts.has(place)) return
    const verified = await this.#scripts.park(place, candidate, decision, context)
    if (verified !== undefined) this.#batcher.add({ candidate: verified, until, place })
  }

  async #park(
    entry: Entry,
    candidate: Candidate,
    decision: ParkedDecision,
    context: RuleContext,
  ): Promise<void> {
    if (this.#closing.signal.aborted) {
      entry.settle({ kind: 'released' })
      return
    }
    this.#parked.add(entry)
    entry.slot.vacate()
    const examined = await this.#scripts.park(entry.delivery.id, candidate, decision, context)
    if (!this.#parked.delete(entry)) return
    if (examined === undefined) {
      if (candidate.verified) this.#signatures.remember(candidate.transaction, [])
      entry.settle({ kind: 'deferred', afterMs: this.#scripts.deferMs() })
    } else this.#batcher.add({ ...entry, examined })
  }

  /**
   * A transaction that the node fails to validate is delivered again, and becomes a dead letter after the last
   * attempt.
   */
  async #failed(delivery: Delivery, candidate: Candidate | undefined, error: unknown): Promise<Outcome> {
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

  #examine(cbor: Uint8Array, most: number): Candidate | Failures {
    return examine(cbor, this.#context(), {
      most,
      recall: (transaction) => this.#signatures.recall(transaction),
    })
  }

  #context(): RuleContext {
    const { parameters, networkId, slots, now } = this.#options
    return { parameters, networkId, slot: timeToSlot(slots, BigInt(now())) }
  }
}

const validationFailed: Failures = [
  { predicate: 'ValidationFailed', message: 'The node failed to validate this transaction', details: {} },
]

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

function undefinedIfConflict(error: unknown): undefined {
  if (!isStoreError(error) || error.code !== 'STORE_CONFLICT') throw error
}

function isEntry(item: Entry | Offer): item is Entry {
  return 'settle' in item
}

function isOffer(item: Entry | Offer): item is Offer {
  return !isEntry(item)
}
