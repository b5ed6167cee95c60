import { afterAll, describe, expect, onTestFinished, test } from 'vitest'
import { vectorsFolder } from '../test/vectors.js'
import { EvaluatorBusyError, EvaluatorClosedError } from './errors.js'
import { createEvaluator } from './evaluator.js'
import { type Mint, mintTransaction } from './test/mint.js'
import { scenarioParameters } from './test/parameters.js'
import {
  bombs,
  counting,
  failing,
  ofProtocolVersion11,
  openTerm,
  returningFalse,
  returningFalseOfTwo,
  succeeding,
  tracing,
  wants42,
} from './test/programs.js'
import { threadProgram } from './test/thread-program.js'
import type { EvaluationResult, Evaluator, EvaluatorOptions, ExecutionUnits } from './types.js'

const slots = { zeroTime: 0n, zeroSlot: 0n, slotLength: 1000 }
const scenarios = vectorsFolder('ledger-scenarios')

function open(options: EvaluatorOptions = {}): Evaluator {
  const evaluator = createEvaluator({ threads: 1, threadProgram, ...options })
  onTestFinished(() => evaluator.close())
  return evaluator
}

describe.skipIf(scenarios === undefined)(
  'createEvaluator (needs the cost models of ledger-scenarios)',
  () => {
    const parameters = scenarioParameters(scenarios ?? '', 'preprod-conway-v10', 10)

    function evaluate(evaluator: Evaluator, mint: Mint, of = parameters): Promise<EvaluationResult> {
      const { transaction, utxos } = mintTransaction(mint)
      return evaluator.evaluate(transaction, utxos, of, slots)
    }

    const shared = createEvaluator({ threads: 1, threadProgram })
    afterAll(() => shared.close())

    async function usedBy(evaluator: Evaluator, flat: Uint8Array): Promise<ExecutionUnits> {
      const { redeemers } = await evaluate(evaluator, { flat })
      const [redeemer] = redeemers
      if (redeemer?.outcome.kind !== 'Succeeded') throw new Error('The program does not succeed')
      return redeemer.outcome.used
    }

    test('needs no thread for a transaction without redeemers', async () => {
      const evaluator = open({ threadProgram: new URL('file:///nowhere.js') })
      const { transaction, utxos } = mintTransaction({ flat: succeeding })
      const plain = { ...transaction, witnesses: { ...transaction.witnesses, redeemers: [] } }
      expect(await evaluator.evaluate(plain, utxos, parameters, slots)).toEqual({ ok: true, redeemers: [] })
    })

    test('says what each redeemer used', async () => {
      const declared = { memory: 14_000_000n, steps: 10_000_000_000n }
      expect(await evaluate(shared, { flat: succeeding, declared })).toEqual({
        ok: true,
        engine: 'scalus',
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

    test('runs Plutus V1 and V2, which may return anything', async () => {
      for (const language of ['PlutusV1', 'PlutusV2'] as const) {
        expect((await evaluate(shared, { flat: returningFalseOfTwo, language })).ok).toBe(true)
      }
    })

    test.each([
      ['memory', { memory: 499n, steps: 64_100n }],
      ['steps', { memory: 500n, steps: 64_099n }],
    ])('refuses a script that uses one more of %s than is declared', async (_, declared) => {
      const { ok, failure } = await evaluate(shared, { flat: succeeding, declared })
      expect(ok).toBe(false)
      expect(failure).toMatchObject({
        kind: 'BudgetExceeded',
        declared,
        used: { memory: 500n, steps: 64_100n },
      })
    })

    test('takes a script that uses exactly what is declared', async () => {
      const declared = { memory: 500n, steps: 64_100n }
      expect((await evaluate(shared, { flat: succeeding, declared })).ok).toBe(true)
    })

    test('gives the trace of a script that fails for its redeemer', async () => {
      expect((await evaluate(shared, { flat: wants42, redeemer: Uint8Array.of(0x18, 42) })).ok).toBe(true)
      const { failure } = await evaluate(shared, { flat: wants42, redeemer: Uint8Array.of(7) })
      expect(failure).toMatchObject({ kind: 'ScriptFailure', logs: ['the redeemer must be 42'] })
    })

    test('keeps the order of traces, whichever engine judges', async () => {
      const logs = ['first line', 'second line']
      expect((await evaluate(shared, { flat: tracing })).failure).toMatchObject({
        kind: 'ScriptFailure',
        logs,
      })
      const second = await evaluate(shared, { flat: tracing, indefinite: true })
      expect(second).toMatchObject({ engine: 'aiken', failure: { kind: 'ScriptFailure', logs } })
    })

    test('fails a Plutus V3 script that returns anything but unit, whichever engine judges', async () => {
      for (const indefinite of [false, true]) {
        const { ok, failure } = await evaluate(shared, { flat: returningFalse, indefinite })
        expect({ ok, kind: failure?.kind }).toEqual({ ok: false, kind: 'ScriptFailure' })
      }
    })

    test('judges a body of indefinite length by the second engine, to the same budget', async () => {
      const first = await evaluate(shared, { flat: counting(100n) })
      const second = await evaluate(shared, { flat: counting(100n), indefinite: true })
      expect([first.engine, second.engine]).toEqual(['scalus', 'aiken'])
      expect(second.ok).toBe(true)
      expect(second.redeemers).toEqual(first.redeemers)
    })

    test('fails an open term', async () => {
      expect((await evaluate(shared, { flat: openTerm })).failure?.kind).toBe('ScriptFailure')
    })

    test('shows engines no script that the ledger could not read', async () => {
      const evaluator = open({ threadProgram: new URL('file:///nowhere.js') })
      for (const flat of [ofProtocolVersion11, Uint8Array.of(1, 0, 0, 0xff)]) {
        const { ok, failure } = await evaluate(evaluator, { flat })
        expect({ ok, kind: failure?.kind }).toEqual({ ok: false, kind: 'MalformedScript' })
      }
    })

    test('refuses cost models of a length that no protocol version has', async () => {
      const evaluator = open({ threadProgram: new URL('file:///nowhere.js') })
      const { PlutusV3 = [] } = parameters.costModels
      for (const model of [PlutusV3.slice(0, 10), PlutusV3.slice(0, 296), [...PlutusV3, 1n], []]) {
        const costModels = { ...parameters.costModels, PlutusV3: model }
        const { ok, failure } = await evaluate(evaluator, { flat: succeeding }, { ...parameters, costModels })
        expect({ ok, kind: failure?.kind }).toEqual({ ok: false, kind: 'InvalidCostModel' })
      }
    })

    test('takes cost models of an earlier protocol version, whose missing builtins nobody can afford', async () => {
      const costModels = {
        ...parameters.costModels,
        PlutusV3: parameters.costModels.PlutusV3?.slice(0, 251) ?? [],
      }
      expect((await evaluate(shared, { flat: succeeding }, { ...parameters, costModels })).ok).toBe(true)
    })

    test('says which input is not there', async () => {
      const { transaction } = mintTransaction({ flat: succeeding })
      const { failure } = await shared.evaluate(transaction, new Map(), parameters, slots)
      expect(failure).toMatchObject({
        kind: 'MissingInput',
        message: expect.stringContaining(`${'01'.repeat(32)}#0`),
      })
    })

    test.each(Object.entries(bombs))(
      'stops a script that is greedy of %s at its budget, and goes on',
      async (_, flat) => {
        const evaluator = open({ patienceMs: { base: 200, budget: 0 } })
        const usual = await evaluate(evaluator, { flat: succeeding })
        const { ok, failure } = await evaluate(evaluator, { flat })
        expect(ok).toBe(false)
        expect(['BudgetExceeded', 'ScriptFailure']).toContain(failure?.kind)
        expect(await evaluate(evaluator, { flat: succeeding })).toEqual(usual)
      },
    )

    test('gives a script the time it needs where it ends within its budget', async () => {
      const evaluator = open({ patienceMs: { base: 1, budget: 0 } })
      const { ok, engine } = await evaluate(evaluator, { flat: counting(4_000n) })
      expect({ ok, engine }).toEqual({ ok: true, engine: 'scalus' })
      expect(await usedBy(shared, counting(4_000n))).toEqual(await usedBy(evaluator, counting(4_000n)))
    })

    test('says that no engine could judge where time does not suffice at all', async () => {
      const evaluator = open({ patienceMs: { base: 1, budget: 0 }, timeLimitMs: 1 })
      const { ok, failure } = await evaluate(evaluator, { flat: counting(4_000n) })
      expect({ ok, failure }).toMatchObject({
        ok: false,
        failure: { kind: 'EngineFailure', reason: 'timeout' },
      })
    })

    test('keeps 200 evaluations side by side apart', async () => {
      const evaluator = open({ threads: 2 })
      const rounds = Array.from({ length: 200 }, (_, i) => i % 10)
      const results = await Promise.all(
        rounds.map((i) => evaluate(evaluator, { flat: i === 9 ? failing : counting(BigInt(i)) })),
      )
      const alone = await usedBy(evaluator, counting(0n))
      const round = (await usedBy(evaluator, counting(1n))).memory - alone.memory
      results.forEach((result, place) => {
        const i = rounds[place] ?? 0
        expect(result.ok).toBe(i !== 9)
        if (i === 9) return
        expect(result.redeemers[0]?.outcome).toMatchObject({
          used: { memory: alone.memory + BigInt(i) * round },
        })
      })
    })

    test('lets others pass a bomb', async () => {
      const evaluator = open({ threads: 2, patienceMs: { base: 1_500, budget: 0 } })
      const order: string[] = []
      const bomb = evaluate(evaluator, { flat: bombs.steps ?? failing }).then(() => order.push('bomb'))
      const others = [1, 2, 3, 4].map(() =>
        evaluate(evaluator, { flat: succeeding }).then(() => order.push('other')),
      )
      await Promise.all([bomb, ...others])
      expect(order).toEqual(['other', 'other', 'other', 'other', 'bomb'])
    })

    test('refuses more than may wait', async () => {
      const evaluator = open({ queueLimit: 2 })
      const asked = [1, 2, 3, 4].map(() => evaluate(evaluator, { flat: succeeding }))
      const settled = await Promise.allSettled(asked)
      expect(settled.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'fulfilled', 'rejected'])
      await expect(asked[3]).rejects.toBeInstanceOf(EvaluatorBusyError)
    })

    test('ends what runs and what waits when it is closed', async () => {
      const evaluator = open()
      const asked = [bombs.steps ?? failing, succeeding, succeeding].map((flat) =>
        evaluate(evaluator, { flat }),
      )
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
