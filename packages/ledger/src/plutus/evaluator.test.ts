import { afterAll, expect, onTestFinished, test } from 'vitest'
import type { Evaluator, EvaluatorOptions } from '../rules/script-evaluator.js'
import { describeVectors } from '../test/describe-vectors.js'
import { createEvaluator } from './evaluator.js'
import { evaluateMint, type Mint, mintTransaction } from './test/mint.js'
import { scenarioParameters } from './test/parameters.js'
import {
  counting,
  ofLedgerVersion11,
  openTerm,
  returningFalse,
  returningFalseOfTwo,
  succeeding,
  tracing,
  wants42,
} from './test/programs.js'
import { threadProgram } from './test/thread-program.js'

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
