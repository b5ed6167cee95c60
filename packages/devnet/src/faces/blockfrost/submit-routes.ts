import { fromHex } from '@ratatosk/ledger'
import type { FastifyInstance } from 'fastify'
import type { Devnet } from '../../types.js'
import { readAdditionalUtxos } from './additional-utxos.js'
import { BlockfrostError } from './errors.js'
import { evaluationJson } from './evaluation-json.js'
import { malformedMessage, rejectionMessage } from './rejection.js'

/** Larger than any transaction, in hex or base64, with outputs beside it. */
const bodyLimit = 1024 * 1024

export function addSubmitRoutes(fastify: FastifyInstance, devnet: Devnet): void {
  fastify.addContentTypeParser(
    ['application/cbor', 'application/octet-stream', 'text/plain'],
    { parseAs: 'buffer', bodyLimit },
    (_request, body, done) => done(null, body),
  )

  fastify.post<{ Body: unknown }>('/tx/submit', { config: { operation: 'submit' } }, async ({ body }) => {
    if (!Buffer.isBuffer(body)) throw new BlockfrostError(400, 'Content-Type must be application/cbor')
    const submission = await devnet.submit(body)
    if (submission.kind === 'malformed') throw new BlockfrostError(400, malformedMessage(submission.message))
    if (submission.kind === 'rejected') throw new BlockfrostError(400, rejectionMessage(submission.failures))
    return JSON.stringify(submission.hash)
  })

  const evaluate = { config: { operation: 'evaluate' as const }, bodyLimit }
  fastify.post<{ Body: unknown }>('/utils/txs/evaluate', evaluate, async ({ body }) => {
    if (!Buffer.isBuffer(body)) throw new BlockfrostError(400, 'Content-Type must be application/cbor')
    return evaluated(readBody(body))
  })
  fastify.post<{ Body: unknown }>('/utils/txs/evaluate/utxos', evaluate, async ({ body }) => {
    const { cbor, ...rest } = isObject(body) ? body : {}
    if (typeof cbor !== 'string') throw new BlockfrostError(400, 'body must have required property "cbor"')
    // Blockfrost's document and some of its clients differ in one letter's case.
    const additional = rest.additionalUtxoSet ?? rest.additionalUtxoset
    return evaluated(readText(cbor), additional)
  })

  async function evaluated(cbor: Uint8Array, additional?: unknown) {
    const evaluation = await devnet.evaluate(cbor, readAdditionalUtxos(additional))
    if (evaluation.kind === 'malformed') throw new BlockfrostError(400, malformedMessage(evaluation.message))
    return evaluationJson(evaluation)
  }
}

/** The transaction itself, or a text of it: Blockfrost takes hex and base64 under the content type of CBOR. */
function readBody(body: Buffer): Uint8Array {
  return body[0] === 0x84 ? body : readText(body.toString('latin1').trim())
}

function readText(text: string): Uint8Array {
  if (/^([0-9a-fA-F]{2})+$/.test(text)) return fromHex(text)
  if (/^[A-Za-z0-9+/]+=*$/.test(text)) return Buffer.from(text, 'base64')
  throw new BlockfrostError(400, 'The transaction is neither hex nor base64')
}

function isObject(value: unknown): value is { readonly [key: string]: unknown } {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
