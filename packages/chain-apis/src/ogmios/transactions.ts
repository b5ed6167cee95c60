import { fromHex, isDecodeError } from '@ratatosk/cbor'
import { outputReferenceKey, type TransactionOutput } from '@ratatosk/ledger'
import type { EvaluationFailure, RedeemerPointer } from '@ratatosk/ledger/plutus'
import {
  type AdditionalOutput,
  maxAdditionalOutputs,
  quantity,
  writeAdditionalOutput,
} from '../evaluation/additional-output.js'
import { isObject, type JsonObject } from '../json.js'
import type { ChainView, ScriptEvaluation } from '../view/chain-view.js'
import { purposes, referenceJson } from './json/output-json.js'
import { submitFailure } from './json/submit-failure.js'
import { networkName } from './queries.js'
import { invalidParams, RpcError, type RpcErrorObject, type RpcRequest, unavailable } from './rpc.js'

export async function submitTransaction(chain: ChainView, params: RpcRequest['params']): Promise<unknown> {
  const slot = chain.currentSlot()
  const result = await chain.submit(readCbor(params))
  if (result.kind === 'malformed') throw malformed(result.message)
  if (result.kind === 'accepted') return { transaction: { id: result.hash } }
  if (result.kind === 'undecided') {
    throw new RpcError(unavailable, result.message, { retryAfterMilliseconds: result.retryAfterMs })
  }
  const { failures, transaction } = result
  const { inputs, collateralInputs } = transaction.body
  const { code, message, data } = submitFailure(failures, {
    transaction,
    utxos: await chain.pendingOutputs([...inputs, ...collateralInputs].map(outputReferenceKey)),
    keyDeposit: chain.parameters.keyDeposit,
    network: networkName(chain),
    slot,
  })
  throw new RpcError(code, message, data)
}

export async function evaluateTransaction(
  chain: ChainView,
  params: RpcRequest['params'],
  signal: AbortSignal,
): Promise<unknown> {
  const cbor = readCbor(params)
  const evaluation = await chain.evaluate(
    cbor,
    readAdditionalUtxo(params.additionalUtxo, chain.parameters.maxValueSize),
    signal,
  )
  switch (evaluation.kind) {
    case 'malformed':
      throw malformed(evaluation.message)
    case 'busy':
      throw new RpcError(unavailable, 'Too many evaluations are running. Try again in a second.')
    case 'overlapping-outputs':
      throw new RpcError(3002, 'Some additional outputs conflict with outputs of the chain.', {
        overlappingOutputReferences: evaluation.references.map(referenceJson),
      })
    case 'unknown-inputs':
      throw scriptFailures([
        { validator: { purpose: 'spend', index: 0 }, error: unknownInputs(evaluation.references) },
      ])
    case 'evaluated':
      return evaluated(evaluation)
  }
}

function evaluated({ result }: Extract<ScriptEvaluation, { kind: 'evaluated' }>): unknown {
  const { ok, redeemers, failure } = result
  if (failure?.kind === 'EngineFailure' || failure?.kind === 'InvalidCostModel') {
    throw new RpcError(3004, 'The scripts could not be evaluated.', { reason: failure.message })
  }
  if (ok) {
    return redeemers.flatMap(({ outcome, ...pointer }) =>
      outcome.kind === 'Succeeded'
        ? [
            {
              validator: validator(pointer),
              budget: { memory: outcome.used.memory, cpu: outcome.used.steps },
            },
          ]
        : [],
    )
  }
  const failures = redeemers.flatMap(({ outcome, ...pointer }) =>
    outcome.kind === 'Succeeded' || outcome.kind === 'NotReached'
      ? []
      : [{ validator: validator(pointer), error: scriptFailure(outcome) }],
  )
  const [first] = redeemers
  if (failures.length === 0 && failure !== undefined && first !== undefined) {
    failures.push({ validator: validator(first), error: scriptFailure(failure) })
  }
  throw scriptFailures(failures)
}

function scriptFailures(
  failures: readonly { readonly validator: unknown; readonly error: RpcErrorObject }[],
) {
  return new RpcError(3010, 'Some scripts of the transactions terminated with error(s).', failures)
}

