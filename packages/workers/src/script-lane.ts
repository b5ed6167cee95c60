import {
  type PhaseTwo,
  type RuleContext,
  type Transaction,
  type TransactionOutput,
  validateScripts,
} from '@ratatosk/ledger'
import type { DeliverySlot } from '@ratatosk/queue'
import { LRUCache } from 'lru-cache'
import type { Outcome } from './activity.js'
import type { ProvisionalEffects, ProvisionalOutput } from './batch-view.js'
import type { ExaminedDelivery } from './commit-batch.js'
import { type Candidate, digestOf, type ScriptOutcome } from './examine.js'
import type { Copy } from './orphans.js'
import { type SignatureChecks, signatureCost } from './signatures.js'
import { CheapestFirst } from './turns.js'
import type { ParkedDecision } from './validate-batch.js'

interface ScriptLaneOptions {
  readonly phaseTwo: PhaseTwo | undefined
  readonly signatures: SignatureChecks<ParkedDelivery>
  readonly concurrency: number
  readonly maxCount: number
  /** Maximum number of bytes of CBOR in the lane. */
  readonly maxBytes: number
}

export interface ParkedDelivery {
  readonly id: string
  candidate: Candidate
  /** Declared execution units and signatures, in steps. */
  readonly cost: bigint
  /** The highest cost of this transaction and of those that it waits for: decides which is deferred. */
  rank: bigint
  /** `gone`: the delivery has left the lane. */
  state: 'blocked' | 'queued' | 'running' | 'depending' | 'validating' | 'gone'
  /** Deliveries that are considered when this one leaves. */
  blocked: ParkedDelivery[]
  /** Resolves when the delivery is no longer provisional; true if it was deferred. */
  ended: Promise<boolean>
  end(deferred: boolean): void
  resolve(candidate: Candidate | undefined): void
}

/**
 * Where transactions wait for scripts and many signatures, outside the ledger's lock and the worker slots.
 * Transactions that spend the same output run one by one, the cheapest first, so one output occupies one
 * thread; unverified ones take no output. If the lane is full, the most expensive waiting transaction is
 * deferred to the queue, without using up an attempt.
 */
export class ScriptLane {
  readonly #options: ScriptLaneOptions
  readonly #runs: ScriptRuns<ParkedDelivery>
  readonly #parked = new Map<string, ParkedDelivery>()
  readonly #provisional = new Provisional<ParkedDelivery>()
  #bytes = 0

  constructor(options: ScriptLaneOptions) {
    this.#options = options
    this.#runs = new ScriptRuns(options.phaseTwo, options.concurrency)
  }

  get provisional(): ProvisionalEffects {
    return this.#provisional
  }

  get size(): number {
    return this.#parked.size
  }

  /** @param id of a delivery or a copy */
  has(id: string): boolean {
    return this.#parked.has(id)
  }

  recall(candidate: Candidate): Candidate {
    return this.#runs.recall(candidate)
  }

