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

/** Scripts by their rules: each that is made takes memory of WebAssembly, which is never given back. */
const made = new WeakMap<ProvableRules, Map<VerdictPolicyName, PlutusScript>>()

/**
 * The script that proves frauds of a policy; made once for the same object of rules.
 *
 * @param rules of the layer 2, which must not change
 * @throws RangeError without rules, for a policy that has them as parameters
 */
export function fraudScript(policy: VerdictPolicyName, rules?: ProvableRules): PlutusScript {
  const { script, isUniversal } = verdictPolicies[policy]
  if (rules === undefined && !isUniversal)
    throw new RangeError(`The ${policy} policy has the rules of the layer 2 as parameters`)
  if (rules === undefined) return script(rules as unknown as ProvableRules)
  const known = made.get(rules) ?? new Map<VerdictPolicyName, PlutusScript>()
  made.set(rules, known)
  const found = known.get(policy) ?? script(rules)
  known.set(policy, found)
  return found
}
