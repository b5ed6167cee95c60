import {
  type PhaseTwo,
  type RuleContext,
  type Transaction,
  type TransactionOutput,
  validateScripts,
} from '@ratatosk/ledger'
import { LRUCache } from 'lru-cache'
import type { ProvisionalEffects, ProvisionalOutput } from './batch-view.js'
import type { Candidate, ScriptOutcome } from './examine.js'
import { type SignatureChecks, signatureCost } from './signatures.js'
import { Turns } from './turns.js'
import type { ParkedDecision } from './validate-batch.js'

export interface ScriptLaneOptions {
  readonly phaseTwo: PhaseTwo | undefined
  readonly signatures: SignatureChecks<ParkedDelivery>
  /** The most transactions whose scripts run at a time. */
  readonly concurrency: number
  /** The most transactions in the lane. */
  readonly maxCount: number
  /** The most bytes of CBOR in the lane. */
  readonly maxBytes: number
}

/** A parked delivery. */
export interface ParkedDelivery {
  readonly id: string
  candidate: Candidate
  /** Declared execution units and signatures, in steps. */
  readonly cost: bigint
  /** The highest cost of this transaction and of those that it waits for: decides who is deferred. */
  rank: bigint
  /** `gone`: the delivery has left the lane. */
  state: 'blocked' | 'queued' | 'running' | 'depending' | 'validating' | 'gone'
  /** Places that are considered when this one leaves. */
  blocked: ParkedDelivery[]
  /** Resolves when the place is no longer provisional; true if it was deferred. */
  ended: Promise<boolean>
  end(deferred: boolean): void
  resolve(candidate: Candidate | undefined): void
}

const scriptsNotRun = {
  predicate: 'ScriptsNotJudged',
  message: 'The scripts of this transaction could not be run here',
  details: {},
}

/** About the ratio of the networks' limits of steps and memory, so that both weigh the same. */
const stepsPerMemoryUnit = 700n

