import { toHex } from '../../bytes.js'
import { isDecodeError } from '../../errors.js'
import { FlatError } from '../../rules/flat/bit-reader.js'
import { resolve } from '../../rules/resolution.js'
import { scriptUse } from '../../rules/script-use.js'
import { decodeTransaction, decodeTransactionOutput } from '../../transaction/decode.js'
import { decodeOutputReference, outputReferenceKey } from '../../transaction/output-reference.js'
import type { PlutusLanguage, TransactionOutput } from '../../transaction/types.js'
import { plutusLanguages } from '../cost-models.js'
import { type Engine, type EngineAnswer, type EngineRequest, shorten, shortenLogs } from '../engine.js'
import { scriptArguments } from './context/arguments.js'
import { UntranslatableError } from './context/parts.js'
import { orderTransaction } from './context/purpose.js'
import { transactionInfo } from './context/transaction-info.js'
import { type CostTable, costTable } from './costs/cost-table.js'
import { createScriptCache, type ScriptCache } from './program/script-cache.js'
import { runScript } from './run-script.js'
import type { Data } from './values/data.js'

/**
 * The machine of this package: exact for Plutus V1 to V3 up to protocol version 11, stops each script at what its own
 * redeemer declares, and remembers decoded scripts.
 */
export function createCekEngine(): Engine {
  const decode = createScriptCache()
  const readCosts = createCostReader()
  return (request) => {
    try {
      return evaluateTransaction(request, decode, readCosts)
    } catch (error) {
      // RangeError: an integer or a text beyond what JavaScript can hold, under a budget that no network allows.
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
  const transaction = decodeTransaction(request.transaction)
  const resolution = resolve(transaction, outputsOf(request))
  const { needs, provided } = scriptUse(transaction, resolution)
  const ordered = orderTransaction(transaction, resolution.inputs, resolution.referenceInputs, protocolMajor)
  const infos = new Map<PlutusLanguage, Data>()
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
      decodeTransactionOutput(outputs[i] ?? new Uint8Array()),
    ]),
  )
}

type CostReader = (language: PlutusLanguage, request: EngineRequest) => CostTable

/** Reads a language's costs again only where the model or the protocol version is another than last time. */
function createCostReader(): CostReader {
  const last = new Map<PlutusLanguage, { model: BigInt64Array; protocolMajor: number; table: CostTable }>()
  return (language, { costModels, protocolMajor }) => {
    const model = costModels[plutusLanguages.indexOf(language)] ?? new BigInt64Array()
    const known = last.get(language)
    if (known?.protocolMajor === protocolMajor && bytesOf(known.model).equals(bytesOf(model)))
      return known.table
    const table = costTable(language, protocolMajor, model)
    last.set(language, { model, protocolMajor, table })
    return table
  }
}

function bytesOf(model: BigInt64Array): Buffer {
  return Buffer.from(model.buffer, model.byteOffset, model.byteLength)
}
