import {
  type PhaseTwo,
  type ProtocolParameters,
  type RuleContext,
  type SlotConfig,
  timeToSlot,
  type Verdict,
} from '@ratatosk/ledger'
import type { Store } from '@ratatosk/store'
import { rejectionOf } from '../dead-letters/rejection.js'
import { Batcher } from './batcher.js'
import { commitBatch, type Delivery, finalFailures } from './commit-batch.js'
import type { JudgedBatch } from './judge-batch.js'
import type { ValidationObserver } from './observer.js'
import { Orphans } from './orphans.js'
import { ScriptRuns } from './script-runs.js'
import type { OrphanExchange, SharedOrphan } from './shared-orphans.js'
import { StoreAwayError, storePatience } from './store-patience.js'
import { type Candidate, examine, isCandidate, type Submission } from './submission.js'

export interface ValidatorOptions {
  readonly store: Pick<Store, 'withLedger' | 'rejections'>
  readonly parameters: ProtocolParameters
  readonly networkId: number
  readonly slots: SlotConfig
  readonly evaluator: PhaseTwo['evaluator'] | undefined
  /** POSIX milliseconds. */
  readonly now: () => number
  readonly batchSize: number
  readonly batchWaitMs: number
  readonly maxAttempts: number
  /** Tells other validators, where there may be any, of transactions that miss an output. */
  readonly exchange?: OrphanExchange
  /** Milliseconds until the next delivery, after so many attempts. */
  readonly backoff: (attempts: number) => number
  readonly observer: ValidationObserver
}

export type Outcome =
  /** Applied to the ledger. */
  | { readonly kind: 'accepted' }
  /** Was accepted before. */
  | { readonly kind: 'known' }
  /** Is in the dead letters. The transaction's id in hex, where there is one. */
  | { readonly kind: 'rejected'; readonly failures: Verdict; readonly transaction?: string }
  /** Must be delivered again. */
  | { readonly kind: 'postponed'; readonly failures: Verdict }
  /** Nothing was decided, since the validator closes. */
  | { readonly kind: 'released' }

interface Entry extends Delivery {
  settle(outcome: Outcome): void
}

/** A transaction whose deliveries go to another validator. */
interface Offer {
  readonly offered: Candidate
  readonly until: number
}

/** A decoded transaction takes some ten times its bytes. */
const orphanLimits = { count: 5_000, bytes: 16 * 1024 * 1024 }

/** Judges submissions in two phases and in batches. What an outcome says is durable before it is given. */
export class Validator {
  readonly #options: ValidatorOptions
  readonly #batcher: Batcher<Entry | Offer>
  readonly #orphans = new Orphans(orphanLimits)
  readonly #scripts: ScriptRuns
  readonly #parked = new Set<Entry>()
  readonly #closing = new AbortController()
  readonly #patience

