import { fromHex, isDecodeError } from '@ratatosk/cbor'
import { type RedeemerPurpose, splitUnit, type TransactionOutput } from '@ratatosk/ledger'
import type { EvaluationFailure, EvaluationResult } from '@ratatosk/ledger/plutus'
import type { FastifyInstance } from 'fastify'
import { clientSignal } from '../../client-signal.js'
import {
  type AdditionalOutput,
  maxAdditionalOutputs,
  quantity,
  writeAdditionalOutput,
} from '../../evaluation/additional-output.js'
import { isObject, type JsonObject } from '../../json.js'
import { maxRequestLength } from '../../limits.js'
import type { ChainView, ScriptEvaluation } from '../../view/chain-view.js'
import { BlockfrostError } from '../errors.js'
import { malformedMessage } from './submit-route.js'

/** Evaluation in the format of Ogmios 5, which Blockfrost kept. */
export function addEvaluateRoutes(fastify: FastifyInstance, chain: ChainView, status: 200 | 202): void {
  const options = { config: { operation: 'evaluate' as const }, bodyLimit: maxRequestLength }

  fastify.post<{ Body: unknown }>('/utils/txs/evaluate', options, async ({ body }, reply) => {
    if (!Buffer.isBuffer(body)) throw new BlockfrostError(400, 'Content-Type must be application/cbor')
    return reply.code(status).send(await evaluate(clientSignal(reply), readBody(body)))
  })
  fastify.post<{ Body: unknown }>('/utils/txs/evaluate/utxos', options, async ({ body }, reply) => {
    const { cbor, ...rest } = isObject(body) ? body : {}
    if (typeof cbor !== 'string') throw new BlockfrostError(400, 'body must have required property "cbor"')
    // Blockfrost ignores other spellings: Blaze sends outputs without address under `additionalUtxoset`.
    const outputs = rest.additionalUtxoSet
    return reply.code(status).send(await evaluate(clientSignal(reply), readText(cbor), outputs))
  })

  async function evaluate(signal: AbortSignal, cbor: Uint8Array, additional?: unknown) {
    const outputs = readAdditionalUtxos(additional, chain.parameters.maxValueSize)
    const evaluation = await chain.evaluate(cbor, outputs, signal)
    if (evaluation.kind === 'malformed') throw new BlockfrostError(400, malformedMessage(evaluation.message))
    if (evaluation.kind === 'busy') {
      throw new BlockfrostError(503, 'Too many evaluations are running. Try again in a second.')
    }
    return evaluationJson(evaluation)
  }
}

/** Blockfrost accepts raw CBOR, hex and base64 under the content type of CBOR. */
function readBody(body: Buffer): Uint8Array {
  return body[0] === 0x84 ? body : readText(body.toString('latin1').trim())
}

function readText(text: string): Uint8Array {
  if (/^([0-9a-fA-F]{2})+$/.test(text)) return fromHex(text)
  if (/^[A-Za-z0-9+/]+=*$/.test(text)) return Buffer.from(text, 'base64')
  throw new BlockfrostError(400, 'The transaction is neither hex nor base64')
}

/** Parses `additionalUtxoSet`, pairs of `{ txId, index }` and an output, as in Ogmios 5. Throws a 400. */
function readAdditionalUtxos(json: unknown, maxValueSize: number): Map<string, TransactionOutput> {
  if (json === undefined || json === null) return new Map()
  if (!Array.isArray(json)) throw malformed('not an array')
  if (json.length > maxAdditionalOutputs) throw malformed(`more than ${maxAdditionalOutputs} outputs`)
  try {
    return new Map(json.map((pair) => readPair(pair, maxValueSize)))
  } catch (error) {
    if (isDecodeError(error) || error instanceof RangeError || error instanceof SyntaxError) {
      throw malformed(error.message)
    }
    throw error
  }
}

