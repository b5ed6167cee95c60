import {
  type Failures,
  isRetriable,
  type RuleContext,
  type Transaction,
  type TransactionOutput,
  validateProfileOfInputs,
  validateStateful,
} from '@ratatosk/ledger'
import { type BatchView, nameSpenders, spentInputs } from './batch-view.js'
import { type Candidate, digestOf, type ScriptOutcome } from './examine.js'

export type Decision =
  | { readonly kind: 'accepted' }
  /** It was in the ledger before. */
  | { readonly kind: 'known' }
  /** `failures` of both phases, A first. `spentBy`: hex id of an input's spender, if all else is right. */
  | { readonly kind: 'rejected'; readonly failures: Failures; readonly spentBy?: string }
  /** A later attempt may succeed. `missing`: the outputs that are unknown, by `outputReferenceKey`. */
  | { readonly kind: 'retriable'; readonly failures: Failures; readonly missing: readonly string[] }
  | ParkedDecision

/** It waits for signatures or scripts: its own, or those of other candidates. */
export interface ParkedDecision {
  readonly kind: 'parked'
  /** Whether its signatures are all that can be validated next. */
  readonly verify: boolean
  /** The outputs that its own scripts see; absent if it has none, or if they must not run yet. */
  readonly evaluate?: ReadonlyMap<string, TransactionOutput>
  /** The undecided candidates whose outputs it names. Its scripts may run while theirs do. */
  readonly behind: readonly Candidate[]
  /** Undecided candidates that spend the same output and must be decided first. */
  readonly blockedBy: readonly Candidate[]
}

/** The rules and the time. */
export interface BatchContext extends RuleContext {
  /** The last slot in which a transaction that may become valid is tried again. */
  readonly lastTry?: bigint
}

export interface ValidatedBatch {
  readonly decisions: ReadonlyMap<Candidate, Decision>
  /** In an order in which they can be applied to the ledger. */
  readonly accepted: readonly Candidate[]
}

/**
 * Phase B in order; a candidate that misses an output is retried when the batch produces it. `known`: hex ids
 * in the ledger before; `verifyFew` is `undefined` for too many signatures.
 */
export function validateBatch(
  candidates: readonly Candidate[],
  known: ReadonlySet<string>,
  view: BatchView,
  context: BatchContext,
  verifyFew: (transaction: Transaction) => Failures | undefined,
): ValidatedBatch {
  const decisions = new Map<Candidate, Decision>()
  const accepted: Candidate[] = []
  const done = new Set(known)
  /** Candidates by the first output that they miss. */
  const waiting = new Map<string, Candidate[]>()

  function validate(candidate: Candidate): Decision {
    if (done.has(candidate.key)) return { kind: 'known' }
    const { transaction } = candidate
    const broken = [
      ...validateStateful(transaction, view, context),
      ...validateProfileOfInputs(transaction, view),
    ]
    const spent = broken.length > 0 ? spentInputs(candidate, view) : noneSpent
    const failures = nameSpenders(broken, spent)
    if (candidate.flaws.length > 0) return { kind: 'rejected', failures: joined(candidate.flaws, failures) }
    if (failures.length > 0) {
      if (!isRetriable(failures, context.slot, context.lastTry)) return { kind: 'rejected', failures }
      const [spentBy] = spent.values()
      if (spentBy !== undefined) return { kind: 'rejected', failures, spentBy }
      const missing = candidate.named.flatMap(({ key }) => (view.get(key) === undefined ? [key] : []))
      return { kind: 'retriable', failures, missing }
    }
    const invalid = candidate.verified ? [] : verifyFew(transaction)
    if (invalid === undefined) {
      const blockedBy = view.rivalsOf(candidate)
      return { kind: 'parked', verify: blockedBy.length === 0, behind: view.ownersOf(candidate), blockedBy }
    }
    if (invalid.length > 0) return { kind: 'rejected', failures: invalid }
    const scripts = outcomeOf(candidate, view)
    if (scripts?.ran && scripts.failures.length > 0) return { kind: 'rejected', failures: scripts.failures }
    const behind = view.ownersOf(candidate)
    const blockedBy = view.blockersOf(candidate)
    if (blockedBy.length > 0) return { kind: 'parked', verify: false, behind, blockedBy }
    // A transaction that passes phase 1 has exactly one redeemer for each script that must run.
    if (transaction.witnesses.redeemers.length > 0 && scripts === undefined)
      return { kind: 'parked', verify: false, evaluate: resolve(candidate, view), behind, blockedBy }
    if (behind.length > 0) return { kind: 'parked', verify: false, behind, blockedBy }
    if (scripts !== undefined && scripts.failures.length > 0) {
      return { kind: 'retriable', failures: scripts.failures, missing: [] }
    }
    return { kind: 'accepted' }
  }

  for (const arrived of candidates) {
    const worklist = [arrived]
    for (const candidate of worklist) {
      const decision = validate(candidate)
      decisions.set(candidate, decision)
      if (decision.kind === 'retriable') {
        const [missing] = decision.missing
        if (missing !== undefined) append(waiting, missing, candidate)
        continue
      }
      if (decision.kind === 'accepted') {
        view.apply(candidate)
        accepted.push(candidate)
        done.add(candidate.key)
      } else if (decision.kind === 'parked') {
        view.applyProvisionally(candidate, decision.verify || decision.blockedBy.length > 0)
      } else {
        continue
      }
      for (const { key } of candidate.produced) {
        worklist.push(...(waiting.get(key) ?? []))
        waiting.delete(key)
      }
    }
  }
  return { decisions, accepted }
}

const noneSpent: ReadonlyMap<string, string> = new Map()

/** The failures of phases A and B. Both validate the fee; only B knows the share of reference scripts. */
function joined(flaws: Failures, failures: Failures): Failures {
  const first = flaws.map((flaw) => failures.find(({ predicate }) => predicate === flaw.predicate) ?? flaw)
  return [...first, ...failures.filter((failure) => !first.includes(failure))]
}

/** The outcome of a candidate's scripts, if they saw the outputs that it names now. */
function outcomeOf(candidate: Candidate, view: BatchView): ScriptOutcome | undefined {
  const { scripts } = candidate
  if (scripts === undefined || scripts.saw !== digestOf(resolve(candidate, view))) return undefined
  return scripts
}

function resolve({ named }: Candidate, view: BatchView): ReadonlyMap<string, TransactionOutput> {
  const resolved = new Map<string, TransactionOutput>()
  for (const { key } of named) {
    const output = view.get(key)
    if (output !== undefined) resolved.set(key, output)
  }
  return resolved
}

function append<Key, Value>(lists: Map<Key, Value[]>, key: Key, value: Value): void {
  const list = lists.get(key)
  if (list === undefined) lists.set(key, [value])
  else list.push(value)
}
