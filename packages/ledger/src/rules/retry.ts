import type { PredicateFailure, Verdict } from './verdict.js'

/**
 * Whether time alone can change a verdict: inputs that are not known yet, or a validity interval that has not begun
 * and has not passed. A transaction that also breaks any other rule can never become valid.
 *
 * @param slot the slot of now, which may be later than that of the verdict
 * @example
 * const verdict = judgeStateful(transaction, utxos, context)
 * if (verdict.length > 0) isRetriable(verdict, context.slot) ? await retry() : await reject(verdict)
 */
export function isRetriable(verdict: Verdict, slot: bigint): boolean {
  return verdict.length > 0 && verdict.every((failure) => mayPass(failure, slot))
}

function mayPass({ predicate, details }: PredicateFailure, slot: bigint): boolean {
  if (predicate === 'BadInputsUTxO' || predicate === 'OutsideForecast') return true
  if (predicate !== 'OutsideValidityIntervalUTxO') return false
  const { invalidBefore, invalidHereafter } = details
  if (typeof invalidHereafter !== 'string') return true
  const end = BigInt(invalidHereafter)
  const empty = typeof invalidBefore === 'string' && BigInt(invalidBefore) >= end
  return slot < end && !empty
}
