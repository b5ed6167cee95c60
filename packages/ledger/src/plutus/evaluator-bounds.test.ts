import { describe, expect, onTestFinished, test } from 'vitest'
import { vectorsFolder } from '../test/vectors.js'
import { EvaluatorBusyError, EvaluatorClosedError } from './errors.js'
import { createEvaluator } from './evaluator.js'
import { evaluateMint, type Mint } from './test/mint.js'
import { scenarioParameters } from './test/parameters.js'
import { bombs, counting, failing, succeeding } from './test/programs.js'
import { threadProgram } from './test/thread-program.js'
import type { EvaluationResult, Evaluator, EvaluatorOptions } from './types.js'

const scenarios = vectorsFolder('ledger-scenarios')

function open(options: EvaluatorOptions = {}): Evaluator {
  const evaluator = createEvaluator({ threads: 1, threadProgram, ...options })
  onTestFinished(() => evaluator.close())
  return evaluator
}

/** More than any network allows: only the bounds of the thread are left. */
const ample = { memory: 10n ** 15n, steps: 10n ** 18n }

describe.skipIf(scenarios === undefined)(
  'the bounds of evaluation (need the cost models of ledger-scenarios)',
  () => {
    const parameters = scenarioParameters(scenarios ?? '', 'preprod-conway-v10', 10)
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

    test('where time does not suffice, that is what the result says', async () => {
      const evaluator = open({ timeLimitMs: 50 })
      const { ok, failure } = await evaluate(evaluator, { flat: bombs.steps, declared: ample })
      expect({ ok, failure }).toMatchObject({
        ok: false,
        failure: { kind: 'EngineFailure', reason: 'timeout' },
      })
    })

    test('where memory does not suffice, that is what the result says', async () => {
      const evaluator = open({ memoryLimitMb: 48 })
      const { ok, failure } = await evaluate(evaluator, { flat: bombs.closures, declared: ample })
      expect({ ok, failure }).toMatchObject({
        ok: false,
        failure: { kind: 'EngineFailure', reason: 'memory' },
      })
    })

    test('200 evaluations side by side are kept apart', async () => {
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

    test('a bomb holds up nobody else', async () => {
      const evaluator = open({ threads: 2 })
      const order: string[] = []
      // Some seconds' worth, so that a second thread is there long before.
      const long = { memory: 10n ** 12n, steps: 10n ** 12n }
      const asked = [bombs.steps, succeeding, succeeding, succeeding].map(async (flat) => {
        const { ok } = await evaluate(evaluator, { flat, declared: long })
        order.push(ok ? 'other' : 'bomb')
      })
      await Promise.all(asked)
      expect(order).toEqual(['other', 'other', 'other', 'bomb'])
    })

    test('more than may wait is refused', async () => {
      const evaluator = open({ queueLimit: 2 })
      const asked = [1, 2, 3, 4].map(() => evaluate(evaluator, { flat: succeeding }))
      const settled = await Promise.allSettled(asked)
      expect(settled.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'fulfilled', 'rejected'])
      await expect(asked[3]).rejects.toBeInstanceOf(EvaluatorBusyError)
    })

    test('closing ends what runs and what waits', async () => {
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
        expect(result).toMatchObject({ status: 'rejected', reason: expect.any(EvaluatorClosedError) })
      }
      await expect(evaluate(evaluator, { flat: succeeding })).rejects.toBeInstanceOf(EvaluatorClosedError)
      await evaluator.close()
    })
  },
)
