import { fromHex, isDecodeError, type TransactionOutput } from '@ratatosk/ledger'
import type { EvaluationFailure, RedeemerPointer } from '@ratatosk/ledger/plutus'
import type { Devnet, Evaluation } from '../../types.js'
import { type AdditionalOutput, quantity, writeAdditionalOutput } from '../additional-output.js'
import { purposes, referenceJson } from './output-json.js'
import { invalidParams, isObject, RpcError, type RpcErrorObject, type RpcRequest } from './rpc.js'
import { submitFailure } from './submit-failure.js'

const missingScript = 'A script of the transaction could not be evaluated.'

export async function submitTransaction(devnet: Devnet, params: RpcRequest['params']): Promise<unknown> {
  const slot = devnet.currentSlot()
  const submission = await devnet.submit(readCbor(params))
  if (submission.kind === 'malformed') throw malformed(submission.message)
  if (submission.kind === 'accepted') return { transaction: { id: submission.hash } }
  const { failures, transaction } = submission
  const { code, message, data } = submitFailure(failures, {
    transaction,
    utxos: devnet.pending,
    keyDeposit: devnet.parameters.keyDeposit,
    slot,
  })
  throw new RpcError(code, message, data)
}

export async function evaluateTransaction(devnet: Devnet, params: RpcRequest['params']): Promise<unknown> {
  const cbor = readCbor(params)
  const evaluation = await devnet.evaluate(cbor, readAdditionalUtxo(params.additionalUtxo))
  switch (evaluation.kind) {
    case 'malformed':
      throw malformed(evaluation.message)
    case 'overlapping-outputs':
      throw new RpcError(3002, 'Some of the additional outputs are on the chain already.', {
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

function evaluated({ result }: Extract<Evaluation, { kind: 'evaluated' }>): unknown {
  const { ok, redeemers, failure } = result
  if (failure?.kind === 'EngineFailure' || failure?.kind === 'InvalidCostModel') {
    throw new RpcError(3004, missingScript, { reason: failure.message })
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
    message: 'A script failed. "data.validationError" says why, "data.traces" what it traced.',
    data: { validationError: failure.message, traces: 'logs' in failure ? failure.logs : [] },
  }
}

function unknownInputs(references: readonly string[]): RpcErrorObject {
  return {
    code: 3117,
    message: 'The transaction names outputs that are unknown or spent.',
    data: { unknownOutputReferences: references.map(referenceJson) },
  }
}

function validator({ purpose, index }: RedeemerPointer) {
  return { purpose: purposes[purpose], index }
}

function malformed(reason: string): RpcError {
  const eras = { shelley: '', allegra: '', mary: '', alonzo: '', babbage: '', conway: reason }
  return new RpcError(-32602, 'Invalid transaction: it is none of any known era.', eras)
}

function readCbor({ transaction }: RpcRequest['params']): Uint8Array {
  const cbor = isObject(transaction) ? transaction.cbor : undefined
  if (typeof cbor !== 'string') throw invalidParams('"transaction.cbor" must be a text.')
  if (/^([0-9a-fA-F]{2})*$/.test(cbor)) return fromHex(cbor)
  throw malformed('not in base16')
}

function readAdditionalUtxo(json: unknown): Map<string, TransactionOutput> {
  if (json === undefined || json === null) return new Map()
  if (!Array.isArray(json)) throw invalidParams('"additionalUtxo" must be an array.')
  return new Map(
    json.map((entry: unknown) => {
      const { transaction, index, ...output } = isObject(entry) ? entry : {}
      const id = isObject(transaction) ? transaction.id : undefined
      if (typeof id !== 'string' || !/^[0-9a-fA-F]{64}$/.test(id) || !Number.isSafeInteger(index)) {
        throw invalidParams('Each of "additionalUtxo" must have { "transaction": { "id" }, "index" }.')
      }
      try {
        return [`${id.toLowerCase()}#${index}`, writeAdditionalOutput(readOutput(output))]
      } catch (error) {
        if (isDecodeError(error) || error instanceof RangeError || error instanceof SyntaxError) {
          throw invalidParams(`One of "additionalUtxo" is no output: ${error.message}`)
        }
        throw error
      }
    }),
  )
}

function readOutput({ address, value, datum, datumHash, script }: Record<string, unknown>): AdditionalOutput {
  const { ada, ...policies } = isObject(value) ? value : {}
  return {
    address: String(address),
    lovelace: quantity(isObject(ada) ? ada.lovelace : undefined),
    assets: Object.entries(policies).flatMap(([policy, names]) =>
      Object.entries(isObject(names) ? names : {}).map(
        ([name, amount]) => [policy, name, quantity(amount)] as const,
      ),
    ),
    datum: typeof datum === 'string' ? datum : undefined,
    datumHash: typeof datumHash === 'string' ? datumHash : undefined,
    script: readScript(script),
  }
}

function readScript(script: unknown): AdditionalOutput['script'] {
  if (!isObject(script) || typeof script.cbor !== 'string') return undefined
  const language = { native: 'native', 'plutus:v1': 'v1', 'plutus:v2': 'v2', 'plutus:v3': 'v3' } as const
  const name = String(script.language)
  if (!Object.hasOwn(language, name)) throw new RangeError(`a script in an unknown language: ${name}`)
  return { language: language[name as keyof typeof language], cbor: script.cbor }
}
