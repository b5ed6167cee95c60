import type { PlutusScript } from '../script/apply.js'
import { findLedgerFraud } from './find-ledger-fraud.js'
import { findTransactionFraud } from './find-transaction-fraud.js'
import { findWitnessFraud } from './find-witness-fraud.js'
import type { LedgerFraudProof } from './ledger-proofs.js'
import type { SuspectBlock } from './open-block.js'
import type { ProvableRules } from './rules.js'
import {
  hasTransactionPolicy,
  ledgerFraudScript,
  transactionFraudScript,
  witnessFraudScript,
} from './scripts.js'
import type { FoundFraud } from './smallest-proof.js'
import type { TransactionFraudProof } from './transaction-proofs.js'
import type { WitnessFraudProof } from './witness-proofs.js'

/** What is known besides the block. */
export interface FraudSearch {
  /** The rules of the layer 2. Without them, only frauds of the ledger policy are found. */
  readonly rules?: ProvableRules
  /**
   * References, as CBOR, that may differ before and after the block besides those in the transactions map.
   */
  readonly keys?: Iterable<Uint8Array>
}

/** A policy whose tokens are verdicts. */
interface VerdictPolicy<Proof> {
  /** @throws ContractsError if there is none for these rules */
  script(rules: ProvableRules): PlutusScript
  /** Whether there is a script for these rules. */
  covers(rules: ProvableRules): boolean
  /** Whether its script is the same for all rules. */
  readonly isUniversal: boolean
  /** The smallest of the first proofs of a fraud in a block. */
  find(block: SuspectBlock, search: FraudSearch): FoundFraud<Proof> | undefined
}

/**
 * Every policy of fraud proofs, in the order of the search: deployments, publications, settings and searches
 * iterate this record.
 */
export const verdictPolicies = {
  ledger: {
    script: () => ledgerFraudScript(),
    covers: () => true,
    isUniversal: true,
    find: (block, { keys }) => findLedgerFraud(block, keys),
  } satisfies VerdictPolicy<LedgerFraudProof>,
  transaction: {
    script: transactionFraudScript,
    covers: hasTransactionPolicy,
    isUniversal: false,
    find: (block, { rules }) => rules && findTransactionFraud(block, rules),
  } satisfies VerdictPolicy<TransactionFraudProof>,
  witness: {
    script: ({ parameters }) => witnessFraudScript(parameters),
    covers: () => true,
    isUniversal: false,
    find: (block, { rules }) => rules && findWitnessFraud(block, rules.parameters),
  } satisfies VerdictPolicy<WitnessFraudProof>,
} as const

export type VerdictPolicyName = keyof typeof verdictPolicies

/** A fraud that one of the policies proves. */
export type ProvenFraud = {
  [Name in VerdictPolicyName]: { readonly policy: Name } & NonNullable<
    ReturnType<(typeof verdictPolicies)[Name]['find']>
  >
}[VerdictPolicyName]

/**
 * Looks for a fraud in a block: first in what it does to outputs, then in its transactions. Returns the
 * smallest of the first proofs of the first policy that has one; undefined if there is none. What is not
 * found: see the function of each policy. The proof is not evaluated: do that before it is sent.
 */
export function findFraud(block: SuspectBlock, search: FraudSearch = {}): ProvenFraud | undefined {
  for (const [policy, { find }] of Object.entries(verdictPolicies)) {
    const found = find(block, search)
    if (found !== undefined) return { policy, ...found } as ProvenFraud
  }
  return undefined
}

/**
 * The script that proves frauds of a policy.
 *
 * @param rules see {@link FraudSearch}
 * @throws RangeError without rules, for a policy that has them as parameters
 */
export function fraudScript(policy: VerdictPolicyName, rules?: ProvableRules): PlutusScript {
  const { script, isUniversal } = verdictPolicies[policy]
  if (rules === undefined && !isUniversal)
    throw new RangeError(`The ${policy} policy has the rules of the layer 2 as parameters`)
  return script(rules as ProvableRules)
}