  /** Milliseconds to defer a transaction: about until the lane has emptied, with jitter. */
  deferMs(): number {
    return Math.min(Math.max(this.#runs.drainMs, 1000), 30_000) * (0.75 + Math.random() / 2)
  }

  /**
   * Parks a delivery, which must {@link leave} by its `id`, until it can be validated again. Returns the
   * candidate with the outcome of its signatures or scripts; `undefined` if it was deferred.
   */
  park(
    id: string,
    candidate: Candidate,
    decision: ParkedDecision,
    context: RuleContext,
  ): Promise<Candidate | undefined> {
    const blockers = this.#provisional.holdersOf(decision.blockedBy)
    const owners = this.#provisional.holdersOf(decision.behind)
    const cost = costOf(candidate)
    const rank = [...blockers, ...owners].reduce((highest, other) => max(highest, other.rank), cost)
    const parked = this.#parked.get(id) ?? this.#admit(id, candidate, cost, rank)
    if (parked === undefined) return Promise.resolve(undefined)
    parked.candidate = candidate
    parked.rank = rank
    const result = new Promise<Candidate | undefined>((resolve) => {
      parked.resolve = resolve
    })
    parked.ended = new Promise((end) => {
      parked.end = end
    })
    const [blocker] = blockers
    if (decision.blockedBy.length > 0) {
      // If the blockers have been decided meanwhile, the candidate is validated again at once.
      if (blocker === undefined) this.#validateAgain(parked, candidate)
      else {
        parked.state = 'blocked'
        blocker.blocked.push(parked)
        this.#provisional.add(parked, true)
      }
      return result
    }
    this.#provisional.add(parked, decision.verify)
    if (decision.verify) void this.#verify(parked)
    else void this.#proceed(parked, decision, owners, context)
    return result
  }

  /** Ends a delivery's stay, if it is parked. Transactions that were blocked by it are validated again. */
  leave(id: string): void {
    const parked = this.#parked.get(id)
    if (parked === undefined) return
    this.#parked.delete(id)
    this.#bytes -= parked.candidate.transaction.bytes.length
    const wasQueued = parked.state === 'queued'
    parked.state = 'gone'
    this.#provisional.remove(parked)
    if (wasQueued) {
      this.#runs.withdraw(parked)
      this.#options.signatures.withdraw(parked)
    }
    parked.end(false)
    this.#unblock(parked.blocked.filter(({ state }) => state === 'blocked'))
  }

  /** The owners of the outputs that it names do not matter yet: it is validated again in any case. */
  async #verify(parked: ParkedDelivery): Promise<void> {
    const { candidate } = parked
    parked.state = 'queued'
    const flaws = await this.#options.signatures.verify(candidate.transaction, parked, () => start(parked))
    if (flaws !== undefined) this.#validateAgain(parked, { ...candidate, flaws, verified: true })
  }

  async #proceed(
    parked: ParkedDelivery,
    { evaluate }: ParkedDecision,
    owners: readonly ParkedDelivery[],
    context: RuleContext,
  ): Promise<void> {
    const { candidate } = parked
    let { scripts } = candidate
    if (evaluate !== undefined) {
      parked.state = 'queued'
      scripts = await this.#runs.run(parked, candidate, evaluate, context, () => start(parked))
      if (scripts === undefined || isGone(parked)) return
    }
    parked.state = 'depending'
    const deferred = await Promise.all(owners.map(({ ended }) => ended))
    if (isGone(parked)) return
    if (deferred.includes(true)) this.#defer(parked)
    else this.#validateAgain(parked, scripts === undefined ? candidate : { ...candidate, scripts })
  }

  #admit(id: string, candidate: Candidate, cost: bigint, rank: bigint): ParkedDelivery | undefined {
    const { maxCount, maxBytes } = this.#options
    const { length } = candidate.transaction.bytes
    while (this.#parked.size >= maxCount || this.#bytes + length > maxBytes) {
      const dearest = this.#dearestWaiting()
      if (dearest === undefined || dearest.rank <= rank) return undefined
      this.#defer(dearest)
    }
    const parked: ParkedDelivery = {
      id,
      candidate,
      cost,
      rank,
      state: 'validating',
      blocked: [],
      ...noResolvers,
    }
    this.#parked.set(id, parked)
    this.#bytes += length
    return parked
  }

  #dearestWaiting(): ParkedDelivery | undefined {
    let dearest: ParkedDelivery | undefined
    for (const parked of this.#parked.values()) {
      const waits = parked.state === 'queued' || parked.state === 'blocked' || parked.state === 'depending'
      if (waits && (dearest === undefined || parked.rank > dearest.rank)) dearest = parked
    }
    return dearest
  }

  #defer(parked: ParkedDelivery): void {
    parked.end(true)
    const { resolve, id } = parked
    this.leave(id)
    resolve(undefined)
  }

  #validateAgain(parked: ParkedDelivery, candidate: Candidate): void {
    this.#provisional.remove(parked)
    parked.state = 'validating'
    parked.resolve(candidate)
    parked.end(false)
  }

  /** Validates only the cheapest of those again that wait for the same output; the others wait for it. */
  #unblock(blocked: readonly ParkedDelivery[]): void {
    const next = new Map<string, ParkedDelivery>()
    for (const parked of blocked.toSorted((one, other) => compare(one.cost, other.cost))) {
      const { candidate } = parked
      const blocker = candidate.spentKeys.map((key) => next.get(key)).find((found) => found !== undefined)
      if (blocker !== undefined) {
        blocker.blocked.push(parked)
        continue
      }
      for (const key of candidate.spentKeys) next.set(key, parked)
      this.#validateAgain(parked, candidate)
    }
  }
}

