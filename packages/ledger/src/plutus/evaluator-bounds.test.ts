import { expect, onTestFinished, test } from 'vitest'
import type { EvaluationResult, Evaluator, EvaluatorOptions } from '../rules/script-evaluator.js'
import { describeVectors } from '../test/describe-vectors.js'
import { createEvaluator } from './evaluator.js'
import { evaluateMint, type Mint } from './test/mint.js'
import { scenarioParameters } from './test/parameters.js'
import { bombs, counting, failing, succeeding } from './test/programs.js'
import { threadProgram } from './test/thread-program.js'

function open(options: EvaluatorOptions = {}): Evaluator {
  const evaluator = createEvaluator({ threads: 1, threadProgram, ...options })
  onTestFinished(() => evaluator.close())
  return evaluator
}

/** More than any network allows, so that only the limits of the thread apply. */
const ample = { memory: 10n ** 15n, steps: 10n ** 18n }

describeVectors(
  ['ledger-scenarios'],
  'the bounds of evaluation (need the cost models of ledger-scenarios)',
  (scenarios) => {
    const parameters = scenarioParameters(scenarios, 'preprod-conway-v10', 10)
    const evaluate = (evaluator: Evaluator, mint: Mint) => evaluateMint(evaluator, mint, parameters)

    test.each(Object.entries(bombs))(
      'a script greedy of %s is stopped at its budget, and others go on',
      async (_, flat) => {
        const evaluator = open()
        const usual = await evaluate(evaluator, { flat: succeeding })
        const { ok, failure } = await evaluate(evaluator, { flat })
        expect({ ok, kind: failure?.kind }).toEqual({ ok: false, kind: 'BudgetExceeded' })
        expect(await evaluate(evaluator, { flat: succeeding })).toEqual(usual)
      },
    )

    test('reports an exceeded time limit', async () => {
      const evaluator = open({ timeLimitMs: 50 })
      const { ok, failure } = await evaluate(evaluator, { flat: bombs.steps, declared: ample })
      expect({ ok, failure }).toMatchObject({
        ok: false,
        failure: { kind: 'EngineFailure', reason: 'timeout' },
      })
    })

    test('reports an exceeded memory limit', async () => {
      const evaluator = open({ memoryLimitMb: 48 })
      const { ok, failure } = await evaluate(evaluator, { flat: bombs.closures, declared: ample })
      expect({ ok, failure }).toMatchObject({
        ok: false,
        failure: { kind: 'EngineFailure', reason: 'memory' },
      })
    })

    test('keeps 200 concurrent evaluations apart', async () => {
      const evaluator = open({ threads: 2 })
      const mints = Array.from({ length: 200 }, (_, i): Mint => {
        return i % 10 === 9 ? { flat: failing } : { flat: counting, redeemer: BigInt(i % 10) }
      })
      const together = await Promise.all(mints.map((mint) => evaluate(evaluator, mint)))
      const alone: EvaluationResult[] = []
      for (const mint of mints.slice(0, 10)) alone.push(await evaluate(evaluator, mint))
      expect(alone.map(({ ok }) => ok)).toEqual([true, true, true, true, true, true, true, true, true, false])
      together.forEach((result, i) => {
        expect(result).toEqual(alone[i % 10])
      })
    })

    test('runs other evaluations during one that takes seconds', async () => {
      const evaluator = open({ threads: 2 })
      const order: string[] = []
      // Takes seconds, so that a second thread has started long before.
      const long = { memory: 10n ** 12n, steps: 10n ** 12n }
      const asked = [bombs.steps, succeeding, succeeding, succeeding].map(async (flat) => {
        const { ok } = await evaluate(evaluator, { flat, declared: long })
        order.push(ok ? 'other' : 'bomb')
      })
      await Promise.all(asked)
      expect(order).toEqual(['other', 'other', 'other', 'bomb'])
    })

    test('refuses evaluations beyond the queue limit', async () => {
      const evaluator = open({ queueLimit: 2 })
      const asked = [1, 2, 3, 4].map(() => evaluate(evaluator, { flat: succeeding }))
      const settled = await Promise.allSettled(asked)
      expect(settled.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'fulfilled', 'rejected'])
      await expect(asked[3]).rejects.toMatchObject({ code: 'EVALUATOR_BUSY' })
    })

    test('rejects running and queued evaluations on close', async () => {
      const evaluator = open()
      const endless = evaluate(evaluator, { flat: bombs.steps, declared: ample })
      const asked = [
        endless,
        evaluate(evaluator, { flat: succeeding }),
        evaluate(evaluator, { flat: succeeding }),
      ]
      const settled = Promise.allSettled(asked)
      await evaluator.close()
      for (const result of await settled) {
        expect(result).toMatchObject({ status: 'rejected', reason: { code: 'EVALUATOR_CLOSED' } })
      }
      await expect(evaluate(evaluator, { flat: succeeding })).rejects.toMatchObject({
        code: 'EVALUATOR_CLOSED',
      })
      await evaluator.close()
    })
  },
)
