import { type ProvableRules, type VerdictPolicyName, verdictPolicies } from '@ratatosk/contracts'
import type { AccusedBlock } from './accused-block.js'
import { findLedgerFraud } from './find-ledger-fraud.js'
import { findTransactionFraud } from './find-transaction-fraud.js'
import { findWitnessFraud } from './find-witness-fraud.js'
import type { FoundFraud } from './smallest-proof.js'

/** The search of each policy, in the order in which they are tried. */
export const fraudSearches = {
  ledger: findLedgerFraud,
  transaction: (block: AccusedBlock, rules?: ProvableRules) =>
    rules && verdictPolicies.transaction.covers(rules) ? findTransactionFraud(block, rules) : undefined,
  witness: (block: AccusedBlock, rules?: ProvableRules) => rules && findWitnessFraud(block, rules.parameters),
} as const satisfies Record<
  VerdictPolicyName,
  (block: AccusedBlock, rules?: ProvableRules) => FoundFraud<unknown> | undefined
>

/** A fraud that one of the policies proves. */
export type ProvenFraud = {
  [Name in VerdictPolicyName]: { readonly policy: Name } & NonNullable<
    ReturnType<(typeof fraudSearches)[Name]>
  >
}[VerdictPolicyName]

/**
 * Searches a block for a fraud: first in its changes of the outputs, then in its transactions. The search
 * function of each policy documents what it does not find. The proof is not evaluated: do that before it is
 * sent.
 *
 * @param rules of the layer 2. Without them, only frauds of the ledger policy are found.
 * @returns the smallest of the first proofs of the first policy that has one; undefined if there is none
 */
export function findFraud(block: AccusedBlock, rules?: ProvableRules): ProvenFraud | undefined {
  for (const [policy, search] of Object.entries(fraudSearches)) {
    const found = search(block, rules)
    if (found !== undefined) return { policy, ...found } as ProvenFraud
  }
  return undefined
}
