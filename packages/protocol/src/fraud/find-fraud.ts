import { type ProvableRules, type VerdictPolicyName, verdictPolicies } from '@ratatosk/contracts'
import type { AccusedBlock } from './accused-block.js'
import { ledgerFrauds } from './find-ledger-fraud.js'
import { transactionFrauds } from './find-transaction-fraud.js'
import { witnessFrauds } from './find-witness-fraud.js'
import type { LedgerFraudProof } from './ledger-proofs.js'
import { type FoundFraud, firstFound, type Search, type step } from './smallest-proof.js'
import type { TransactionFraudProof } from './transaction-proofs.js'
import type { WitnessFraudProof } from './witness-proofs.js'

interface ProofsOf {
  readonly ledger: LedgerFraudProof
  readonly transaction: TransactionFraudProof
  readonly witness: WitnessFraudProof
}

/** The search of each policy, in the order in which they are tried. */
const searches: {
  readonly [Name in VerdictPolicyName]: (block: AccusedBlock, rules?: ProvableRules) => Search<ProofsOf[Name]>
} = {
  ledger: ledgerFrauds,
  transaction: (block, rules) =>
    rules && verdictPolicies.transaction.covers(rules) ? transactionFrauds(block, rules) : nothing(),
  witness: (block, rules) => (rules ? witnessFrauds(block, rules.parameters) : nothing()),
}

function* nothing(): Generator<never, void> {}

/** The search of each policy for its first fraud, in the order in which they are tried. */
export const fraudSearches = Object.fromEntries(
  Object.entries(searches).map(([policy, search]) => [
    policy,
    (block: AccusedBlock, rules?: ProvableRules) =>
      firstFound<FoundFraud<ProofsOf[VerdictPolicyName]>>(search(block, rules)),
  ]),
) as {
  readonly [Name in VerdictPolicyName]: (
    block: AccusedBlock,
    rules?: ProvableRules,
  ) => FoundFraud<ProofsOf[Name]> | undefined
}

/** A fraud that one of the policies proves. */
export type ProvenFraud = {
  [Name in VerdictPolicyName]: { readonly policy: Name } & FoundFraud<ProofsOf[Name]>
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
  return firstFound(fraudsIn(block, rules))
}

/** All frauds that {@link findFraud} could find, in its order, and steps in between. */
export function* fraudsIn(
  block: AccusedBlock,
  rules?: ProvableRules,
): Generator<readonly ProvenFraud[] | typeof step, void> {
  for (const [policy, search] of Object.entries(searches)) {
    for (const found of search(block, rules)) yield found?.map((each) => ({ policy, ...each }) as ProvenFraud)
  }
}
