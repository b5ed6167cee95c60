import { judgeScripts, type PhaseTwo, type RuleContext, type TransactionOutput } from '@ratatosk/ledger'
import type { ProvisionalOutput } from './batch-view.js'
import type { Candidate, ScriptVerdict } from './submission.js'

const notJudged = {
  predicate: 'ScriptsNotJudged',
  message: 'The scripts of this transaction could not be run here',
  details: {},
}

/**
 * Runs scripts beside the batches, outside of the ledger's lock. What a script sees is fixed by the transaction and the
 * outputs that it names, so its result holds whenever the ledger has these; meanwhile transactions that name outputs
 * of the one that waits can be judged, and wait behind it.
 */
export class ScriptRuns {
  readonly #phaseTwo: PhaseTwo | undefined
  readonly #running = new Map<Candidate, Promise<ScriptVerdict | undefined>>()
  readonly #provisional = new Map<string, ProvisionalOutput>()

  constructor(phaseTwo: PhaseTwo | undefined) {
    this.#phaseTwo = phaseTwo
  }

  /** Outputs of the transactions whose scripts are running. */
  get provisional(): ReadonlyMap<string, ProvisionalOutput> {
    return this.#provisional
  }

  /**
   * Resolves when everything that the candidate waits for has ended, with the candidate as it is to be judged again.
   *
   * @param evaluate the outputs that its own scripts see; none where it only waits behind others
   */
  async settled(
    candidate: Candidate,
    evaluate: ReadonlyMap<string, TransactionOutput> | undefined,
    behind: readonly Candidate[],
    context: RuleContext,
  ): Promise<Candidate> {
    const own =
      evaluate === undefined ? Promise.resolve(candidate.scripts) : this.#run(candidate, evaluate, context)
    const others = behind.map((other) => this.#running.get(other))
    const settled = Promise.all([own, ...others]).then(([scripts]) => scripts)
    this.#running.set(candidate, settled)
    candidate.effects.produced.forEach(({ output }, index) => {
      this.#provisional.set(candidate.producedKeys[index] as string, { output, owner: candidate })
    })
    const scripts = await settled
    this.#running.delete(candidate)
    for (const key of candidate.producedKeys) {
      if (this.#provisional.get(key)?.owner === candidate) this.#provisional.delete(key)
    }
    return scripts === undefined ? candidate : { ...candidate, scripts }
  }

  async #run(
    { transaction }: Candidate,
    outputs: ReadonlyMap<string, TransactionOutput>,
    context: RuleContext,
  ): Promise<ScriptVerdict> {
    try {
      return { failures: await judgeScripts(transaction, outputs, context, this.#phaseTwo), judged: true }
    } catch {
      // No evaluator, one that is closing, or engines that gave up within their limits.
      return { failures: [notJudged], judged: false }
    }
  }
}
