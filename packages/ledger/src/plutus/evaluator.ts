import { availableParallelism } from 'node:os'
import { toHex } from '@ratatosk/cbor'
import { createCostModelReader } from '../parameters/parse.js'
import type { SlotConfig } from '../parameters/types.js'
import { type Resolution, type ResolvedInput, resolve } from '../rules/context.js'
import type {
  EvaluationFailure,
  EvaluationResult,
  Evaluator,
  EvaluatorOptions,
  RedeemerOutcome,
  RedeemerPointer,
  RedeemerResult,
} from '../rules/script-evaluator.js'
import { type ScriptUse, scriptUse } from '../rules/script-use.js'
import { encodeOutputReference } from '../transaction/output-reference.js'
import type { Redeemer, Script, Transaction } from '../transaction/types.js'
import type { EngineRequest } from './engine.js'
import { createEnginePool, evaluatorClosed, type PoolAnswer } from './engine-pool.js'
import { isPlutusScript } from './flat/program.js'

/**
 * Creates an evaluator that runs Plutus scripts in worker threads. Threads start when they are needed; call
 * `close` to terminate them.
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
      if (closed) throw evaluatorClosed()
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
      const { major } = parameters.ledgerVersion
      const malformed = findMalformed(scriptUse(transaction, resolution), major)
      if (malformed !== undefined) return failedResult(redeemers, malformed)

      const request = engineRequest(transaction, inputs, costs.models, slots, major)
      return resultOf(redeemers, await pool.run(request, timeLimitMs))
    },
    close() {
      closed = true
      return pool.close()
    },
  }
}

/** The inputs that scripts see: inputs and reference inputs, each once, without collateral. */
export function visibleInputs({ inputs, referenceInputs }: Resolution): readonly ResolvedInput[] {
  const visible = new Map<string, ResolvedInput>()
  for (const input of [...inputs, ...referenceInputs]) visible.set(input.key, input)
  return [...visible.values()]
}

/** @param inputs {@link visibleInputs} with all their outputs */
export function engineRequest(
  transaction: Transaction,
  inputs: readonly ResolvedInput[],
  costModels: readonly BigInt64Array[],
  slots: SlotConfig,
  protocolMajor: number,
): EngineRequest {
  return {
    // Copies the bytes, because posting a view to a thread copies its whole buffer.
    transaction: Uint8Array.from(transaction.bytes),
    inputs: inputs.map(({ reference }) => encodeOutputReference(reference)),
    outputs: inputs.map(({ output }) => Uint8Array.from(output?.bytes ?? [])),
    costModels,
    slots: { zeroTime: slots.zeroTime, zeroSlot: slots.zeroSlot, slotLength: slots.slotLength },
    protocolMajor,
  }
}

/** Converts the answer of an engine to the outcomes of the redeemers. */
function resultOf(redeemers: readonly Redeemer[], answer: PoolAnswer): EvaluationResult {
  if (answer.kind === 'failed') {
    const { message, logs, overBudget, used, redeemer: pointer } = answer
    const failed = redeemers.find((redeemer) => pointer !== undefined && isSame(redeemer, pointer))
    if (overBudget && failed !== undefined) {
      const { executionUnits: declared } = failed
      const failure = { kind: 'BudgetExceeded', message, declared, logs } as const
      return failedResult(redeemers, used === undefined ? failure : { ...failure, used }, failed)
    }
    return failedResult(redeemers, { kind: 'ScriptFailure', message, logs }, failed)
  }
  if (answer.kind !== 'evaluated') {
    return failedResult(redeemers, { kind: 'EngineFailure', reason: answer.kind, message: answer.message })
  }
  const results = redeemers.map((redeemer): RedeemerResult => {
    const evaluated = answer.redeemers.find((each) => isSame(each, redeemer))
    return result(
      redeemer,
      evaluated === undefined ? unnamed(redeemer) : { kind: 'Succeeded', used: evaluated.used },
    )
  })
  const failure = results.map(({ outcome }) => outcome).find(isFailure)
  return failure === undefined ? { ok: true, redeemers: results } : { ok: false, redeemers: results, failure }
}

/** The result of a failure. `failed` is its redeemer, if any; the others are not reached. */
function failedResult(
  redeemers: readonly Redeemer[],
  failure: EvaluationFailure,
  failed?: Redeemer,
): EvaluationResult {
  return {
    ok: false,
    redeemers: redeemers.map((redeemer) =>
      result(redeemer, redeemer === failed ? failure : { kind: 'NotReached' }),
    ),
    failure,
  }
}

function result({ purpose, index, executionUnits }: Redeemer, outcome: RedeemerOutcome): RedeemerResult {
  return { purpose, index, declared: executionUnits, outcome }
}

/** Cannot happen after phase 1, which ensures that every redeemer has a script. */
function unnamed({ purpose, index }: RedeemerPointer): EvaluationFailure {
  return {
    kind: 'EngineFailure',
    reason: 'refused',
    message: `There is no script to run for ${purpose} ${index}`,
  }
}

function isFailure(outcome: RedeemerOutcome): outcome is EvaluationFailure {
  return outcome.kind !== 'Succeeded' && outcome.kind !== 'NotReached'
}

function isSame(a: RedeemerPointer, b: RedeemerPointer): boolean {
  return a.purpose === b.purpose && a.index === b.index
}

/** Number of well-formed scripts to remember; 20,000 hashes take a few megabytes. */
const remembered = 20_000

/** Finds the first script that has to run and that the ledger cannot decode at a ledger version. */
type ScriptCheck = (use: ScriptUse, protocolMajor: number) => EvaluationFailure | undefined

/**
 * Checks each script first, because the CEK machine accepts scripts that the ledger refuses to decode, such
 * as those with later builtins. The hashes of well-formed scripts are remembered.
 */
function createScriptCheck(): ScriptCheck {
  const readable = new Set<string>()
  return (use, protocolMajor) => {
    for (const { language, hash, bytes } of plutusScripts(use)) {
      const scriptHash = toHex(hash)
      const key = `${scriptHash}@${protocolMajor}`
      if (readable.has(key)) continue
      if (!isPlutusScript(bytes, language, protocolMajor)) {
        return {
          kind: 'MalformedScript',
          message: `${language} script ${scriptHash} cannot be read`,
          scriptHash,
        }
      }
      if (readable.size >= remembered) readable.clear()
      readable.add(key)
    }
    return undefined
  }
}

type PlutusScript = Exclude<Script, { readonly language: 'native' }>

function plutusScripts({ neededHashes, provided }: ScriptUse): readonly PlutusScript[] {
  const scripts: PlutusScript[] = []
  for (const hash of neededHashes) {
    const script = provided.get(hash)
    if (script !== undefined && script.language !== 'native') scripts.push(script)
  }
  return scripts
}
