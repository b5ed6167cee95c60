import type { ProtocolParameters } from '../parameters/types.js'
import type { PlutusLanguage } from '../transaction/types.js'

/** In the order of the ledger's language numbers. */
export const plutusLanguages: readonly PlutusLanguage[] = ['PlutusV1', 'PlutusV2', 'PlutusV3']

/**
 * How many costs a language's model has had, with the protocol version that brought each (plutus-ledger-api's parameter
 * names). A network may hold a longer model before the version that needs it, or still an earlier one after it.
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

/** Beyond every budget, and yet no 64-bit product with the size of an argument overflows. */
const unaffordable = 10_000_000_000_000n

/**
 * What is wrong with the cost models of some parameters; undefined: nothing.
 *
 * A model of another length could only be misread.
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

/** Checks and prepares cost models once for as long as the parameters stay the same object. */
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

/** The models as engines take them: as long as this protocol version asks, unaffordable where the network has no cost. */
export function engineCostModels({
  costModels,
  protocolVersion,
}: ProtocolParameters): readonly BigInt64Array[] {
  return plutusLanguages.map((language) => {
    const model = costModels[language]
    if (model === undefined) return new BigInt64Array()
    const asked = modelLengths[language].filter(({ since }) => since <= protocolVersion.major)
    const costs = new BigInt64Array(Math.max(model.length, asked.at(-1)?.length ?? 0)).fill(unaffordable)
    model.forEach((cost, i) => {
      costs[i] = cost > unaffordable ? unaffordable : cost
    })
    return costs
  })
}
