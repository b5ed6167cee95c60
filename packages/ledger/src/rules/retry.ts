import type { Failures, PredicateFailure } from './predicates.js'

/**
 * Whether the transaction may become valid later: it fails only because of unknown inputs, or of a
 * validity interval that has not begun. A transaction that breaks another rule never
 * becomes valid.
 *
 * @param slot the current slot, which may be later than the slot of the failures
 * @param last the last slot in which there will be another try; by default, there is no last one
 * @returns false for an empty failures
 * @example
 * const failures = validateStateful(transaction, utxos, context)
 * if (failures.length > 0) isRetriable(failures, context.slot) ? await retry() : await reject(failures)
 */
export function isRetriable(failures: Failures, slot: bigint, last?: bigint): boolean {
  return failures.length > 0 && failures.every((failure) => mayPass(failure, slot, last))
}

function mayPass({ predicate, details }: PredicateFailure, slot: bigint, last: bigint | undefined): boolean {
  if (predicate === 'BadInputsUTxO') return true
  if (predicate !== 'OutsideValidityIntervalUTxO') return false
  const { invalidBefore, invalidHereafter } = details
  if (last !== undefined && typeof invalidBefore === 'string' && BigInt(invalidBefore) > last) return false
  if (typeof invalidHereafter !== 'string') return true
  const end = BigInt(invalidHereafter)
  const empty = typeof invalidBefore === 'string' && BigInt(invalidBefore) >= end
  return slot < end && !empty
}