const noResolvers = { ended: Promise.resolve(false), end: () => {}, resolve: () => {} }

/** @returns false if the delivery has left the lane */
function start(parked: ParkedDelivery): boolean {
  if (isGone(parked)) return false
  parked.state = 'running'
  return true
}

function isGone({ state }: ParkedDelivery): boolean {
  return state === 'gone'
}

function max(one: bigint, other: bigint): bigint {
  return one > other ? one : other
}

function compare(one: bigint, other: bigint): number {
  return one < other ? -1 : Number(one > other)
}

/** The pending effects of the undecided transactions on the ledger, and the holder of each. */
class Provisional<Holder extends { readonly candidate: Candidate }> implements ProvisionalEffects {
  readonly outputs = new Map<string, ProvisionalOutput>()
  readonly spenders = new Map<string, Candidate>()
  readonly #holders = new Map<Candidate, Holder>()

  /** The holders of those candidates that are undecided. */
  holdersOf(candidates: readonly Candidate[]): readonly Holder[] {
    return candidates
      .map((candidate) => this.#holders.get(candidate))
      .filter((holder) => holder !== undefined)
  }

  /** @param waits for an output that an undecided transaction spends, or for its signatures to be verified */
  add(holder: Holder, waits: boolean): void {
    const { candidate } = holder
    this.#holders.set(candidate, holder)
    if (!waits) for (const key of candidate.spentKeys) this.spenders.set(key, candidate)
    for (const { key, output } of candidate.produced) {
      // Another delivery of the same transaction may be further.
      if (waits && this.outputs.has(key)) continue
      this.outputs.set(key, { output, owner: candidate, ownerWaits: waits })
    }
  }

  remove({ candidate }: Holder): void {
    this.#holders.delete(candidate)
    for (const key of candidate.spentKeys) {
      if (this.spenders.get(key) === candidate) this.spenders.delete(key)
    }
    for (const { key } of candidate.produced) {
      if (this.outputs.get(key)?.owner === candidate) this.outputs.delete(key)
    }
  }
}

const scriptsNotRun = {
  predicate: 'ScriptsNotJudged',
  message: 'The scripts of this transaction could not be run here',
  details: {},
}

/** About the ratio of the networks' limits of steps and memory, so that both weigh the same. */
const stepsPerMemoryUnit = 700n

const maxRemembered = 10_000
const maxRememberedBytes = 16 * 1024 * 1024
const rememberedMs = 10 * 60_000

/** Runs scripts, cheapest first, and remembers outcomes with what they are about. */
class ScriptRuns<Holder extends { readonly cost: bigint }> {
  readonly #phaseTwo: PhaseTwo | undefined
  readonly #concurrency: number
  readonly #threads: CheapestFirst<Holder>
  #averageRunMs = 10
  readonly #remembered = new LRUCache<string, ScriptOutcome>({
    max: maxRemembered,
    maxSize: maxRememberedBytes,
    sizeCalculation: ({ failures }) => 100 + JSON.stringify(failures).length,
    ttl: rememberedMs,
  })

  constructor(phaseTwo: PhaseTwo | undefined, concurrency: number) {
    this.#phaseTwo = phaseTwo
    this.#concurrency = concurrency
    this.#threads = new CheapestFirst(concurrency)
  }

  /** The candidate with its scripts' outcome of the last minutes, which holds for the outputs they saw. */
  recall(candidate: Candidate): Candidate {
    if (candidate.transaction.witnesses.redeemers.length === 0) return candidate
    const scripts = this.#remembered.get(candidate.key)
    return scripts === undefined ? candidate : { ...candidate, scripts }
  }

  /** Estimated time until all that wait have run, in milliseconds. */
  get drainMs(): number {
    return (this.#threads.waiting * this.#averageRunMs) / this.#concurrency
  }

  /** Runs a candidate's scripts on a free thread; undefined if withdrawn or not `wanted`. */
  async run(
    holder: Holder,
    { transaction, key }: Candidate,
    outputs: ReadonlyMap<string, TransactionOutput>,
    context: RuleContext,
    wanted: () => boolean,
  ): Promise<ScriptOutcome | undefined> {
    if (!(await this.#threads.acquire(holder))) return undefined
    if (!wanted()) {
      this.#threads.release()
      return undefined
    }
    const began = performance.now()
    try {
      const outcome = await runScripts(transaction, outputs, context, this.#phaseTwo)
      if (outcome.ran) this.#remembered.set(key, outcome)
      return outcome
    } finally {
      this.#averageRunMs += (performance.now() - began - this.#averageRunMs) / 8
      this.#threads.release()
    }
  }

  withdraw(holder: Holder): void {
    this.#threads.withdraw(holder)
  }
}

/** Runs the scripts of a transaction that passes phase 1. Never rejects. */
export async function runScripts(
  transaction: Transaction,
  outputs: ReadonlyMap<string, TransactionOutput>,
  context: RuleContext,
  phaseTwo: PhaseTwo | undefined,
): Promise<ScriptOutcome> {
  const saw = digestOf(outputs)
  try {
    return { failures: await validateScripts(transaction, outputs, context, phaseTwo), ran: true, saw }
  } catch {
    // There is no evaluator, it is closing, or it gave up within its limits.
    return { failures: [scriptsNotRun], ran: false, saw }
  }
}

/** Declared execution units of all redeemers, and signatures that are not verified yet, in steps. */
export function costOf({ transaction, verified }: Pick<Candidate, 'transaction' | 'verified'>): bigint {
  return transaction.witnesses.redeemers.reduce(
    (sum, { executionUnits: { steps, memory } }) => sum + steps + stepsPerMemoryUnit * memory,
    verified ? 0n : signatureCost(transaction),
  )
}

export interface WaitingDelivery extends ExaminedDelivery {
  readonly slot: DeliverySlot
  settle(outcome: Outcome): void
}

/** A copy that is validated again or for the first time. */
export interface Offer extends Copy {
  /** Its id in the script lane, if it has one. */
  readonly parkedAs?: string
}

interface ParkingOptions {
  readonly scripts: ScriptLane
  readonly signatures: Pick<SignatureChecks<ParkedDelivery>, 'remember'>
  /** Aborted when the worker closes. */
  readonly signal: AbortSignal
  validateAgain(item: WaitingDelivery | Offer): void
}

/** Moves deliveries into the script lane and back. */
export class Parking {
  readonly #options: ParkingOptions
  readonly #parked = new Set<WaitingDelivery>()

  constructor(options: ParkingOptions) {
    this.#options = options
  }

  /** Vacates the delivery's worker slot while it waits for scripts or for many signatures. */
  async park(
    entry: WaitingDelivery,
    candidate: Candidate,
    decision: ParkedDecision,
    context: RuleContext,
  ): Promise<void> {
    const { scripts, signatures, signal, validateAgain } = this.#options
    if (signal.aborted) {
      entry.settle({ kind: 'released' })
      return
    }
    this.#parked.add(entry)
    entry.slot.vacate()
    const examined = await scripts.park(entry.delivery.id, candidate, decision, context)
    if (!this.#parked.delete(entry)) return
    if (examined === undefined) {
      if (candidate.verified) signatures.remember(candidate.transaction, [])
      entry.settle({ kind: 'deferred', afterMs: scripts.deferMs() })
    } else validateAgain({ ...entry, examined })
  }

  /** Validates a copy again with its signatures. If it has to wait, its delivery does that. */
  async verifyCopy(
    { candidate, until }: Copy,
    decision: ParkedDecision,
    context: RuleContext,
  ): Promise<void> {
    const { scripts, signal, validateAgain } = this.#options
    const parkedAs = `copy of ${candidate.key}`
    if (signal.aborted || scripts.has(parkedAs)) return
    const verified = await scripts.park(parkedAs, candidate, decision, context)
    if (verified !== undefined) validateAgain({ candidate: verified, until, parkedAs })
  }

  close(): void {
    for (const entry of this.#parked) entry.settle({ kind: 'released' })
    this.#parked.clear()
  }
}