function scriptFailure(failure: EvaluationFailure): RpcErrorObject {
  if (failure.kind === 'BudgetExceeded') {
    const { memory, steps } = failure.used ?? failure.declared
    return { code: 3161, message: failure.message, data: { budgetUsed: { memory, cpu: steps } } }
  }
  return {
    code: 3012,
    message: 'A script failed. See "data.validationError" for the reason and "data.traces" for its traces.',
    data: { validationError: failure.message, traces: 'logs' in failure ? failure.logs : [] },
  }
}

function unknownInputs(references: readonly string[]): RpcErrorObject {
  return {
    code: 3117,
    message: 'The transaction references outputs that are unknown or spent.',
    data: { unknownOutputReferences: references.map(referenceJson) },
  }
}

function validator({ purpose, index }: RedeemerPointer) {
  return { purpose: purposes[purpose], index }
}

function malformed(reason: string): RpcError {
  const eras = { shelley: '', allegra: '', mary: '', alonzo: '', babbage: '', conway: reason }
  return new RpcError(-32602, 'Invalid transaction: it does not decode in any era.', eras)
}

function readCbor({ transaction }: RpcRequest['params']): Uint8Array {
  const cbor = isObject(transaction) ? transaction.cbor : undefined
  if (typeof cbor !== 'string') throw invalidParams('"transaction.cbor" must be a string.')
  if (/^([0-9a-fA-F]{2})*$/.test(cbor)) return fromHex(cbor)
  throw malformed('not in base16')
}

function readAdditionalUtxo(json: unknown, maxValueSize: number): Map<string, TransactionOutput> {
  if (json === undefined || json === null) return new Map()
  if (!Array.isArray(json)) throw invalidParams('"additionalUtxo" must be an array.')
  if (json.length > maxAdditionalOutputs) {
    throw invalidParams(`"additionalUtxo" may have at most ${maxAdditionalOutputs} entries.`)
  }
  try {
    return new Map(json.map((entry) => readEntry(entry, maxValueSize)))
  } catch (error) {
    if (isDecodeError(error) || error instanceof RangeError || error instanceof SyntaxError) {
      throw invalidParams(`An entry of "additionalUtxo" is not a valid output: ${error.message}`)
    }
    throw error
  }
}

function readEntry(entry: unknown, maxValueSize: number): [string, TransactionOutput] {
  const { transaction, index, ...output } = isObject(entry) ? entry : {}
  const id = isObject(transaction) ? transaction.id : undefined
  if (typeof id !== 'string' || !/^[0-9a-fA-F]{64}$/.test(id) || !Number.isSafeInteger(index)) {
    throw invalidParams('Every entry of "additionalUtxo" must have { "transaction": { "id" }, "index" }.')
  }
  return [`${id.toLowerCase()}#${index}`, writeAdditionalOutput(readOutput(output), maxValueSize)]
}

function readOutput({ address, value, datum, datumHash, script }: Record<string, unknown>): AdditionalOutput {
  const { ada, ...policies } = isObject(value) ? value : {}
  return {
    address: String(address),
    lovelace: quantity(isObject(ada) ? ada.lovelace : undefined),
    assets: readAssets(policies),
    datum: typeof datum === 'string' ? datum : undefined,
    datumHash: typeof datumHash === 'string' ? datumHash : undefined,
    script: readScript(script),
  }
}

function* readAssets(policies: JsonObject): AdditionalOutput['assets'] {
  for (const [policy, names] of Object.entries(policies)) {
    for (const [name, amount] of Object.entries(isObject(names) ? names : {})) {
      yield [policy, name, quantity(amount)]
    }
  }
}

function readScript(script: unknown): AdditionalOutput['script'] {
  if (!isObject(script) || typeof script.cbor !== 'string') return undefined
  const language = { native: 'native', 'plutus:v1': 'v1', 'plutus:v2': 'v2', 'plutus:v3': 'v3' } as const
  const name = String(script.language)
  if (!Object.hasOwn(language, name)) throw new RangeError(`unknown script language: ${name}`)
  return { language: language[name as keyof typeof language], cbor: script.cbor }
}
