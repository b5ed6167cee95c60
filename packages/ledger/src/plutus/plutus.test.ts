import { toHex } from '@ratatosk/cbor'
import { vectorsFolder } from '@ratatosk/fixtures/vectors'
import { describe, expect, test } from 'vitest'
import { blake2b256 } from '#crypto'
import { costModelProblem, engineCostModels } from '../parameters/cost-models.js'
import type { ProtocolParameters } from '../parameters/types.js'
import { knownDeviations, listedCases } from './test/known-deviations.js'
import { threadProgram } from './test/thread-program.js'
import { reportUplcSuite } from './test/uplc-report.js'

describe('cost models', () => {
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
})

describe('uplc conformance', () => {
  const suite = vectorsFolder('uplc-evaluation')
  const scenarios = vectorsFolder('ledger-scenarios')

  describe.skipIf(suite === undefined || scenarios === undefined)('the Plutus conformance suite', () => {
    test('deviates only in the known cases, each for its known cause', {
      timeout: 180_000,
    }, async () => {
      const report = await reportUplcSuite(suite ?? '', scenarios ?? '', { threads: 1, threadProgram })
      expect(report.unexplained, report.text).toEqual([])

      const names = report.outcomes.map(({ name }) => name)
      const found = Object.fromEntries(
        report.deviations.map(({ outcome, cause }) => [outcome.name, cause?.id]),
      )
      if (digestOf(names) === listedCases) {
        expect(found).toEqual(knownDeviations)
        return
      }
      // The suite is newer than the list: listed cases deviate as listed, others may for a known cause.
      const said = Object.entries(knownDeviations).filter(([name]) => names.includes(name))
      expect(found).toMatchObject(Object.fromEntries(said))
    })
  })

  function digestOf(names: readonly string[]): string {
    return toHex(blake2b256(Buffer.from([...names].sort().join('\n'))))
  }
})
