import { afterAll, expect, test } from 'vitest'
import { engineCostModels } from '../../../parameters/cost-models.js'
import { resolve } from '../../../rules/resolution.js'
import { describeVectors } from '../../../test/describe-vectors.js'
import type { RedeemerPurpose } from '../../../transaction/types.js'
import { createEnginePool, type EnginePool } from '../../engine-pool.js'
import { engineRequest, visibleInputs } from '../../evaluator.js'
import { scenarioParameters } from '../../test/parameters.js'
import { purposes, richTransaction, type Shown } from '../../test/rich-transaction.js'
import type { SecondOpinion } from '../../test/second-opinion-thread.js'
import { secondOpinionProgram, threadProgram } from '../../test/thread-program.js'

const slots = { zeroTime: 1_655_769_600_000n, zeroSlot: 86_400n, slotLength: 1000 }

/** Plutus V1 has no builtin that serializes its context; the vectors cover it. */
describeVectors(
  ['ledger-scenarios'],
  'script contexts (need the cost models of ledger-scenarios)',
  (scenarios) => {
    const parameters = scenarioParameters(scenarios, 'preprod-conway-v10', 10)
    const open = (program: URL, engine?: SecondOpinion) =>
      createEnginePool({
        threads: 1,
        memoryLimitMb: 256,
        queueLimit: 100,
        program,
        ...(engine && { workerData: { engine } }),
      })
    const cek = open(threadProgram)
    const scalus = open(secondOpinionProgram, 'scalus')
    const aiken = open(secondOpinionProgram, 'aiken')
    afterAll(() => Promise.all([cek, scalus, aiken].map((pool) => pool.close())))

    /** The hash of the script context that an engine builds, traced by the script. */
    async function shown(
      pool: EnginePool,
      ...[language, purpose, options]: Parameters<typeof richTransaction>
    ) {
      const { transaction, utxos } = richTransaction(language, purpose, options)
      const inputs = visibleInputs(resolve(transaction, utxos))
      const request = engineRequest(transaction, inputs, engineCostModels(parameters), slots, 10)
      const answer = await pool.run(request, 60_000)
      expect(answer).toMatchObject({ kind: 'failed', logs: [expect.stringMatching(/^[0-9a-f]{64}$/)] })
      return answer.kind === 'failed' ? answer.logs[0] : undefined
    }

    const all: [Shown, RedeemerPurpose][] = [
      ...purposes.slice(0, 4).map((purpose): [Shown, RedeemerPurpose] => ['PlutusV2', purpose]),
      ...purposes.map((purpose): [Shown, RedeemerPurpose] => ['PlutusV3', purpose]),
    ]

    test.each(all)('%s, %s: byte for byte as in scalus', async (...what) => {
      expect(await shown(cek, ...what)).toBe(await shown(scalus, ...what))
    })

    test.each(all.filter(([, purpose]) => !['cert', 'propose'].includes(purpose)))(
      '%s, %s: byte for byte as in Aiken',
      async (...what) => {
        const options = { asAikenTakes: true }
        expect(await shown(cek, ...what, options)).toBe(await shown(aiken, ...what, options))
      },
    )
  },
)
