import {
  type Failures,
  type PhaseTwo,
  type ProtocolParameters,
  type SlotConfig,
  validateSignatures,
} from '@ratatosk/ledger'
import type { EvaluationResult, RedeemerResult } from '@ratatosk/ledger/plutus'
import type { Evaluation, Evaluations, Turns } from '@ratatosk/ports'
import type { Store } from '@ratatosk/store'
import { LRUCache } from 'lru-cache'
import { BatchView, spendersOfMissing } from './batch-view.js'
import { contextAt, followBlockTime, slotsOfTries, triesOf } from './context.js'
import { type Candidate, examine, isCandidate, type Leaving } from './examine.js'
import { costOf, runScripts } from './script-lane.js'
import { openTurns } from './turns.js'
import { type BatchContext, type Decision, type ParkedDecision, validateBatch } from './validate-batch.js'

/** An evaluation with the failures and the redeemers of the ledger. */
export interface LedgerEvaluation extends Evaluation {
  readonly failures: Failures
  readonly redeemers: readonly RedeemerResult[]
}

export interface EvaluationsOptions {
  readonly store: { readonly ledger: Store['ledger']; readonly blocks: Pick<Store['blocks'], 'newest'> }
  readonly parameters: ProtocolParameters
  /** 0 for test networks, 1 for mainnet. */
  readonly networkId: number
  readonly slots: SlotConfig
  /** Runs Plutus scripts, one transaction at a time. Without it, scripts are not validated. */
  readonly evaluator?: PhaseTwo['evaluator']
  /** The outputs that leave layer 2, in a deployment with a bridge. */
  readonly leaving?: Leaving | undefined
  /** As of the workers that validate submissions. @defaultValue 5 */
  readonly maxAttempts?: number
  /** As of the workers that validate submissions. @defaultValue 250 */
  readonly backoffMs?: number
  /** POSIX milliseconds. @defaultValue `Date.now` */
  readonly now?: () => number
  /** When scripts and many signatures are validated. @defaultValue turns of its own */
  readonly turns?: Turns
}

const maxResults = 1000
const maxResultBytes = 4 * 1024 * 1024
const resultTtlMs = 10 * 60_000

/** An evaluation at work. */
interface Evaluating {
  readonly options: EvaluationsOptions
  readonly turns: Turns
  /** Of scripts, by the key of the transaction. */
  readonly results: LRUCache<string, EvaluationResult>
  readonly signal: AbortSignal | undefined
  readonly context: BatchContext
}

/** The ledger's state for a transaction: its outputs, and who spent the missing ones. */
interface ReadState {
  readonly outputs: ReadonlyMap<string, Uint8Array>
  readonly known: ReadonlySet<string>
  readonly spenders: ReadonlyMap<string, string>
}

/**
 * Opens evaluations over a store.
 *
 * They cost clients no fee, so they are bounded: without its inputs and everything else in order, a
 * transaction costs three queries. Expensive work, scripts and many signatures, takes turns, by declared
 * units. Results of scripts are remembered for ten minutes.
 *
 * @example
 * const evaluations = openEvaluations({ store, parameters, networkId: 0, slots })
 * const { verdict, failures } = await evaluations.evaluate(cbor)
 */
export function openEvaluations(options: EvaluationsOptions): Evaluations<LedgerEvaluation> {
  const { store, slots, turns = openTurns(), now = Date.now } = options
  const blockTime = followBlockTime(store.blocks, now)
  const slotsUntilLast = slotsOfTries(triesOf(options), slots.slotLength)
  const results = new LRUCache<string, EvaluationResult>({
    max: maxResults,
    maxSize: maxResultBytes,
    sizeCalculation: sizeOf,
    ttl: resultTtlMs,
  })

  return {
    async evaluate(cbor, signal) {
      await blockTime.refresh()
      const present = contextAt(options, blockTime.now())
      const context = { ...present, lastTry: present.slot + slotsUntilLast }
      return evaluate(cbor, { options, turns, results, signal, context })
    },
  }
}

