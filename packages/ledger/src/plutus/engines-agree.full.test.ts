import { vectorsFolder } from '@ratatosk/fixtures/vectors'
import { afterAll, describe, expect, test } from 'vitest'
import { engineCostModels } from '../parameters/parse.js'
import { resolve } from '../rules/context.js'
import type { Evaluator } from '../rules/script-evaluator.js'
import { runLedgerEvents, runScenarios } from '../test/conformance/scenarios.js'
import { createEnginePool, type PoolAnswer } from './engine-pool.js'
import { createEvaluator, engineRequest, visibleInputs } from './evaluator.js'
import type { SecondOpinion } from './test/second-opinion-thread.js'
import { secondOpinionProgram, threadProgram } from './test/setup.js'

/** Compares three implementations on every transaction with redeemers in third-party test data. */
describe.each([
  ['ledger-scenarios', runScenarios],
  ['ledger-rules', runLedgerEvents],
] as const)('the engines over %s', (name, run) => {
  const folder = vectorsFolder(name)
  const evaluator = createEvaluator({ threads: 1, threadProgram })
  const open = (program: URL, engine?: SecondOpinion) =>
    createEnginePool({
      threads: 1,
      memoryLimitMb: 256,
      queueLimit: 10_000,
      program,
      ...(engine && { workerData: { engine } }),
    })
  const pools = {
    cek: open(threadProgram),
    scalus: open(secondOpinionProgram, 'scalus'),
    aiken: open(secondOpinionProgram, 'aiken'),
  }
  afterAll(() => Promise.all([evaluator, ...Object.values(pools)].map((each) => each.close())))

  test.skipIf(folder === undefined)('agree on results and budgets where they validate', async () => {
    const answers: Promise<readonly [cek: PoolAnswer, ...others: PoolAnswer[]]>[] = []
    const recording: Evaluator = {
      close: () => evaluator.close(),
      evaluate(transaction, utxos, parameters, slots) {
        const inputs = visibleInputs(resolve(transaction, utxos))
        const { major } = parameters.ledgerVersion
        const request = engineRequest(transaction, inputs, engineCostModels(parameters), slots, major)
        const { cek, scalus, aiken } = pools
        answers.push(
          Promise.all([cek.run(request, 60_000), scalus.run(request, 60_000), aiken.run(request, 60_000)]),
        )
        return evaluator.evaluate(transaction, utxos, parameters, slots)
      },
    }
    await run(folder ?? '', recording)

    let compared = 0
    for (const [cek, ...others] of await Promise.all(answers)) {
      expect(['evaluated', 'failed']).toContain(cek.kind)
      for (const other of others) {
        if (other.kind !== 'evaluated' && other.kind !== 'failed') continue
        expect(cek.kind).toBe(other.kind)
        if (cek.kind === 'evaluated') expect(other).toEqual(cek)
        compared++
      }
    }
    expect(compared).toBeGreaterThan(0)
  })
})