  constructor(options: ValidatorOptions) {
    const { batchSize, batchWaitMs, evaluator, slots, observer } = options
    this.#options = options
    this.#batcher = new Batcher(batchSize, batchWaitMs, (items) => this.#run(items))
    this.#scripts = new ScriptRuns(evaluator === undefined ? undefined : { evaluator, slots })
    this.#patience = storePatience({
      signal: this.#closing.signal,
      onAway: (error) => observer.storeAway(error),
      onBack: () => observer.storeBack(),
    })
  }

  async validate(submission: Submission): Promise<Outcome> {
    const outcome = await this.#outcome(submission)
    this.#options.observer.settled(submission, outcome)
    return outcome
  }

  async #outcome(submission: Submission): Promise<Outcome> {
    let examined: Candidate | Verdict
    try {
      examined = examine(submission, this.#context())
    } catch (error) {
      return this.#failed(submission, undefined, error)
    }
    return new Promise((settle) => {
      this.#batcher.add({ submission, examined, settle })
    })
  }

  /** A copy of a transaction that waits for its next delivery somewhere: it is accepted if it can be. */
  offer({ cbor, until }: SharedOrphan): void {
    if (!(until > this.#options.now())) return
    try {
      const offered = examine({ id: '', cbor, attempt: 1, submittedAt: new Date(0) }, this.#context())
      if (isCandidate(offered) && offered.flaws.length === 0) this.#batcher.add({ offered, until })
    } catch {
      // Whoever delivers it tells of the defect.
    }
  }

  /** Batches under way end as usual; whatever waits for scripts or for the store is released. */
  close(): void {
    this.#closing.abort()
    for (const entry of this.#parked) entry.settle({ kind: 'released' })
    this.#parked.clear()
  }

  /** Never rejects. A batch that fails as a whole is halved until what makes it fail stands alone. */
  async #run(items: readonly (Entry | Offer)[]): Promise<void> {
    const began = performance.now()
    try {
      await this.#runWhole(items.filter(isEntry), items.filter(isOffer))
      this.#options.observer.batch(performance.now() - began)
    } catch (error) {
      if (error instanceof StoreAwayError) {
        for (const entry of items.filter(isEntry)) entry.settle({ kind: 'released' })
        return
      }
      const [item] = items
      if (item === undefined || items.length > 1) {
        const half = Math.ceil(items.length / 2)
        await this.#run(items.slice(0, half))
        await this.#run(items.slice(half))
      } else if (isEntry(item)) {
        const { submission, examined } = item
        item.settle(await this.#failed(submission, isCandidate(examined) ? examined : undefined, error))
      }
    }
  }

  async #runWhole(entries: readonly Entry[], offers: readonly Offer[]): Promise<void> {
    const { store, maxAttempts, now } = this.#options
    const candidates = [
      ...entries.map(({ examined }) => examined).filter(isCandidate),
      ...offers.map(({ offered }) => offered),
    ]
    if (candidates.length === 0) {
      const rejections = entries.map((entry) => rejectionOf(entry.submission, undefined, verdictOf(entry)))
      await this.#patience.insist(() => store.rejections.add(rejections))
      for (const entry of entries) entry.settle({ kind: 'rejected', failures: verdictOf(entry) })
      return
    }
    const [batch, context] = await this.#patience.insist(() =>
      store.withLedger(async (ledger) => {
        const context = this.#context()
        const current = offers.filter(({ until }) => until > now()).map(({ offered }) => offered)
        const followers = [...current, ...this.#orphans.following(candidates, now())]
        const conditions = { context, provisional: this.#scripts.provisional, maxAttempts }
        return [await commitBatch(ledger, entries, followers, conditions), context] as const
      }),
    )
    for (const [{ key }, { kind }] of batch.judgements) {
      if (kind === 'accepted' || kind === 'known') this.#orphans.drop(key)
    }
    for (const { offered, until } of offers) {
      const judgement = batch.judgements.get(offered)
      if (judgement?.kind === 'unready') this.#orphans.keep(offered, judgement.missing, until)
    }
    for (const entry of entries) this.#conclude(entry, batch, context)
  }

  #conclude(entry: Entry, batch: JudgedBatch, context: RuleContext): void {
    const { submission, examined } = entry
    if (!isCandidate(examined)) {
      entry.settle({ kind: 'rejected', failures: examined })
      return
    }
    const judgement = batch.judgements.get(examined)
    if (judgement === undefined) throw new Error('A candidate was not judged')
    if (judgement.kind === 'parked') {
      void this.#park(entry, examined, judgement.evaluate, judgement.behind, context)
      return
    }
    const failures = finalFailures(submission, judgement, this.#options.maxAttempts)
    if (failures === undefined && judgement.kind === 'unready') {
      this.#remember(examined, judgement.missing)
      entry.settle({ kind: 'postponed', failures: judgement.failures })
      return
    }
    if (failures === undefined) {
      entry.settle({ kind: judgement.kind === 'known' ? 'known' : 'accepted' })
      return
    }
    this.#orphans.drop(examined.key)
    entry.settle({ kind: 'rejected', failures, transaction: examined.key })
  }

  /** Until the earliest moment at which another's delivery could make it a dead letter: no copy outlives that. */
  #remember(candidate: Candidate, missing: readonly string[]): void {
    if (missing.length === 0) return
    const { maxAttempts, backoff, now, exchange } = this.#options
    const { attempt, cbor } = candidate.submission
    if (exchange === undefined) {
      this.#orphans.keep(candidate, missing, Number.POSITIVE_INFINITY)
      return
    }
    let until = now()
    for (let past = attempt; past < maxAttempts; past++) until += backoff(past)
    this.#orphans.keep(candidate, missing, until)
    exchange.share({ cbor, until })
  }

  async #park(entry: Entry, candidate: Candidate, ...wait: ScriptWait): Promise<void> {
    if (this.#closing.signal.aborted) {
      entry.settle({ kind: 'released' })
      return
    }
    this.#parked.add(entry)
    const examined = await this.#scripts.settled(candidate, ...wait)
    if (this.#parked.delete(entry)) this.#batcher.add({ ...entry, examined })
  }

  /** What the node itself could not judge is delivered again, and a dead letter in the end. */
  async #failed(submission: Submission, candidate: Candidate | undefined, error: unknown): Promise<Outcome> {
    const { store, maxAttempts, observer } = this.#options
    observer.failed(submission, error)
    if (submission.attempt < maxAttempts) return { kind: 'postponed', failures: notJudged }
    try {
      const rejection = rejectionOf(submission, candidate?.transaction.id, notJudged)
      await this.#patience.insist(() => store.rejections.add([rejection]))
      return { kind: 'rejected', failures: notJudged, ...(candidate && { transaction: candidate.key }) }
    } catch (reason) {
      return reason instanceof StoreAwayError
        ? { kind: 'released' }
        : { kind: 'postponed', failures: notJudged }
    }
  }

  #context(): RuleContext {
    const { parameters, networkId, slots, now } = this.#options
    return { parameters, networkId, slot: timeToSlot(slots, BigInt(now())) }
  }
}

type ScriptWait = Parameters<ScriptRuns['settled']> extends [Candidate, ...infer Rest] ? Rest : never

const notJudged: Verdict = [
  { predicate: 'ValidationFailed', message: 'The node failed to judge this transaction', details: {} },
]

/** Of a delivery that is no transaction. */
function verdictOf({ examined }: Delivery): Verdict {
  return isCandidate(examined) ? [] : examined
}

function isEntry(item: Entry | Offer): item is Entry {
  return 'settle' in item
}

function isOffer(item: Entry | Offer): item is Offer {
  return 'offered' in item
}