async function evaluate(cbor: Uint8Array, evaluating: Evaluating): Promise<LedgerEvaluation> {
  const { options, context } = evaluating
  const { slot } = context
  const examined = examine(cbor, context, options.leaving)
  if (!isCandidate(examined))
    return { verdict: 'invalid', transactionId: undefined, failures: examined, redeemers: [], slot }
  const state = await read(options.store.ledger, examined)
  const { decision, result } = await validate(examined, state, evaluating)
  const redeemers = result?.redeemers ?? unreached(examined)
  return { ...verdictOf(decision), transactionId: examined.transaction.id, redeemers, slot }
}

/** The outputs first: a transaction that is accepted between the two reads is then known. */
async function read(ledger: Store['ledger'], candidate: Candidate): Promise<ReadState> {
  const found = await ledger.outputs(candidate.named.map(({ reference }) => reference))
  const outputs = new Map<string, Uint8Array>()
  for (const [index, { key }] of candidate.named.entries()) {
    const output = found[index]
    if (output !== undefined) outputs.set(key, output)
  }
  const [isKnown] = await ledger.known([candidate.transaction.id])
  const known = new Set(isKnown ? [candidate.key] : [])
  const has = (key: string) => outputs.has(key)
  return { outputs, known, spenders: await spendersOfMissing(ledger, [candidate], { has, known }) }
}

/** Decides, verifies or runs what the decision waits for, and decides again. */
async function validate(first: Candidate, { outputs, known, spenders }: ReadState, evaluating: Evaluating) {
  let candidate = first
  let result: EvaluationResult | undefined
  for (;;) {
    const view = new BatchView(outputs, undefined, spenders)
    // Phase A has verified few signatures already.
    const { decisions } = validateBatch([candidate], known, view, evaluating.context, () => undefined)
    const decision = decisions.get(candidate)
    if (decision?.kind !== 'parked') return { decision, result }
    if (decision.verify) {
      const { transaction } = candidate
      const flaws = await evaluating.turns.take(costOf(candidate), evaluating.signal, async () =>
        validateSignatures(transaction),
      )
      candidate = { ...candidate, flaws, verified: true }
    } else {
      const run = await scriptsOf(candidate, decision, evaluating)
      result = run.result
      candidate = { ...candidate, scripts: run.scripts }
    }
  }
}

async function scriptsOf(
  candidate: Candidate,
  { evaluate: resolved = new Map() }: ParkedDecision,
  { options: { evaluator, slots }, turns, results, signal, context }: Evaluating,
) {
  let result = results.get(candidate.key)
  const recording: PhaseTwo['evaluator'] = {
    async evaluate(...request) {
      result ??= await evaluator?.evaluate(...request)
      if (result === undefined) throw new Error('There is no evaluator')
      return result
    },
  }
  const run = () => runScripts(candidate.transaction, resolved, context, { evaluator: recording, slots })
  const scripts = await (result === undefined ? turns.take(costOf(candidate), signal, run) : run())
  if (scripts.ran && result !== undefined) results.set(candidate.key, result)
  return { scripts, result }
}

function verdictOf(decision: Decision | undefined): Pick<LedgerEvaluation, 'verdict' | 'failures'> {
  switch (decision?.kind) {
    case 'accepted':
      return { verdict: 'valid', failures: [] }
    case 'known':
      return { verdict: 'known', failures: [] }
    case 'retriable':
      return { verdict: 'retriable', failures: decision.failures }
    case 'rejected':
      return { verdict: 'invalid', failures: decision.failures }
    default:
      throw new Error('A candidate was not validated')
  }
}

function unreached({ transaction }: Candidate): readonly RedeemerResult[] {
  return transaction.witnesses.redeemers.map(({ purpose, index, executionUnits }) => ({
    purpose,
    index,
    declared: executionUnits,
    outcome: { kind: 'NotReached' },
  }))
}

function sizeOf({ redeemers }: EvaluationResult): number {
  return redeemers.reduce((sum, { outcome }) => {
    const logs = 'logs' in outcome ? outcome.logs : []
    return sum + 200 + logs.reduce((length, line) => length + 2 * line.length, 0)
  }, 200)
}
