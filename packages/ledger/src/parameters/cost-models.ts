import type { PlutusLanguage } from '../transaction/types.js'
import type { ProtocolParameters } from './types.js'

/** The Plutus languages in the order of the ledger's language numbers. */
export const plutusLanguages: readonly PlutusLanguage[] = ['PlutusV1', 'PlutusV2', 'PlutusV3']

/**
 * The lengths of each language's cost model, with the ledger version that introduced the length (parameter
 * names of plutus-ledger-api). A network may have a longer model before it, or a shorter one after.
 */
const modelLengths: { readonly [language in PlutusLanguage]: readonly { length: number; since: number }[] } =
  {
    PlutusV1: [
      { length: 166, since: 5 },
      { length: 332, since: 11 },
    ],
    PlutusV2: [
      { length: 175, since: 7 },
      { length: 185, since: 10 },
      { length: 332, since: 11 },
    ],
    PlutusV3: [
      { length: 251, since: 9 },
      { length: 297, since: 10 },
      { length: 350, since: 11 },
    ],
  }

/** Exceeds every budget, but its product with the size of an argument does not overflow 64 bits. */
const unaffordable = 10_000_000_000_000n

/**
 * Checks the cost models of protocol parameters: each must have a length that some ledger version uses, and
 * costs that fit signed 64-bit integers. Evaluation with other models fails with `InvalidCostModel`.
 *
 * @returns a message that describes the problem; undefined if there is none
 */
export function costModelProblem({ costModels }: Pick<ProtocolParameters, 'costModels'>): string | undefined {
  for (const language of plutusLanguages) {
    const model = costModels[language]
    if (model === undefined) continue
    const lengths = modelLengths[language].map(({ length }) => length)
    if (!lengths.includes(model.length)) {
      return `The cost model of ${language} has ${model.length} costs instead of ${lengths.join(' or ')}`
    }
    const wrong = model.findIndex((cost) => BigInt.asIntN(64, cost) !== cost)
    if (wrong >= 0) return `Cost ${wrong} of ${language} does not fit into 64 bits`
  }
  return undefined
}

/** Checks and prepares cost models once for as long as callers pass the same parameters object. */
export function createCostModelReader(): (
  parameters: ProtocolParameters,
) => { readonly problem: string } | { readonly models: readonly BigInt64Array[] } {
  let last:
    | { of: ProtocolParameters; problem: string | undefined; models: readonly BigInt64Array[] }
    | undefined
  return (parameters) => {
    if (last?.of !== parameters) {
      const problem = costModelProblem(parameters)
      last = { of: parameters, problem, models: problem === undefined ? engineCostModels(parameters) : [] }
    }
    return last.problem === undefined ? { models: last.models } : { problem: last.problem }
  }
}

/** The models as engines expect them: of this ledger version's length, with unset costs unaffordable. */
export function engineCostModels({
  costModels,
  ledgerVersion,
}: ProtocolParameters): readonly BigInt64Array[] {
  return plutusLanguages.map((language) => {
    const model = costModels[language]
    if (model === undefined) return new BigInt64Array()
    const asked = modelLengths[language].filter(({ since }) => since <= ledgerVersion.major)
    const costs = new BigInt64Array(Math.max(model.length, asked.at(-1)?.length ?? 0)).fill(unaffordable)
    model.forEach((cost, i) => {
      costs[i] = cost > unaffordable ? unaffordable : cost
    })
    return costs
  })
}
