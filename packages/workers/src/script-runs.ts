import {
  type PhaseTwo,
  type RuleContext,
  type Transaction,
  type TransactionOutput,
  validateScripts,
} from '@ratatosk/ledger'
import { LRUCache } from 'lru-cache'
import { CheapestFirst } from './cheapest-first.js'
import { type Candidate, digestOf, type ScriptOutcome } from './examine.js'
import { signatureCost } from './signatures.js'

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
export class ScriptRuns<Holder extends { readonly cost: bigint }> {
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
