import { randomUUID } from 'node:crypto'
import type {
  Failures,
  PredicateFailure,
  RedeemerFault,
  RedeemerPurpose,
  TransactionOutput,
} from '@ratatosk/ledger'
import type { EvaluationFailure, EvaluationResult, RedeemerPointer } from '@ratatosk/ledger/plutus'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { readAdditionalOutputs } from '../../evaluation/additional-outputs.js'
import { InvalidInputError, maxRequestLength, readFields, readText } from '../../input.js'
import { encodeJson, parseJson } from '../../json.js'
import { clientSignal } from '../../long-lists.js'
import * as ogmios from '../../ogmios/json/evaluation-json.js'
import { contextReason, unknownInput } from '../../ogmios/json/evaluation-json.js'
import { plutusLanguages } from '../../ogmios/json/transaction-json.js'
import { failure, RpcError, success } from '../../ogmios/rpc.js'
import { malformed } from '../../ogmios/transactions.js'
import { envelopeHint, hexBytes, isMaryTransaction, textOf } from '../../transaction-bytes.js'
import type { ChainView, ScriptEvaluation } from '../../view/chain-view.js'
import { BlockfrostError } from '../errors.js'

export function addSubmitRoute(fastify: FastifyInstance, chain: ChainView, status: 200 | 202): void {
  fastify.post<{ Body: unknown }>(
    '/tx/submit',
    { config: { operation: 'submit' } },
    async ({ body }, reply) => {
      if (!Buffer.isBuffer(body)) {
        const hint = envelopeHint(JSON.stringify(body) ?? '')
        throw new BlockfrostError(400, hint ?? 'Content-Type must be application/cbor')
      }
      const result = await chain.submit(readBody(body))
      if (result.kind === 'malformed') throw new BlockfrostError(400, malformedMessage(result.message))
      if (result.kind === 'rejected') throw new BlockfrostError(400, rejectionMessage(result.failures))
      if (result.kind === 'undecided') {
        reply.header('retry-after', String(Math.ceil(result.retryAfterMs / 1000)))
        throw new BlockfrostError(503, result.message)
      }
      return reply.code(status).send(JSON.stringify(result.hash))
    },
  )
}

/** Mesh sends hex to Yaci. */
function readBody(body: Buffer): Uint8Array {
  const text = textOf(body)
  if (text === undefined) return body
  const hint = envelopeHint(text)
  if (hint !== undefined) throw new BlockfrostError(400, hint)
  return hexBytes(text) ?? body
}

/** The message for bytes that do not decode, in the format of cardano-submit-api. */
function malformedMessage(reason: string): string {
  return JSON.stringify({
    contents: { contents: [`DecoderErrorDeserialiseFailure "Conway" (${reason})`], tag: 'TxReadError' },
    tag: 'TxSubmitFail',
  })
}

/**
 * The message for a rejected transaction, in the format of cardano-submit-api that Blockfrost passes on:
 * nested JSON with the ledger's predicate names, which clients search for.
 */
function rejectionMessage(failures: Failures): string {
  return JSON.stringify({
    contents: {
      contents: {
        contents: {
          era: 'ShelleyBasedEraConway',
          error: failures.map(predicateText),
          kind: 'ShelleyTxValidationError',
        },
        tag: 'TxValidationErrorInCardanoMode',
      },
      tag: 'TxCmdTxSubmitValidationError',
    },
    tag: 'TxSubmitFail',
  })
}

/** The rule of the Haskell ledger that reports a predicate; UTXO reports all others. */
const rules: Readonly<Record<string, 'utxow' | 'utxos' | 'certs' | 'deleg' | 'ledger'>> = {
  InvalidWitnessesUTXOW: 'utxow',
  MissingVKeyWitnessesUTXOW: 'utxow',
  MissingScriptWitnessesUTXOW: 'utxow',
  ScriptWitnessNotValidatingUTXOW: 'utxow',
  ExtraneousScriptWitnessesUTXOW: 'utxow',
  MissingTxBodyMetadataHash: 'utxow',
  MissingTxMetadata: 'utxow',
  ConflictingMetadataHash: 'utxow',
  InvalidMetadata: 'utxow',
  MissingRedeemers: 'utxow',
  ExtraRedeemers: 'utxow',
  MissingRequiredDatums: 'utxow',
  NotAllowedSupplementalDatums: 'utxow',
  UnspendableUTxONoDatumHash: 'utxow',
  PPViewHashesDontMatch: 'utxow',
  ScriptIntegrityHashMismatch: 'utxow',
  MalformedScriptWitnesses: 'utxow',
  MalformedReferenceScripts: 'utxow',
  ValidationTagMismatch: 'utxos',
  CollectErrors: 'utxos',
  WithdrawalsNotInRewardsCERTS: 'certs',
  StakeKeyRegisteredDELEG: 'deleg',
  StakeKeyNotRegisteredDELEG: 'deleg',
  IncorrectDepositDELEG: 'deleg',
  ConwayWdrlNotDelegatedToDRep: 'ledger',
}

