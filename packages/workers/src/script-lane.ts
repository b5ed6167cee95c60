import {
  judgeScripts,
  type PhaseTwo,
  type RuleContext,
  type Transaction,
  type TransactionOutput,
} from '@ratatosk/ledger'
import { LRUCache } from 'lru-cache'
import type { ProvisionalEffects, ProvisionalOutput } from './batch-view.js'
import type { Candidate, ScriptVerdict } from './examine.js'
import type { ParkedJudgement } from './judge-batch.js'
import { type SignatureChecks, signatureCost } from './signatures.js'
import { Turns } from './turns.js'

export interface ScriptLaneOptions {
  readonly phaseTwo: PhaseTwo | undefined
  readonly signatures: SignatureChecks<Place>
  /** The most transactions whose scripts run at a time. */
  readonly concurrency: number
  /** The most transactions in the lane. */
  readonly maxCount: number
  /** The most bytes of CBOR in the lane. */
  readonly maxBytes: number
}

/** A parked delivery. */
export interface Place {
  readonly id: string
  candidate: Candidate
  /** Declared execution units and signatures, in steps. */
  readonly cost: bigint
  /** The highest cost of this transaction and of those that it waits for: decides who is deferred. */
  rank: bigint
  /** `gone`: the delivery has left the lane. */
  state: 'blocked' | 'queued' | 'running' | 'depending' | 'judging' | 'gone'
  /** Places that are considered when this one leaves. */
  blocked: Place[]
  /** Resolves when the place is no longer provisional; true if it was deferred. */
  ended: Promise<boolean>
  end(deferred: boolean): void
  resolve(candidate: Candidate | undefined): void
}

const notJudged = {
  predicate: 'ScriptsNotJudged',
  message: 'The scripts of this transaction could not be run here',
  details: {},
}

/** About the ratio of the networks' limits of steps and memory, so that both weigh the same. */
const stepsPerMemoryUnit = 700n

/** Remembered outcomes of scripts. */
const maxVerdicts = 10_000
const maxVerdictBytes = 16 * 1024 * 1024
const verdictTtlMs = 10 * 60_000

/**
 * Where transactions wait for scripts and for many signatures, outside the ledger's lock and without a place
 * in the queue worker's concurrency.
 *
 * What a script sees is fixed by the transaction and the outputs that it names, so its outcome holds whenever
 * the ledger has these. Scripts run cheapest first, by declared units. A transaction that names an output of
 * an undecided one waits behind it; its scripts may run meanwhile. A transaction that spends the same output
 * as an undecided one waits, and its scripts do not run, until that one is decided; of several that wait for
 * the same output the cheapest is next. So one output occupies one thread, however many transactions spend
 * it. A transaction whose signatures are not verified takes no output from another one.
 *
 * The lane is bounded. If it is full, the most expensive transaction that is not running is deferred: its
 * delivery returns to the queue for a while, without using up an attempt.
 */
