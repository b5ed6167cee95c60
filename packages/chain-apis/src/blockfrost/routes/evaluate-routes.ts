import { randomUUID } from 'node:crypto'
import type { TransactionOutput } from '@ratatosk/ledger'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { clientSignal } from '../../client-signal.js'
import { readAdditionalOutputs } from '../../evaluation/additional-outputs.js'
import { InvalidInputError, readFields, readText } from '../../input.js'
import { encodeJson, parseJson } from '../../json.js'
import { maxRequestLength } from '../../limits.js'
import * as ogmios from '../../ogmios/json/evaluation-json.js'
import { failure, RpcError, success } from '../../ogmios/rpc.js'
import { malformed } from '../../ogmios/transactions.js'
import { envelopeHint, hexBytes, isMaryTransaction, textOf } from '../../transaction-bytes.js'
import type { ChainView, ScriptEvaluation } from '../../view/chain-view.js'
import { BlockfrostError } from '../errors.js'
import { evaluationJson, faultOfClient, incompatibleEra } from '../evaluation-json.js'

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
