import { equalBytes, isDecodeError, toHex } from '@ratatosk/cbor'
import { plutusLanguages } from '../parameters/parse.js'
import { resolve } from '../rules/context.js'
import type { ExecutionUnits } from '../rules/script-evaluator.js'
import { scriptUse } from '../rules/script-use.js'
import { decodeLayer1Output, decodeLayer1Transaction } from '../transaction/decode.js'
import { decodeOutputReference, outputReferenceKey } from '../transaction/output-reference.js'
import type { PlutusLanguage, TransactionOutput } from '../transaction/types.js'
import { UntranslatableError } from './cek/context/parts.js'
import { orderTransaction, scriptArguments, transactionInfo } from './cek/context/transaction-info.js'
import { type CostTable, costTable } from './cek/costs/cost-table.js'
import { BudgetSpent, EvaluationFailure } from './cek/failures.js'
import { evaluate } from './cek/machine.js'
import { Meter } from './cek/meter.js'
import { dataConstant, ValueKind } from './cek/values/constant.js'
import { TypeTag } from './cek/values/constant-type.js'
import type { DataValue } from './cek/values/data.js'
import { apply, constant, type Term } from './cek/values/term.js'
import type { Value } from './cek/values/value.js'
import { type Engine, type EngineAnswer, type EngineRequest, shorten, shortenLogs } from './engine.js'
import { decodeProgram, FlatError, type Program } from './flat/program.js'

/**
 * Creates this package's engine. It is exact for Plutus V1 to V3 up to ledger version 11, stops each script
 * at the budget of its redeemer, and caches decoded scripts.
 */
export function createCekEngine(): Engine {
  const decode = createScriptCache()
  const readCosts = createCostReader()
  return (request) => {
    try {
      return evaluateTransaction(request, decode, readCosts)
    } catch (error) {
      // A RangeError is an integer or text too large for JavaScript, under a budget that no network allows.
      if (isDecodeError(error) || isRefusal(error))
        return { kind: 'refused', message: shorten(error.message) }
      throw error
    }
  }
}

function isRefusal(error: unknown): error is Error {
  return error instanceof UntranslatableError || error instanceof FlatError || error instanceof RangeError
}

function evaluateTransaction(
  request: EngineRequest,
  decode: ScriptCache,
  readCosts: CostReader,
): EngineAnswer {
  const { slots, protocolMajor } = request
  // The caller has decoded transaction and outputs, within its own limits.
  const transaction = decodeLayer1Transaction(request.transaction)
  const resolution = resolve(transaction, outputsOf(request))
  const { needs, provided } = scriptUse(transaction, resolution)
  const ordered = orderTransaction(transaction, resolution.inputs, resolution.referenceInputs, protocolMajor)
  const infos = new Map<PlutusLanguage, DataValue>()
  const evaluated: Extract<EngineAnswer, { kind: 'evaluated' }>['redeemers'][number][] = []

  for (const redeemer of transaction.witnesses.redeemers) {
    const { purpose, index, executionUnits: limit } = redeemer
    const need = needs.find((each) => each.purpose === purpose && each.index === index)
    const script = need === undefined ? undefined : provided.get(need.scriptHash)
    if (script === undefined || script.language === 'native') continue
    const { language } = script
    const info = infos.get(language) ?? transactionInfo(ordered, language, slots)
    infos.set(language, info)
    const outcome = runScript({
      program: decode(toHex(script.hash), script.bytes),
      args: scriptArguments(redeemer, ordered, language, info),
      language,
      protocolMajor,
      costs: readCosts(language, request),
      limit,
    })
    if (outcome.kind === 'failed') {
      const { message, overBudget, used, logs } = outcome
      const failed = {
        kind: 'failed',
        message,
        overBudget,
        logs: shortenLogs(logs),
        redeemer: { purpose, index },
      } as const
      return overBudget ? { ...failed, used } : failed
    }
    evaluated.push({ purpose, index, used: outcome.used })
  }
  return { kind: 'evaluated', redeemers: evaluated }
}