export class ScriptLane {
  readonly #options: ScriptLaneOptions
  readonly #places = new Map<string, Place>()
  readonly #holders = new Map<Candidate, Place>()
  readonly #outputs = new Map<string, ProvisionalOutput>()
  readonly #spenders = new Map<string, Candidate>()
  readonly #threads: Turns<Place>
  #bytes = 0
  #averageRunMs = 10
  readonly #verdicts = new LRUCache<string, ScriptVerdict>({
    max: maxVerdicts,
    maxSize: maxVerdictBytes,
    sizeCalculation: ({ failures }) => 100 + JSON.stringify(failures).length,
    ttl: verdictTtlMs,
  })

  constructor(options: ScriptLaneOptions) {
    this.#options = options
    this.#threads = new Turns(options.concurrency)
  }

  /** What the undecided transactions will do to the ledger. */
  get provisional(): ProvisionalEffects {
    return { outputs: this.#outputs, spenders: this.#spenders }
  }

  get size(): number {
    return this.#places.size
  }

  /** @param id of a delivery or a copy */
  has(id: string): boolean {
    return this.#places.has(id)
  }

  /**
   * The candidate with the outcome of its scripts, if they ran in the last minutes: the id fixes everything
   * that they see.
   */
  recall(candidate: Candidate): Candidate {
    if (candidate.transaction.witnesses.redeemers.length === 0) return candidate
    const scripts = this.#verdicts.get(candidate.key)
    return scripts === undefined ? candidate : { ...candidate, scripts }
  }

  /**
   * How long a deferred transaction should stay away, in milliseconds: about until the lane has emptied, with
   * jitter.
   */
  deferMs(): number {
    const drainMs = (this.#threads.waiting * this.#averageRunMs) / this.#options.concurrency
    return Math.min(Math.max(drainMs, 1000), 30_000) * (0.75 + Math.random() / 2)
  }

  /**
   * Parks a delivery until it can be judged again.
   *
   * @param id of the delivery, which must {@link leave} when it ends
   * @returns the candidate to be judged again, with the outcome of its signatures or scripts; `undefined` if
   *   it was deferred
   */
  park(
    id: string,
    candidate: Candidate,
    judgement: ParkedJudgement,
    context: RuleContext,
  ): Promise<Candidate | undefined> {
    const blockers = this.#placesOf(judgement.blockedBy)
    const owners = this.#placesOf(judgement.behind)
    const cost = costOf(candidate)
    const rank = [...blockers, ...owners].reduce((highest, place) => max(highest, place.rank), cost)
    const place = this.#places.get(id) ?? this.#admit(id, candidate, cost, rank)
    if (place === undefined) return Promise.resolve(undefined)
    place.candidate = candidate
    place.rank = rank
    const result = new Promise<Candidate | undefined>((resolve) => {
      place.resolve = resolve
    })
    ;({ promise: place.ended, resolve: place.end } = withResolvers<boolean>())
    const [blocker] = blockers
    if (judgement.blockedBy.length > 0) {
      // If the blockers have been decided meanwhile, the candidate is judged again at once.
      if (blocker === undefined) this.#judgeAgain(place, candidate)
      else {
        place.state = 'blocked'
        blocker.blocked.push(place)
        this.#hold(place, true)
      }
      return result
    }
    this.#hold(place, judgement.verify)
    if (judgement.verify) void this.#verify(place)
    else void this.#proceed(place, judgement, owners, context)
    return result
  }

  /** Ends a delivery's stay, if it has a place. Transactions that were blocked by it are judged again. */
  leave(id: string): void {
    const place = this.#places.get(id)
    if (place === undefined) return
    this.#places.delete(id)
    this.#bytes -= place.candidate.transaction.bytes.length
    const wasQueued = place.state === 'queued'
    place.state = 'gone'
    this.#letGo(place)
    if (wasQueued) {
      this.#threads.withdraw(place)
      this.#options.signatures.withdraw(place)
    }
    place.end(false)
    this.#unblock(place.blocked.filter(({ state }) => state === 'blocked'))
  }

  /** The owners of the outputs that it names do not matter yet: the candidate is judged again in any case. */
  async #verify(place: Place): Promise<void> {
    const { candidate } = place
    place.state = 'queued'
    const flaws = await this.#options.signatures.verify(candidate.transaction, place, () => {
      if (isGone(place)) return false
      place.state = 'running'
      return true
    })
    if (flaws !== undefined) this.#judgeAgain(place, { ...candidate, flaws, verified: true })
  }

  async #proceed(
    place: Place,
    { evaluate }: ParkedJudgement,
    owners: readonly Place[],
    context: RuleContext,
  ): Promise<void> {
    const { candidate } = place
    let { scripts } = candidate
    if (evaluate !== undefined) {
      place.state = 'queued'
      if (!(await this.#threads.take(place))) return
      if (isGone(place)) {
        this.#threads.end()
        return
      }
      place.state = 'running'
      scripts = await this.#run(candidate, evaluate, context)
      if (isGone(place)) return
    }
    place.state = 'depending'
    const deferred = await Promise.all(owners.map(({ ended }) => ended))
    if (isGone(place)) return
    if (deferred.includes(true)) this.#defer(place)
    else this.#judgeAgain(place, scripts === undefined ? candidate : { ...candidate, scripts })
  }

  async #run(
    { transaction, key }: Candidate,
    outputs: NonNullable<ParkedJudgement['evaluate']>,
    context: RuleContext,
  ): Promise<ScriptVerdict> {
    const began = performance.now()
    try {
      const verdict = await runScripts(transaction, outputs, context, this.#options.phaseTwo)
      if (verdict.judged) this.#verdicts.set(key, verdict)
      return verdict
    } finally {
      this.#averageRunMs += (performance.now() - began - this.#averageRunMs) / 8
      this.#threads.end()
    }
  }

  #admit(id: string, candidate: Candidate, cost: bigint, rank: bigint): Place | undefined {
    const { maxCount, maxBytes } = this.#options
    const { length } = candidate.transaction.bytes
    while (this.#places.size >= maxCount || this.#bytes + length > maxBytes) {
      const dearest = this.#dearestWaiting()
      if (dearest === undefined || dearest.rank <= rank) return undefined
      this.#defer(dearest)
    }
    const place: Place = {
      id,
      candidate,
      cost,
      rank,
      state: 'judging',
      blocked: [],
      ...noResolvers,
    }
    this.#places.set(id, place)
    this.#bytes += length
    return place
  }

  #dearestWaiting(): Place | undefined {
    let dearest: Place | undefined
    for (const place of this.#places.values()) {
      const waits = place.state === 'queued' || place.state === 'blocked' || place.state === 'depending'
      if (waits && (dearest === undefined || place.rank > dearest.rank)) dearest = place
    }
    return dearest
  }

  #defer(place: Place): void {
    place.end(true)
    const { resolve, id } = place
    this.leave(id)
    resolve(undefined)
  }

  #judgeAgain(place: Place, candidate: Candidate): void {
    this.#letGo(place)
    place.state = 'judging'
    place.resolve(candidate)
    place.end(false)
  }

  /**
   * Of the places that wait for the same output only the cheapest is judged again; the others wait for it.
   */
  #unblock(places: readonly Place[]): void {
    const next = new Map<string, Place>()
    for (const place of places.toSorted((one, other) => compare(one.cost, other.cost))) {
      const { candidate } = place
      const blocker = candidate.spentKeys.map((key) => next.get(key)).find((found) => found !== undefined)
      if (blocker !== undefined) {
        blocker.blocked.push(place)
        continue
      }
      for (const key of candidate.spentKeys) next.set(key, place)
      this.#judgeAgain(place, candidate)
    }
  }

  #placesOf(candidates: readonly Candidate[]): readonly Place[] {
    return candidates.map((candidate) => this.#holders.get(candidate)).filter((place) => place !== undefined)
  }

  #hold(place: Place, waits: boolean): void {
    const { candidate } = place
    this.#holders.set(candidate, place)
    if (!waits) for (const key of candidate.spentKeys) this.#spenders.set(key, candidate)
    for (const { key, output } of candidate.produced) {
      // Another delivery of the same transaction may be further.
      if (waits && this.#outputs.has(key)) continue
      this.#outputs.set(key, { output, owner: candidate, ownerWaits: waits })
    }
  }

  #letGo({ candidate }: Place): void {
    this.#holders.delete(candidate)
    for (const key of candidate.spentKeys) {
      if (this.#spenders.get(key) === candidate) this.#spenders.delete(key)
    }
    for (const { key } of candidate.produced) {
      if (this.#outputs.get(key)?.owner === candidate) this.#outputs.delete(key)
    }
  }
}

