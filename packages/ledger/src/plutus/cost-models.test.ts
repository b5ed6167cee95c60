import { expect, test } from 'vitest'
import type { ProtocolParameters } from '../parameters/types.js'
import { costModelProblem, engineCostModels } from './cost-models.js'

const costs = (length: number, cost = 1n): bigint[] => Array.from({ length }, () => cost)

function parameters(costModels: ProtocolParameters['costModels'], major = 10): ProtocolParameters {
  // The other parameters are not read.
  return { costModels, ledgerVersion: { major, minor: 0 } } as ProtocolParameters
}

test.each([
  ['PlutusV1', [166, 332]],
  ['PlutusV2', [175, 185, 332]],
  ['PlutusV3', [251, 297, 350]],
] as const)('%s has a cost for each builtin of a ledger version', (language, lengths) => {
  for (let length = 0; length <= 400; length++) {
    const problem = costModelProblem(parameters({ [language]: costs(length) }))
    if ((lengths as readonly number[]).includes(length)) expect(problem).toBeUndefined()
    else expect(problem).toContain(`${language} has ${length} costs`)
  }
})

test('refuses a cost that does not fit 64 bits', () => {
  expect(costModelProblem(parameters({ PlutusV1: costs(166, 2n ** 63n - 1n) }))).toBeUndefined()
  expect(costModelProblem(parameters({ PlutusV1: costs(166, 2n ** 63n) }))).toContain('Cost 0 of PlutusV1')
})

test('passes an empty model for a language without one', () => {
  expect(costModelProblem(parameters({}))).toBeUndefined()
  expect(engineCostModels(parameters({})).map((model) => model.length)).toEqual([0, 0, 0])
})

test('makes builtins beyond the end of a model unaffordable', () => {
  const [v1, v2, v3] = engineCostModels(
    parameters({ PlutusV1: costs(166), PlutusV2: costs(175), PlutusV3: costs(350) }),
  )
  expect(v1).toEqual(BigInt64Array.from(costs(166)))
  expect(v2?.length).toBe(185)
  expect(v2?.subarray(0, 175)).toEqual(BigInt64Array.from(costs(175)))
  expect(v2?.subarray(175).every((cost) => cost > 10n ** 12n)).toBe(true)
  expect(v3?.length).toBe(350)
})
