import { describe, expect, onTestFinished, test } from 'vitest'
import { vectorsFolder } from '../test/vectors.js'
import { EvaluatorBusyError, EvaluatorClosedError } from './errors.js'
import { createEvaluator } from './evaluator.js'
import { runsToTrust } from './reputation.js'
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

/** So long that a test ends first. */
const endless = { base: 600_000, budget: 0 }

describe.skipIf(scenarios === undefined)(
  'the bounds of evaluation (need the cost models of ledger-scenarios)',
  () => {
    const parameters = scenarioParameters(scenarios ?? '', 'preprod-conway-v10', 10)
    const evaluate = (evaluator: Evaluator, mint: Mint) => evaluateMint(evaluator, mint, parameters)

    /** A script that succeeds for the redeemer 42 is trusted then. */
    async function earnTrust(evaluator: Evaluator, flat: Uint8Array): Promise<void> {
      for (let i = 0; i < runsToTrust; i++) {
        expect((await evaluate(evaluator, { flat, redeemer: 42n })).ok).toBe(true)
      }
    }

    test.each(Object.entries(bombs))('a script greedy of %s is stopped at its budget', async (_, flat) => {
      const { ok, engine, failure } = await evaluate(open({ patienceMs: endless }), { flat })
      expect({ ok, engine, kind: failure?.kind }).toEqual({
        ok: false,
        engine: 'aiken',
        kind: 'BudgetExceeded',
      })
    })

    test.each(Object.entries(bombs))(
      'so is one greedy of %s that was trusted, and others go on',
      async (_, flat) => {
        const evaluator = open()
        await earnTrust(evaluator, flat)
        const usual = await evaluate(evaluator, { flat: succeeding })
        const { ok, failure } = await evaluate(evaluator, { flat })
        expect(ok).toBe(false)
        expect(['BudgetExceeded', 'ScriptFailure']).toContain(failure?.kind)
        expect(await evaluate(evaluator, { flat: succeeding })).toEqual(usual)
      },
    )

    test.each([
      ['is not known yet', 0],
      ['is trusted', runsToTrust],
    ])('a script that ends within its budget and %s gets the time it needs', async (_, runs) => {
      const evaluator = open({ patienceMs: { base: 1, budget: 0 } })
      for (let i = 0; i < runs; i++) await evaluate(evaluator, { flat: counting, redeemer: 1n })
      const { ok, engine, redeemers } = await evaluate(evaluator, { flat: counting, redeemer: 4_000n })
      expect({ ok, engine }).toEqual({ ok: true, engine: 'scalus' })
      expect(redeemers).toEqual((await evaluate(open(), { flat: counting, redeemer: 4_000n })).redeemers)
    })

    test('where time does not suffice at all, that is what the result says', async () => {
      const evaluator = open({ patienceMs: { base: 1, budget: 0 }, timeLimitMs: 1 })
      const { ok, failure } = await evaluate(evaluator, { flat: counting, redeemer: 4_000n })
      expect({ ok, failure }).toMatchObject({
        ok: false,
        failure: { kind: 'EngineFailure', reason: 'timeout' },
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
      const evaluator = open({ threads: 2, patienceMs: { base: 2_000, budget: 0 } })
      await earnTrust(evaluator, bombs.steps)
      const order: string[] = []
      const asked = [bombs.steps, succeeding, succeeding, succeeding].map(async (flat) => {
        const { ok } = await evaluate(evaluator, { flat })
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
      const evaluator = open({ patienceMs: endless })
      await earnTrust(evaluator, bombs.steps)
      const asked = [bombs.steps, succeeding, succeeding].map((flat) => evaluate(evaluator, { flat }))
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
