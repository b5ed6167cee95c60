import type { BlockRules } from '@ratatosk/block'
import { type CostModels, languageViews, scriptHash } from '@ratatosk/ledger'
import { ContractsError } from './errors.js'
import { applyParameters, compiledCode, type PlutusScript, type ValidatorTitle } from './scripts.js'

/**
 * The rules of a layer 2 that policies of fraud proofs have as parameters: those by which its blocks are
 * judged.
 */
export type ProvableRules = Pick<BlockRules, 'parameters' | 'networkId' | 'slots'>

/**
 * The policy of proofs that a block does to outputs what no valid block does. It has no parameters: its hash
 * is the same for every deployment.
 */
export function ledgerFraudScript(): PlutusScript {
  const bytes = compiledCode('ledger_fraud')
  return { language: 'PlutusV3', bytes, hash: scriptHash('PlutusV3', bytes) }
}

/** The transaction policy of each major ledger version that has one. */
const transactionPolicies: ReadonlyMap<number, ValidatorTitle> = new Map([
  [9, 'transaction_fraud'],
  [10, 'transaction_fraud'],
  [11, 'transaction_fraud_11'],
])

/**
 * The policy of proofs that a transaction of a block breaks a rule of its own: value, fee, outputs, validity
 * interval, and what layer 2 does not allow. The rules of the layer 2 are its parameters: other rules need
 * another policy, or honest operators lose their bonds.
 *
 * @throws {ContractsError} `CONTRACTS_INVALID_PARAMETER`; also for a ledger version that has no such policy
 */
export function transactionFraudScript(rules: ProvableRules): PlutusScript {
  const { major } = rules.parameters.ledgerVersion
  const title = transactionPolicies.get(major)
  if (title === undefined) {
    const versions = [...transactionPolicies.keys()].join(', ')
    throw new ContractsError(
      'CONTRACTS_INVALID_PARAMETER',
      `ledgerVersion must be one of ${versions}, not ${major}`,
    )
  }
  return applyParameters(compiledCode(title), rulesData(rules))
}

export const hasTransactionPolicy = ({ parameters }: ProvableRules): boolean =>
  transactionPolicies.has(parameters.ledgerVersion.major)

export function rulesData({ parameters, networkId, slots }: ProvableRules): bigint[] {
  const { memory, steps } = parameters.executionPrices
  const { numerator, denominator } = parameters.referenceScriptCostPerByte
  return [
    slots.zeroTime - slots.zeroSlot * BigInt(slots.slotLength),
    BigInt(slots.slotLength),
    BigInt(networkId),
    parameters.minFeeA,
    parameters.minFeeB,
    memory.numerator * steps.denominator,
    steps.numerator * memory.denominator,
    memory.denominator * steps.denominator,
    numerator,
    denominator,
    parameters.coinsPerUtxoByte,
  ]
}

/**
 * The policy of proofs that a transaction of a block lacks a signature, script, redeemer or datum, or has a
 * wrong one. The cost models are its parameters: it speaks of script data hashes, and only of blocks that
 * were judged by these cost models.
 *
 * @param parameters of the layer 2
 */
export const witnessFraudScript = (parameters: CostModels): PlutusScript =>
  applyParameters(compiledCode('witness_fraud'), languageParameters(parameters))

/** The cost models of Plutus V1, V2 and V3: key and value of an entry in the map of a script data hash. */
export const languageParameters = (parameters: CostModels): Uint8Array[] =>
  (['PlutusV1', 'PlutusV2', 'PlutusV3'] as const).map((language) =>
    // Behind the head of the map.
    languageViews(new Set([language]), parameters).subarray(1),
  )

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
