import { availableParallelism } from 'node:os'
import { toHex } from '../bytes.js'
import type { ProtocolParameters } from '../parameters/types.js'
import { resolve } from '../rules/resolution.js'
import { type ScriptUse, scriptUse } from '../rules/script-use.js'
import { createCostModelReader } from './cost-models.js'
import { createEnginePool } from './engine-pool.js'
import type { EngineRequest } from './engines/engine.js'
import { EvaluatorClosedError } from './errors.js'
import { judge, type Pools } from './judge.js'
import { createReputation } from './reputation.js'
import { engineRequest, plutusScripts, visibleInputs } from './request.js'
import { failedResult, judgedResult } from './result.js'
import { createScriptCheck } from './script-check.js'
import type { Evaluator, EvaluatorOptions, RedeemerPointer } from './types.js'

const defaultPatienceMs = { base: 200, budget: 400 }

/**
 * Opens the door to the Plutus engines. Threads start with the first transaction that needs one.
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
  const pools = openPools(options)
  const { timeLimitMs = 10_000, patienceMs = defaultPatienceMs } = options
  const readCostModels = createCostModelReader()
  const findMalformed = createScriptCheck()
  const reputation = createReputation()
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
      const use = scriptUse(transaction, resolution)
      const scripts = plutusScripts(use)
      const malformed = findMalformed(scripts, parameters.protocolVersion.major)
      if (malformed !== undefined) return failedResult(redeemers, malformed)

      const request = engineRequest(
        transaction,
        inputs,
        costs.models,
        slots,
        parameters.protocolVersion.major,
      )
      const hashes = scripts.map(({ hash }) => toHex(hash))
      const patience = patienceMs.base + patienceMs.budget * budgetShare(request, parameters)
      const judgement = await judge(pools, {
        request,
        redeemers,
        needsUnit: scripts.some(({ language }) => language === 'PlutusV3'),
        trusted: reputation.trusts(hashes),
        patienceMs: Math.min(timeLimitMs, patience),
        timeLimitMs,
      })
      const result = judgedResult(redeemers, judgement)
      if (result.ok) reputation.ended(hashes)
      if (judgement.kind === 'failed' && judgement.failedTrust === true) {
        for (const hash of scriptsOf(judgement.redeemer, use)) reputation.failedTrust(hash)
      }
      return result
    },
    async close() {
      closed = true
      await Promise.all(Object.values(pools).map((pool) => pool.close()))
    },
  }
}

function openPools(options: EvaluatorOptions): Pools & { readonly [name: string]: Pools['first'] } {
  const shared = {
    memoryLimitMb: options.memoryLimitMb ?? 256,
    queueLimit: options.queueLimit ?? 10_000,
    program: options.threadProgram ?? new URL('./engine-thread.js', import.meta.url),
  }
  const threads = options.threads ?? Math.min(4, Math.max(1, availableParallelism() - 1))
  return {
    first: createEnginePool({ ...shared, engine: 'scalus', threads }),
    bounded: createEnginePool({ ...shared, engine: 'aiken', threads }),
    patient: createEnginePool({ ...shared, engine: 'scalus', threads: 1 }),
  }
}

/** The script that a redeemer is for; all of them where that is not known. */
function scriptsOf(redeemer: RedeemerPointer | undefined, { needs }: ScriptUse): readonly string[] {
  const those = needs.filter(
    ({ purpose, index }) => purpose === redeemer?.purpose && index === redeemer.index,
  )
  return (those.length > 0 ? those : needs).map(({ scriptHash }) => scriptHash)
}

/** How much of the largest budget that a transaction may declare this one does declare, from 0 to 1. */
function budgetShare(
  { budget }: EngineRequest,
  { maxTransactionExecutionUnits: most }: ProtocolParameters,
): number {
  const share = Math.max(
    Number(budget.memory) / Number(most.memory),
    Number(budget.steps) / Number(most.steps),
  )
  return Math.min(1, share)
}
