import { afterAll, describe, expect, test } from 'vitest'
import { resolve } from '../rules/resolution.js'
import { runLedgerEvents } from '../test/conformance/ledger-events.js'
import { runScenarios } from '../test/conformance/scenarios.js'
import { vectorsFolder } from '../test/vectors.js'
import { engineCostModels } from './cost-models.js'
import { createEnginePool, type PoolAnswer } from './engine-pool.js'
import { createEvaluator } from './evaluator.js'
import { engineRequest, visibleInputs } from './request.js'
import { threadProgram } from './test/thread-program.js'
import type { EngineName, Evaluator } from './types.js'

/** Two independent implementations over every transaction with redeemers that other people's test data holds. */
describe.each([
  ['ledger-scenarios', runScenarios],
  ['ledger-rules', runLedgerEvents],
] as const)('the engines over %s', (name, run) => {
  const folder = vectorsFolder(name)
  const evaluator = createEvaluator({ threads: 1, threadProgram })
  const open = (engine: EngineName) =>
    createEnginePool({ engine, threads: 1, memoryLimitMb: 256, queueLimit: 10_000, program: threadProgram })
  const pools = { scalus: open('scalus'), aiken: open('aiken') }
  afterAll(() => Promise.all([evaluator.close(), pools.scalus.close(), pools.aiken.close()]))

  test.skipIf(folder === undefined)('agree on results and budgets where both judge', async () => {
    const answers: Promise<readonly [scalus: PoolAnswer, aiken: PoolAnswer]>[] = []
    const recording: Evaluator = {
      close: () => evaluator.close(),
      evaluate(transaction, utxos, parameters, slots) {
        const inputs = visibleInputs(resolve(transaction, utxos))
        const request = engineRequest(transaction, inputs, engineCostModels(parameters), slots)
        answers.push(Promise.all([pools.scalus.run(request, 60_000), pools.aiken.run(request, 60_000)]))
        return evaluator.evaluate(transaction, utxos, parameters, slots)
      },
    }
    await run(folder ?? '', recording)

    const judges = ({ kind }: PoolAnswer) => kind === 'evaluated' || kind === 'failed'
    const judged = (await Promise.all(answers)).filter(([scalus, aiken]) => judges(scalus) && judges(aiken))
    expect(judged.length).toBeGreaterThan(0)
    for (const [scalus, aiken] of judged) {
      expect(aiken.kind).toBe(scalus.kind)
      if (scalus.kind === 'evaluated') expect(aiken).toEqual(scalus)
    }
  })
})
