import { availableParallelism } from 'node:os'
import { resolve } from '../rules/resolution.js'
import { scriptUse } from '../rules/script-use.js'
import { createCostModelReader } from './cost-models.js'
import { createEnginePool } from './engine-pool.js'
import { EvaluatorClosedError } from './errors.js'
import { engineRequest, plutusScripts, visibleInputs } from './request.js'
import { failedResult, judgedResult } from './result.js'
import { createScriptCheck } from './script-check.js'
import type { Evaluator, EvaluatorOptions } from './types.js'

/**
 * Opens the door to the Plutus machine. Threads start with the first transaction that needs one.
 *
 * @example
 * ```ts
 * const evaluator = createEvaluator({ threads: 2 })
 * const result = await evaluator.evaluate(transaction, utxos, parameters, slots)
 * if (!result.ok) console.log(result.failure)
 * await evaluator.close()
 * ```
 */
export function createEvaluator(options: EvaluatorOptions = {}): Evaluator {
  const { timeLimitMs = 10_000 } = options
  const pool = createEnginePool({
    threads: options.threads ?? Math.min(4, Math.max(1, availableParallelism() - 1)),
    memoryLimitMb: options.memoryLimitMb ?? 256,
    queueLimit: options.queueLimit ?? 10_000,
    program: options.threadProgram ?? new URL('./engine-thread.js', import.meta.url),
  })
  const readCostModels = createCostModelReader()
  const findMalformed = createScriptCheck()
  let closed = false

  return {
    async evaluate(transaction, utxos, parameters, slots) {
      if (closed) throw new EvaluatorClosedError()
      const { redeemers } = transaction.witnesses
      if (redeemers.length === 0) return { ok: true, redeemers: [] }

      const costs = readCostModels(parameters)
      if ('problem' in costs) {
        return failedResult(redeemers, { kind: 'InvalidCostModel', message: costs.problem })
      }
      const resolution = resolve(transaction, utxos)
      const inputs = visibleInputs(resolution)
      const missing = inputs.find(({ output }) => output === undefined)
      if (missing !== undefined) {
        const message = `The output ${missing.key} is not among those given`
        return failedResult(redeemers, { kind: 'MissingInput', message })
      }
      const { major } = parameters.protocolVersion
      const malformed = findMalformed(plutusScripts(scriptUse(transaction, resolution)), major)
      if (malformed !== undefined) return failedResult(redeemers, malformed)

      const request = engineRequest(transaction, inputs, costs.models, slots, major)
      return judgedResult(redeemers, await pool.run(request, timeLimitMs))
    },
    close() {
      closed = true
      return pool.close()
    },
  }
}