function outputsOf({ inputs, outputs }: EngineRequest): Map<string, TransactionOutput> {
  return new Map(
    inputs.map((input, i) => [
      outputReferenceKey(decodeOutputReference(input)),
      decodeLayer1Output(outputs[i] ?? new Uint8Array()),
    ]),
  )
}

type CostReader = (language: PlutusLanguage, request: EngineRequest) => CostTable

/** Rebuilds the cost table of a language only if the model or the ledger version has changed. */
function createCostReader(): CostReader {
  const last = new Map<PlutusLanguage, { model: BigInt64Array; protocolMajor: number; table: CostTable }>()
  return (language, { costModels, protocolMajor }) => {
    const model = costModels[plutusLanguages.indexOf(language)] ?? new BigInt64Array()
    const known = last.get(language)
    if (known?.protocolMajor === protocolMajor && equalBytes(bytesOf(known.model), bytesOf(model)))
      return known.table
    const table = costTable(language, protocolMajor, model)
    last.set(language, { model, protocolMajor, table })
    return table
  }
}

function bytesOf(model: BigInt64Array): Uint8Array {
  return new Uint8Array(model.buffer, model.byteOffset, model.byteLength)
}

interface ScriptRun {
  readonly program: Program
  readonly args: readonly DataValue[]
  readonly language: PlutusLanguage
  readonly protocolMajor: number
  readonly costs: CostTable
  /** The units that the redeemer declares. The script is stopped when it exceeds them. */
  readonly limit: ExecutionUnits
}

type ScriptOutcome =
  | { readonly kind: 'succeeded'; readonly used: ExecutionUnits }
  | {
      readonly kind: 'failed'
      readonly message: string
      readonly overBudget: boolean
      readonly used: ExecutionUnits
      readonly logs: readonly string[]
    }

/** Runs a script on its arguments as the ledger does. Only Plutus V3 restricts the result. */
function runScript({ program, args, language, protocolMajor, costs, limit }: ScriptRun): ScriptOutcome {
  const logs: string[] = []
  const meter = new Meter(limit)
  const failed = (message: string, overBudget: boolean): ScriptOutcome => ({
    kind: 'failed',
    message,
    overBudget,
    used: meter.used(),
    logs,
  })
  if (!program.closed) return failed('The script has a free variable', false)

  const applied = args.reduce<Term>((fn, data) => apply(fn, constant(dataConstant(data))), program.term)
  const third = language === 'PlutusV3'
  try {
    const value = evaluate(applied, {
      costs,
      meter,
      casesOnConstants: protocolMajor >= 11,
      semantics: {
        bytesAreChecked: third,
        bounded: protocolMajor >= 11,
        trace: (line) => logs.push(line),
      },
    })
    if (third && !isUnit(value)) return failed('The script did not return unit', false)
    return { kind: 'succeeded', used: meter.used() }
  } catch (error) {
    if (error instanceof EvaluationFailure) return failed(error.message, false)
    if (error instanceof BudgetSpent) return failed(error.message, true)
    throw error
  }
}

function isUnit(value: Value): boolean {
  return value.kind === ValueKind.constant && value.type.tag === TypeTag.unit
}

/** Total size of the cached scripts in bytes. Their terms take up to a few hundred times as much. */
const keptBytes = 512 * 1024

/** Decodes a script, unless it is cached by its hash. */
type ScriptCache = (hash: string, bytes: Uint8Array) => Program

/** Caches the programs of the most recently used scripts. */
function createScriptCache(): ScriptCache {
  const programs = new Map<string, { readonly program: Program; readonly size: number }>()
  let kept = 0
  return (hash, bytes) => {
    const known = programs.get(hash)
    if (known !== undefined) {
      programs.delete(hash)
      programs.set(hash, known)
      return known.program
    }
    const program = decodeProgram(bytes)
    programs.set(hash, { program, size: bytes.length })
    kept += bytes.length
    for (const [oldest, { size }] of programs) {
      if (kept <= keptBytes || oldest === hash) break
      programs.delete(oldest)
      kept -= size
    }
    return program
  }
}
