import type { PlutusScript } from '../script/apply.js'
import type { ProvableRules } from './rules.js'
import {
  hasTransactionPolicy,
  ledgerFraudScript,
  transactionFraudScript,
  witnessFraudScript,
} from './scripts.js'

interface VerdictPolicy {
  /** @throws ContractsError if there is none for these rules */
  script(rules: ProvableRules): PlutusScript
  covers(rules: ProvableRules): boolean
  /** Whether its script is the same for all rules. */
  readonly isUniversal: boolean
}

/** Every policy of fraud proofs. Deployments, publications and settings iterate this record. */
export const verdictPolicies = {
  ledger: { script: () => ledgerFraudScript(), covers: () => true, isUniversal: true },
  transaction: { script: transactionFraudScript, covers: hasTransactionPolicy, isUniversal: false },
  witness: {
    script: ({ parameters }) => witnessFraudScript(parameters),
    covers: () => true,
    isUniversal: false,
  },
} as const satisfies Record<string, VerdictPolicy>

export type VerdictPolicyName = keyof typeof verdictPolicies

/**
 * The script that proves frauds of a policy.
 *
 * @param rules of the layer 2
 * @throws RangeError without rules, for a policy that has them as parameters
 */
export function fraudScript(policy: VerdictPolicyName, rules?: ProvableRules): PlutusScript {
  const { script, isUniversal } = verdictPolicies[policy]
  if (rules === undefined && !isUniversal)
    throw new RangeError(`The ${policy} policy has the rules of the layer 2 as parameters`)
  return script(rules as ProvableRules)
}