function predicateText({ predicate, message, details }: PredicateFailure): string {
  const text = `${predicate} (${JSON.stringify({ message, ...details })})`
  switch (rules[predicate]) {
    case 'utxow':
      return `ConwayUtxowFailure (${text})`
    case 'utxos':
      return `ConwayUtxowFailure (UtxoFailure (UtxosFailure (${text})))`
    case 'certs':
      return `ConwayCertsFailure (${text})`
    case 'deleg':
      return `ConwayCertsFailure (CertFailure (DelegFailure (${text})))`
    case 'ledger':
      return text
    default:
      return `ConwayUtxowFailure (UtxoFailure (${text}))`
  }
}

type Evaluated = Exclude<ScriptEvaluation, { kind: 'busy' }>

/** Evaluation as Ogmios 5 answers it, or with `?version=6` as Ogmios 6. */
export function addEvaluateRoutes(fastify: FastifyInstance, chain: ChainView, status: 200 | 202): void {
  const options = { config: { operation: 'evaluate' as const }, bodyLimit: maxRequestLength }

  fastify.post<{ Body: unknown }>('/utils/txs/evaluate', options, async (request, reply) => {
    const answer = answers[versionOf(request)]
    const { body } = request
    if (!Buffer.isBuffer(body)) throw new BlockfrostError(400, 'Content-Type must be application/cbor')
    const text = textOf(body)
    const cbor = text === undefined ? body : readTransaction(text)
    const evaluated = cbor && (await evaluate(clientSignal(reply), cbor))
    return reply
      .code(status)
      .type(json)
      .send(encodeJson(answer(cbor, evaluated)))
  })

  // In a scope of its own, whose parser keeps large integers.
  fastify.register(async (scope) => {
    scope.removeContentTypeParser('application/json')
    scope.addContentTypeParser('application/json', { parseAs: 'string' }, keepText)
    scope.post<{ Body: unknown }>('/utils/txs/evaluate/utxos', options, async (request, reply) => {
      const answer = answers[versionOf(request)]
      const { transaction, additional } = readRequest(request.body)
      const cbor = readTransaction(transaction)
      const evaluated = cbor && (await evaluate(clientSignal(reply), cbor, additional))
      return reply
        .code(status)
        .type(json)
        .send(encodeJson(answer(cbor, evaluated)))
    })
  })

  async function evaluate(
    signal: AbortSignal,
    cbor: Uint8Array,
    additional: ReadonlyMap<string, TransactionOutput> = new Map(),
  ): Promise<Evaluated> {
    const evaluation = await chain.evaluate(cbor, additional, signal)
    if (evaluation.kind !== 'busy') return evaluation
    throw new BlockfrostError(503, 'Too many evaluations are running. Try again in a second.')
  }

  function readRequest(body: unknown) {
    try {
      const request = parseJson(String(body))
      const { cbor, additionalUtxoSet } = readFields(request, 'body', requestFields)
      if (cbor === undefined) throw new BlockfrostError(400, 'body must have required property "cbor"')
      return {
        transaction: readText(cbor, 'cbor'),
        additional: readAdditionalOutputs(additionalUtxoSet ?? [], 'additionalUtxoSet', {
          dialect: 'blockfrost',
          maxValueSize: chain.parameters.maxValueSize,
        }),
      }
    } catch (error) {
      if (error instanceof SyntaxError) throw new BlockfrostError(400, 'Body is not valid JSON')
      if (error instanceof InvalidInputError) throw new BlockfrostError(400, error.message)
      throw error
    }
  }
}

const keepText = async (_request: FastifyRequest, body: string) => body

const json = 'application/json; charset=utf-8'

/** Blaze sends outputs without an address under the last name, which Blockfrost ignores. */
const requestFields = ['cbor', 'additionalUtxoSet', 'additionalUtxoset']

type Version = '5' | '6'

function versionOf({ query }: FastifyRequest): Version {
  const { version = '5' } = query as { readonly version?: unknown }
  if (version === '5' || version === '6') return version
  throw new BlockfrostError(400, 'querystring/version must be 5 or 6')
}

/** Undefined if the text is neither hex nor base64. */
function readTransaction(text: string): Uint8Array | undefined {
  const hint = envelopeHint(text)
  if (hint !== undefined) throw new BlockfrostError(400, hint)
  return hexBytes(text) ?? (/^[A-Za-z0-9+/]+=*$/.test(text) ? Buffer.from(text, 'base64') : undefined)
}

const unreadable = 'failed to decode payload from base64 or base16.'

const undecodable = 'Deserialisation failure while decoding serialised transaction. CBOR failed with error:'

/** The answer to a transaction; neither it nor its evaluation exists if it could not be read. */
type Answer = (cbor: Uint8Array | undefined, evaluated: Evaluated | undefined) => unknown

