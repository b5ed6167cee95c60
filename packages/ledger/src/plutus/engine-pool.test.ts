import { expect, onTestFinished, test } from 'vitest'
import { engineCostModels } from '../parameters/parse.js'
import { resolve } from '../rules/context.js'
import type { ExecutionUnits } from '../rules/script-evaluator.js'
import type { EngineRequest } from './engine.js'
import { createEnginePool, type EnginePool } from './engine-pool.js'
import { engineRequest, visibleInputs } from './evaluator.js'
import { bombs, mintTransaction, succeeding } from './test/programs.js'
import { describeVectors, scenarioParameters, threadProgram } from './test/setup.js'

const slots = { zeroTime: 0n, zeroSlot: 0n, slotLength: 1000 }

function open(memoryLimitMb = 128): EnginePool {
  const pool = createEnginePool({ memoryLimitMb, threads: 1, queueLimit: 1_000, program: threadProgram })
  onTestFinished(() => pool.close())
  return pool
}

describeVectors(
  ['ledger-scenarios'],
  'createEnginePool (needs the cost models of ledger-scenarios)',
  (scenarios) => {
    const parameters = scenarioParameters(scenarios, 'preprod-conway-v10', 10)

    function request(flat: Uint8Array, declared?: ExecutionUnits): EngineRequest {
      const { transaction, utxos } = mintTransaction({ flat, ...(declared && { declared }) })
      const inputs = visibleInputs(resolve(transaction, utxos))
      return engineRequest(transaction, inputs, engineCostModels(parameters), slots, 10)
    }

    const valid = request(succeeding)
    const evaluated = {
      kind: 'evaluated',
      redeemers: [{ purpose: 'mint', index: 0, used: { memory: 500n, steps: 64_100n } }],
    }

    /** More than any network allows, so that only the limits of the thread apply. */
    const ample = { memory: 10n ** 15n, steps: 10n ** 18n }

    test('replaces an engine that throws, twenty times', async () => {
      const pool = open()
      // The evaluator never sends a request without its parts.
      const broken = { transaction: valid.transaction } as EngineRequest
      for (let i = 0; i < 20; i++) {
        expect((await pool.run(broken, 10_000)).kind).toBe('crashed')
        expect(await pool.run(valid, 10_000)).toEqual(evaluated)
      }
    })

    test('terminates an engine that exceeds its time limit', async () => {
      const pool = open()
      expect((await pool.run(request(bombs.steps, ample), 100)).kind).toBe('timeout')
      expect(await pool.run(valid, 10_000)).toEqual(evaluated)
    })

    test('terminates a thread that exceeds its memory limit', async () => {
      const pool = open(48)
      expect((await pool.run(request(bombs.stack, ample), 60_000)).kind).toBe('memory')
      expect(await pool.run(valid, 10_000)).toEqual(evaluated)
    })

    test('completes requests in order', async () => {
      const pool = open()
      const order: number[] = []
      await Promise.all([0, 1, 2, 3].map(async (i) => pool.run(valid, 10_000).then(() => order.push(i))))
      expect(order).toEqual([0, 1, 2, 3])
    })

    test('reports a missing thread program', async () => {
      const pool = createEnginePool({
        memoryLimitMb: 64,
        threads: 1,
        queueLimit: 1,
        program: new URL('file:///nowhere.js'),
      })
      onTestFinished(() => pool.close())
      expect(await pool.run(valid, 1_000)).toMatchObject({
        kind: 'crashed',
        message: expect.stringContaining('nowhere'),
      })
    })
  },
)
