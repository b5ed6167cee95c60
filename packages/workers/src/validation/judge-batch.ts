import {
  isRetriable,
  judgeStateful,
  type RuleContext,
  type TransactionOutput,
  type Verdict,
} from '@ratatosk/ledger'
import type { BatchView } from './batch-view.js'
import type { Candidate } from './submission.js'

export type Judgement =
  | { readonly kind: 'accepted' }
  /** Accepted before. */
  | { readonly kind: 'known' }
  | { readonly kind: 'rejected'; readonly failures: Verdict }
  /** Time may change it. `missing`: by `outputReferenceKey`. */
  | { readonly kind: 'unready'; readonly failures: Verdict; readonly missing: readonly string[] }
  /** Waits for scripts: for its own, where `evaluate` has the outputs that they see, and for those of `behind`. */
  | {
      readonly kind: 'parked'
      readonly evaluate?: ReadonlyMap<string, TransactionOutput>
      readonly behind: readonly Candidate[]
    }

export interface JudgedBatch {
  readonly judgements: ReadonlyMap<Candidate, Judgement>
  /** In an order in which the ledger can take them. */
  readonly accepted: readonly Candidate[]
}

/**
 * Phase B: judges in the order of arrival. What misses an output is judged again as soon as the batch makes it, so that
 * within a batch any order of a chain does.
 *
 * @param known ids, in hex, of transactions that were accepted before
 */
export function judgeBatch(
  candidates: readonly Candidate[],
  known: ReadonlySet<string>,
  view: BatchView,
  context: RuleContext,
): JudgedBatch {
  const judgements = new Map<Candidate, Judgement>()
  const accepted: Candidate[] = []
  const done = new Set(known)
  const parked = new Map<string, Candidate>()
  /** By the first output that they miss. */
  const waiting = new Map<string, Candidate[]>()

  function consider(candidate: Candidate): Judgement {
    if (done.has(candidate.key)) return { kind: 'known' }
    const twin = parked.get(candidate.key)
    if (twin !== undefined) return { kind: 'parked', behind: [twin] }
    if (candidate.flaws.length > 0) return { kind: 'rejected', failures: candidate.flaws }
    const failures = judgeStateful(candidate.transaction, view, context)
    if (failures.length > 0) {
      if (!isRetriable(failures, context.slot)) return { kind: 'rejected', failures }
      const missing = candidate.named.flatMap(({ key }) => (view.get(key) === undefined ? [key] : []))
      return { kind: 'unready', failures, missing }
    }
    const behind = view.ownersOf(candidate)
    if (needsScripts(candidate)) return { kind: 'parked', evaluate: resolve(candidate, view), behind }
    if (behind.length > 0) return { kind: 'parked', behind }
    const scripts = candidate.scripts
    if (scripts !== undefined && scripts.failures.length > 0) {
      return scripts.judged
        ? { kind: 'rejected', failures: scripts.failures }
        : { kind: 'unready', failures: scripts.failures, missing: [] }
    }
    return { kind: 'accepted' }
  }

  for (const arrived of candidates) {
    const turn = [arrived]
    for (const candidate of turn) {
      const judgement = consider(candidate)
      judgements.set(candidate, judgement)
      if (judgement.kind === 'unready') {
        const [missing] = judgement.missing
        if (missing !== undefined) append(waiting, missing, candidate)
        continue
      }
      if (judgement.kind === 'accepted') {
        view.apply(candidate)
        accepted.push(candidate)
        done.add(candidate.key)
      } else if (judgement.kind === 'parked' && !parked.has(candidate.key)) {
        view.applyProvisionally(candidate)
        parked.set(candidate.key, candidate)
      } else {
        continue
      }
      for (const key of candidate.producedKeys) {
        turn.push(...(waiting.get(key) ?? []))
        waiting.delete(key)
      }
    }
  }
  return { judgements, accepted }
}

/** Whatever keeps phase 1 has exactly one redeemer for each script that has to run. */
function needsScripts({ transaction, scripts }: Candidate): boolean {
  return transaction.witnesses.redeemers.length > 0 && scripts === undefined
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