const answers: Readonly<Record<Version, Answer>> = {
  '5'(cbor, evaluated) {
    if (cbor === undefined || evaluated === undefined) return faultOfClient(unreadable)
    if (evaluated.kind !== 'malformed') return evaluationJson(evaluated)
    if (isMaryTransaction(cbor)) return incompatibleEra('Mary')
    return faultOfClient(`${undecodable} ${evaluated.message}`)
  },
  '6'(cbor, evaluated) {
    const request = { method: 'evaluateTransaction', params: undefined, id: randomUUID() }
    try {
      if (cbor === undefined || evaluated === undefined) {
        throw new RpcError(-32600, `Invalid request: ${unreadable}`)
      }
      if (evaluated.kind !== 'malformed') return success(request, ogmios.evaluationJson(evaluated, true))
      throw isMaryTransaction(cbor) ? ogmios.incompatibleEra('mary') : malformed(evaluated.message, '6')
    } catch (error) {
      if (error instanceof RpcError) return failure(request, error)
      throw error
    }
  },
}

// Evaluations in the format of Ogmios 5, which Blockfrost kept.

type Evaluation = Exclude<ScriptEvaluation, { kind: 'malformed' | 'busy' }>

/** A request that could not be evaluated. */
function faultOfClient(reason: string) {
  return {
    type: 'jsonwsp/fault',
    version: '1.0',
    servicename: 'ogmios',
    fault: { code: 'client', string: `Invalid request: ${reason}` },
    reflection: { id: randomUUID() },
  }
}

function evaluationJson(evaluation: Evaluation) {
  return response(resultJson(evaluation))
}

/** A transaction of an era before scripts. */
function incompatibleEra(era: string) {
  return response({ EvaluationFailure: { IncompatibleEra: era } })
}

function response(result: unknown) {
  return {
    type: 'jsonwsp/response',
    version: '1.0',
    servicename: 'ogmios',
    methodname: 'EvaluateTx',
    result,
    reflection: { id: randomUUID() },
  }
}

function resultJson(evaluation: Evaluation): unknown {
  switch (evaluation.kind) {
    case 'overlapping-outputs':
      return { EvaluationFailure: { AdditionalUtxoOverlap: evaluation.references.map(inputJson) } }
    case 'faulty-redeemers':
      return scriptFailures(
        evaluation.faults.map(({ fault, ...pointer }) => [pointer, faultJson(fault, pointer)]),
      )
    case 'evaluated':
      return evaluatedJson(evaluation.result)
  }
}

function evaluatedJson({ ok, redeemers, failure }: EvaluationResult): unknown {
  if (ok) {
    const units: Record<string, { memory: number; steps: number }> = {}
    for (const { outcome, ...pointer } of redeemers) {
      if (outcome.kind !== 'Succeeded') continue
      const { memory, steps } = outcome.used
      units[pointerText(pointer)] = { memory: Number(memory), steps: Number(steps) }
    }
    return { EvaluationResult: units }
  }
  const failures = redeemers.flatMap(({ outcome, ...pointer }): [RedeemerPointer, unknown][] =>
    outcome.kind === 'Succeeded' || outcome.kind === 'NotReached' ? [] : [[pointer, [failureJson(outcome)]]],
  )
  const [first] = redeemers
  if (failures.length === 0 && failure !== undefined && first !== undefined) {
    if (failure.kind === 'EngineFailure' || failure.kind === 'InvalidCostModel') {
      return { EvaluationFailure: noContext(failure.message) }
    }
    failures.push([first, [failureJson(failure)]])
  }
  return scriptFailures(failures)
}

function scriptFailures(failures: readonly (readonly [RedeemerPointer, unknown])[]) {
  const byPointer = failures.map(([pointer, failure]) => [pointerText(pointer), failure])
  return { EvaluationFailure: { ScriptFailures: Object.fromEntries(byPointer) } }
}

/** Blockfrost does not put the error of a context that cannot be made into a list. */
function faultJson(fault: RedeemerFault, pointer: RedeemerPointer): unknown {
  switch (fault.kind) {
    case 'Extraneous':
      return [{ extraRedeemers: [pointerText(pointer)] }]
    case 'MissingScript':
      return [{ missingRequiredScripts: { missing: [pointerText(pointer)], resolved: {} } }]
    case 'NoCostModel':
      return [{ noCostModelForLanguage: plutusLanguages[fault.language] }]
    case 'UnknownInputs':
      return noContext(unknownInput(fault.references))
    case 'BadTranslation':
      return noContext(contextReason(fault.reason))
  }
}

function noContext(reason: string) {
  return { CannotCreateEvaluationContext: { reason } }
}

function failureJson(failure: EvaluationFailure): unknown {
  const traces = 'logs' in failure ? failure.logs : []
  return { validatorFailed: { error: failure.message, traces } }
}

function inputJson(reference: string): { txId: string; index: number } {
  const [txId = '', index] = reference.split('#')
  return { txId, index: Number(index) }
}

/** Redeemer purposes as Ogmios 5 named them. */
const purposes: Readonly<Record<RedeemerPurpose, string>> = {
  spend: 'spend',
  mint: 'mint',
  cert: 'certificate',
  reward: 'withdrawal',
  vote: 'vote',
  propose: 'propose',
}

function pointerText({ purpose, index }: RedeemerPointer): string {
  return `${purposes[purpose]}:${index}`
}