/** Runs the scripts of a transaction that passes phase 1. Never rejects. */
export async function runScripts(
  transaction: Transaction,
  outputs: ReadonlyMap<string, TransactionOutput>,
  context: RuleContext,
  phaseTwo: PhaseTwo | undefined,
): Promise<ScriptVerdict> {
  try {
    return { failures: await judgeScripts(transaction, outputs, context, phaseTwo), judged: true }
  } catch {
    // There is no evaluator, it is closing, or it gave up within its limits.
    return { failures: [notJudged], judged: false }
  }
}

const noResolvers = { ended: Promise.resolve(false), end: () => {}, resolve: () => {} }

function isGone({ state }: Place): boolean {
  return state === 'gone'
}

/** Declared execution units of all redeemers, and signatures that are not verified yet, in steps. */
export function costOf({ transaction, verified }: Candidate): bigint {
  return transaction.witnesses.redeemers.reduce(
    (sum, { executionUnits: { steps, memory } }) => sum + steps + stepsPerMemoryUnit * memory,
    verified ? 0n : signatureCost(transaction),
  )
}

function max(one: bigint, other: bigint): bigint {
  return one > other ? one : other
}

function compare(one: bigint, other: bigint): number {
  return one < other ? -1 : Number(one > other)
}

function withResolvers<T>() {
  let resolve: (value: T) => void = () => {}
  const promise = new Promise<T>((settle) => {
    resolve = settle
  })
  return { promise, resolve }
}
