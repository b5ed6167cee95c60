import { afterAll, expect, test } from 'vitest'
import { engineCostModels } from '../parameters/parse.js'
import { resolve } from '../rules/context.js'
import type { PlutusLanguage } from '../transaction/types.js'
import { createEnginePool, type PoolAnswer } from './engine-pool.js'
import { engineRequest, visibleInputs } from './evaluator.js'
import { isPlutusScript } from './flat/program.js'
import { scriptBytes, type Term } from './test/flat.js'
import { mintTransaction } from './test/programs.js'
import { describeVectors, scenarioParameters, secondOpinionProgram, threadProgram } from './test/setup.js'
import { asScript, readUplcCases, succeed } from './test/uplc-suite.js'

const slots = { zeroTime: 0n, zeroSlot: 0n, slotLength: 1000 }

/** The known differences of scalus: it cannot decode open terms, and huge shifts succeed. */
const otherwise = new Set([
  'term/var',
  'builtin/semantics/rotateByteString/case-18',
  'builtin/semantics/shiftByteString/case-15',
])

/** The suite has budgets only for Plutus V3 at ledger version 11; scalus is the reference for the rest. */
describeVectors(
  ['uplc-evaluation', 'ledger-scenarios'],
  'the programs of the conformance suite at ledger version 10',
  (suite, scenarios) => {
    const parameters = scenarioParameters(scenarios, 'preprod-287', 10)
    const shared = { threads: 1, memoryLimitMb: 256, queueLimit: 1_000 }
    const cek = createEnginePool({ ...shared, program: threadProgram })
    const scalus = createEnginePool({
      ...shared,
      program: secondOpinionProgram,
      workerData: { engine: 'scalus' },
    })
    afterAll(() => Promise.all([cek.close(), scalus.close()]))

    test.each<[PlutusLanguage, Term]>([
      ['PlutusV1', ['lam', 'context', succeed]],
      ['PlutusV2', ['lam', 'context', succeed]],
      ['PlutusV3', succeed],
    ])(
      'have the same result and cost as in scalus, as scripts of %s',
      { timeout: 120_000 },
      async (language, then) => {
        const declared = { memory: 2n ** 60n, steps: 2n ** 60n }
        let compared = 0
        for (const { name, flat: program } of readUplcCases(suite)) {
          if (program === undefined || otherwise.has(name)) continue
          const flat = asScript(program, then)
          if (!isPlutusScript(scriptBytes(flat), language, 10)) continue
          const { transaction, utxos } = mintTransaction({ flat, language, declared })
          const inputs = visibleInputs(resolve(transaction, utxos))
          const request = engineRequest(transaction, inputs, engineCostModels(parameters), slots, 10)
          const [ours, theirs] = await Promise.all([cek.run(request, 20_000), scalus.run(request, 20_000)])
          expect([name, comparable(ours)]).toEqual([name, comparable(theirs)])
          compared++
        }
        expect(compared).toBeGreaterThan(0)
      },
    )
  },
)

function comparable(answer: PoolAnswer) {
  return answer.kind === 'evaluated' ? answer : answer.kind
}