function readPair(pair: unknown, maxValueSize: number): [string, TransactionOutput] {
  if (!Array.isArray(pair) || pair.length !== 2) throw malformed('not a pair of input and output')
  const [input, output] = pair
  if (!isObject(input) || typeof input.txId !== 'string' || !/^[0-9a-fA-F]{64}$/.test(input.txId)) {
    throw malformed('txId must be 64 hex digits')
  }
  if (!isObject(output)) throw malformed('the output must be an object')
  const key = `${input.txId.toLowerCase()}#${Number(input.index)}`
  return [key, writeAdditionalOutput(readOutput(output), maxValueSize)]
}

function readOutput({ address, value, datum, datumHash, datum_hash, script }: JsonObject): AdditionalOutput {
  const { coins, assets } = isObject(value) ? value : {}
  return {
    address: String(address),
    lovelace: quantity(coins),
    assets: readAssets(isObject(assets) ? assets : {}),
    datum: text(datum),
    datumHash: text(datumHash) ?? text(datum_hash),
    script: readScript(script),
  }
}

function* readAssets(assets: JsonObject): AdditionalOutput['assets'] {
  for (const [unit, amount] of Object.entries(assets)) {
    const { policy, name } = splitUnit(unit.replace('.', ''))
    yield [policy, name, quantity(amount)]
  }
}

function readScript(script: unknown): AdditionalOutput['script'] {
  if (!isObject(script)) return undefined
  for (const language of ['v1', 'v2', 'v3'] as const) {
    const cbor = text(script[`plutus:${language}`])
    if (cbor !== undefined) return { language, cbor }
  }
  return undefined
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}

function malformed(reason: string): BlockfrostError {
  return new BlockfrostError(400, `Invalid additionalUtxoSet: ${reason}`)
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

type Evaluated = Exclude<ScriptEvaluation, { kind: 'malformed' | 'busy' }>

function evaluationJson(evaluation: Evaluated) {
  return {
    type: 'jsonwsp/response',
    version: '1.0',
    servicename: 'ogmios',
    methodname: 'EvaluateTx',
    result: resultJson(evaluation),
    reflection: {},
  }
}

function resultJson(evaluation: Evaluated): unknown {
  switch (evaluation.kind) {
    case 'unknown-inputs':
      return { EvaluationFailure: { UnknownInputs: evaluation.references.map(inputJson) } }
    case 'overlapping-outputs':
      return { EvaluationFailure: { AdditionalUtxoOverlap: evaluation.references.map(inputJson) } }
    case 'evaluated':
      return evaluatedJson(evaluation.result)
  }
}

function evaluatedJson({ ok, redeemers, failure }: EvaluationResult): unknown {
  if (ok) {
    const units: Record<string, { memory: number; steps: number }> = {}
    for (const { purpose, index, outcome } of redeemers) {
      if (outcome.kind !== 'Succeeded') continue
      const { memory, steps } = outcome.used
      units[`${purposes[purpose]}:${index}`] = { memory: Number(memory), steps: Number(steps) }
    }
    return { EvaluationResult: units }
  }
  const failures: Record<string, readonly unknown[]> = {}
  for (const { purpose, index, outcome } of redeemers) {
    if (outcome.kind === 'Succeeded' || outcome.kind === 'NotReached') continue
    failures[`${purposes[purpose]}:${index}`] = [failureJson(outcome)]
  }
  const [first] = redeemers
  if (Object.keys(failures).length === 0 && failure !== undefined && first !== undefined) {
    if (failure.kind === 'EngineFailure' || failure.kind === 'InvalidCostModel') {
      return { EvaluationFailure: { CannotCreateEvaluationContext: { reason: failure.message } } }
    }
    failures[`${purposes[first.purpose]}:${first.index}`] = [failureJson(failure)]
  }
  return { EvaluationFailure: { ScriptFailures: failures } }
}

function failureJson(failure: EvaluationFailure): unknown {
  const traces = 'logs' in failure ? failure.logs : []
  return { validatorFailed: { error: failure.message, traces } }
}

function inputJson(reference: string): { txId: string; index: number } {
  const [txId = '', index] = reference.split('#')
  return { txId, index: Number(index) }
}