/** Remembered outcomes of scripts. */
const maxRemembered = 10_000
const maxRememberedBytes = 16 * 1024 * 1024
const rememberedMs = 10 * 60_000

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
  readonly #places = new Map<string, ParkedDelivery>()
  readonly #holders = new Map<Candidate, ParkedDelivery>()
  readonly #outputs = new Map<string, ProvisionalOutput>()
  readonly #spenders = new Map<string, Candidate>()
  readonly #threads: Turns<ParkedDelivery>
  #bytes = 0
  #averageRunMs = 10
  readonly #remembered = new LRUCache<string, ScriptOutcome>({
    max: maxRemembered,
    maxSize: maxRememberedBytes,
    sizeCalculation: ({ failures }) => 100 + JSON.stringify(failures).length,
    ttl: rememberedMs,
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
    const scripts = this.#remembered.get(candidate.key)
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
   * Parks a delivery until it can be validated again.
   *
   * @param id of the delivery, which must {@link leave} when it ends
   * @returns the candidate to be validated again, with the outcome of its signatures or scripts; `undefined` if
   *   it was deferred
   */
  park(
    id: string,
    candidate: Candidate,
    decision: ParkedDecision,
    context: RuleContext,
  ): Promise<Candidate | undefined> {
    const blockers = this.#placesOf(decision.blockedBy)
    const owners = this.#placesOf(decision.behind)
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
    if (decision.blockedBy.length > 0) {
      // If the blockers have been decided meanwhile, the candidate is validated again at once.
      if (blocker === undefined) this.#validateAgain(place, candidate)
      else {
        place.state = 'blocked'
        blocker.blocked.push(place)
        this.#hold(place, true)
      }
      return result
    }
    this.#hold(place, decision.verify)
    if (decision.verify) void this.#verify(place)
    else void this.#proceed(place, decision, owners, context)
    return result
  }

  /** Ends a delivery's stay, if it has a place. Transactions that were blocked by it are validated again. */
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

  /** The owners of the outputs that it names do not matter yet: the candidate is validated again in any case. */
  async #verify(place: ParkedDelivery): Promise<void> {
    const { candidate } = place
    place.state = 'queued'
    const flaws = await this.#options.signatures.verify(candidate.transaction, place, () => {
      if (isGone(place)) return false
      place.state = 'running'
      return true
    })
    if (flaws !== undefined) this.#validateAgain(place, { ...candidate, flaws, verified: true })
  }

  async #proceed(
    place: ParkedDelivery,
    { evaluate }: ParkedDecision,
    owners: readonly ParkedDelivery[],
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
    else this.#validateAgain(place, scripts === undefined ? candidate : { ...candidate, scripts })
  }

  async #run(
    { transaction, key }: Candidate,
    outputs: NonNullable<ParkedDecision['evaluate']>,
    context: RuleContext,
  ): Promise<ScriptOutcome> {
    const began = performance.now()
    try {
      const outcome = await runScripts(transaction, outputs, context, this.#options.phaseTwo)
      if (outcome.ran) this.#remembered.set(key, outcome)
      return outcome
    } finally {
      this.#averageRunMs += (performance.now() - began - this.#averageRunMs) / 8
      this.#threads.end()
    }
  }

  #admit(id: string, candidate: Candidate, cost: bigint, rank: bigint): ParkedDelivery | undefined {
    const { maxCount, maxBytes } = this.#options
    const { length } = candidate.transaction.bytes
    while (this.#places.size >= maxCount || this.#bytes + length > maxBytes) {
      const dearest = this.#dearestWaiting()
      if (dearest === undefined || dearest.rank <= rank) return undefined
      this.#defer(dearest)
    }
    const place: ParkedDelivery = {
      id,
      candidate,
      cost,
      rank,
      state: 'validating',
      blocked: [],
      ...noResolvers,
    }
    this.#places.set(id, place)
    this.#bytes += length
    return place
  }

  #dearestWaiting(): ParkedDelivery | undefined {
    let dearest: ParkedDelivery | undefined
    for (const place of this.#places.values()) {
      const waits = place.state === 'queued' || place.state === 'blocked' || place.state === 'depending'
      if (waits && (dearest === undefined || place.rank > dearest.rank)) dearest = place
    }
    return dearest
  }

  #defer(place: ParkedDelivery): void {
    place.end(true)
    const { resolve, id } = place
    this.leave(id)
    resolve(undefined)
  }

  #validateAgain(place: ParkedDelivery, candidate: Candidate): void {
    this.#letGo(place)
    place.state = 'validating'
    place.resolve(candidate)
    place.end(false)
  }

  /**
   * Of the places that wait for the same output only the cheapest is validated again; the others wait for it.
   */
  #unblock(places: readonly ParkedDelivery[]): void {
    const next = new Map<string, ParkedDelivery>()
    for (const place of places.toSorted((one, other) => compare(one.cost, other.cost))) {
      const { candidate } = place
      const blocker = candidate.spentKeys.map((key) => next.get(key)).find((found) => found !== undefined)
      if (blocker !== undefined) {
        blocker.blocked.push(place)
        continue
      }
      for (const key of candidate.spentKeys) next.set(key, place)
      this.#validateAgain(place, candidate)
    }
  }

  #placesOf(candidates: readonly Candidate[]): readonly ParkedDelivery[] {
    return candidates.map((candidate) => this.#holders.get(candidate)).filter((place) => place !== undefined)
  }

  #hold(place: ParkedDelivery, waits: boolean): void {
    const { candidate } = place
    this.#holders.set(candidate, place)
    if (!waits) for (const key of candidate.spentKeys) this.#spenders.set(key, candidate)
    for (const { key, output } of candidate.produced) {
      // Another delivery of the same transaction may be further.
      if (waits && this.#outputs.has(key)) continue
      this.#outputs.set(key, { output, owner: candidate, ownerWaits: waits })
    }
  }

  #letGo({ candidate }: ParkedDelivery): void {
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
): Promise<ScriptOutcome> {
  try {
    return { failures: await validateScripts(transaction, outputs, context, phaseTwo), ran: true }
  } catch {
    // There is no evaluator, it is closing, or it gave up within its limits.
    return { failures: [scriptsNotRun], ran: false }
  }
}

const noResolvers = { ended: Promise.resolve(false), end: () => {}, resolve: () => {} }

function isGone({ state }: ParkedDelivery): boolean {
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
