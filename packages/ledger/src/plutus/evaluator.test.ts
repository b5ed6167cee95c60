import { afterAll, expect, onTestFinished, test } from 'vitest'
import type { EvaluationResult, Evaluator, EvaluatorOptions } from '../rules/script-evaluator.js'
import { createEvaluator } from './evaluator.js'
import {
  bombs,
  counting,
  evaluateMint,
  failing,
  type Mint,
  mintTransaction,
  ofLedgerVersion11,
  openTerm,
  returningFalse,
  returningFalseOfTwo,
  succeeding,
  tracing,
  wants42,
} from './test/programs.js'
import { describeVectors, scenarioParameters, threadProgram } from './test/setup.js'

const slots = { zeroTime: 0n, zeroSlot: 0n, slotLength: 1000 }

function open(options: EvaluatorOptions = {}): Evaluator {
  const evaluator = createEvaluator({ threads: 1, threadProgram, ...options })
  onTestFinished(() => evaluator.close())
  return evaluator
}

describeVectors(
  ['ledger-scenarios'],
  'createEvaluator (needs the cost models of ledger-scenarios)',
  (scenarios) => {
    const parameters = scenarioParameters(scenarios, 'preprod-conway-v10', 10)

    const evaluate = (evaluator: Evaluator, mint: Mint, of = parameters) => evaluateMint(evaluator, mint, of)

    const shared = createEvaluator({ threads: 1, threadProgram })
    afterAll(() => shared.close())

    test('needs no thread for a transaction without redeemers', async () => {
      const evaluator = open({ threadProgram: new URL('file:///nowhere.js') })
      const { transaction, utxos } = mintTransaction({ flat: succeeding })
      const plain = { ...transaction, witnesses: { ...transaction.witnesses, redeemers: [] } }
      expect(await evaluator.evaluate(plain, utxos, parameters, slots)).toEqual({ ok: true, redeemers: [] })
    })

    test('reports the units that each redeemer used', async () => {
      const declared = { memory: 14_000_000n, steps: 10_000_000_000n }
      expect(await evaluate(shared, { flat: succeeding, declared })).toEqual({
        ok: true,
        redeemers: [
          {
            purpose: 'mint',
            index: 0,
            declared,
            outcome: { kind: 'Succeeded', used: { memory: 500n, steps: 64_100n } },
          },
        ],
      })
    })

    test('accepts any result of Plutus V1 and V2 scripts', async () => {
      for (const language of ['PlutusV1', 'PlutusV2'] as const) {
        expect((await evaluate(shared, { flat: returningFalseOfTwo, language })).ok).toBe(true)
      }
    })

    test.each([
      ['memory', { memory: 499n, steps: 64_100n }],
      ['steps', { memory: 500n, steps: 64_099n }],
    ])('refuses a script that uses one more of %s than is declared', async (_, declared) => {
      const used = { memory: 500n, steps: 64_100n }
      const { ok, failure } = await evaluate(shared, { flat: succeeding, declared })
      expect({ ok, failure }).toMatchObject({
        ok: false,
        failure: { kind: 'BudgetExceeded', declared, used },
      })
    })

    test('accepts a script that uses exactly its declared units', async () => {
      const declared = { memory: 500n, steps: 64_100n }
      expect((await evaluate(shared, { flat: succeeding, declared })).ok).toBe(true)
    })

    test('reports the traces of a failed script', async () => {
      expect((await evaluate(shared, { flat: wants42, redeemer: 42n })).ok).toBe(true)
      const { failure } = await evaluate(shared, { flat: wants42, redeemer: 7n })
      expect(failure).toMatchObject({ kind: 'ScriptFailure', logs: ['the redeemer must be 42'] })
    })

    test('keeps the order of traces', async () => {
      const logs = ['first line', 'second line']
      expect((await evaluate(shared, { flat: tracing })).failure).toMatchObject({
        kind: 'ScriptFailure',
        logs,
      })
    })

    test('fails a Plutus V3 script that returns anything but unit', async () => {
      const { ok, failure } = await evaluate(shared, { flat: returningFalse })
      expect({ ok, kind: failure?.kind }).toEqual({ ok: false, kind: 'ScriptFailure' })
    })

    test('validates a body of indefinite length to the same budget', async () => {
      const definite = await evaluate(shared, { flat: counting, redeemer: 100n })
      const indefinite = await evaluate(shared, { flat: counting, redeemer: 100n, indefinite: true })
      expect(definite.ok).toBe(true)
      expect(indefinite).toEqual(definite)
    })

    test('fails an open term', async () => {
      expect((await evaluate(shared, { flat: openTerm })).failure?.kind).toBe('ScriptFailure')
    })

    test('refuses a malformed script without a thread', async () => {
      const evaluator = open({ threadProgram: new URL('file:///nowhere.js') })
      for (const flat of [ofLedgerVersion11, Uint8Array.of(1, 0, 0, 0xff)]) {
        const { ok, failure } = await evaluate(evaluator, { flat })
        expect({ ok, kind: failure?.kind }).toEqual({ ok: false, kind: 'MalformedScript' })
      }
    })

    test('refuses cost models of a length that no ledger version has', async () => {
      const evaluator = open({ threadProgram: new URL('file:///nowhere.js') })
      const { PlutusV3 = [] } = parameters.costModels
      for (const model of [PlutusV3.slice(0, 10), PlutusV3.slice(0, 296), [...PlutusV3, 1n], []]) {
        const costModels = { ...parameters.costModels, PlutusV3: model }
        const { ok, failure } = await evaluate(evaluator, { flat: succeeding }, { ...parameters, costModels })
        expect({ ok, kind: failure?.kind }).toEqual({ ok: false, kind: 'InvalidCostModel' })
      }
    })

    test('makes builtins unaffordable that a cost model of an earlier ledger version lacks', async () => {
      const costModels = {
        ...parameters.costModels,
        PlutusV3: parameters.costModels.PlutusV3?.slice(0, 251) ?? [],
      }
      expect((await evaluate(shared, { flat: succeeding }, { ...parameters, costModels })).ok).toBe(true)
    })

    test('names the missing input', async () => {
      const { transaction } = mintTransaction({ flat: succeeding })
      const { failure } = await shared.evaluate(transaction, new Map(), parameters, slots)
      expect(failure).toMatchObject({
        kind: 'MissingInput',
        message: expect.stringContaining(`${'01'.repeat(32)}#0`),
      })
    })
  },
)

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
