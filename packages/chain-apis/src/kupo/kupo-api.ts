import { toHex } from '@ratatosk/cbor'
import { blake2b256 } from '@ratatosk/ledger'
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { noteHandlers, refusalOf } from '../errors.js'
import { type ApiOptions, addFaultHook } from '../faults/fault-hook.js'
import type { FaultOperation } from '../faults/faults.js'
import { encodeJson } from '../json.js'
import {
  type Answer,
  type AnswerOptions,
  sendCheckpoint,
  sendCheckpoints,
  sendDatum,
  sendHealth,
  sendMatches,
  sendMetadata,
  sendPatterns,
  sendScript,
  statusOf,
} from './answers.js'
import {
  acceptsQuantityText,
  hasBounds,
  hints,
  jsonType,
  KupoError,
  quantityTextType,
  readParameters,
} from './requests.js'

/** The API of Kupo for reading: an index with the pattern `*`. */
export async function kupoApi(fastify: FastifyInstance, options: ApiOptions & AnswerOptions): Promise<void> {
  fastify.setErrorHandler((error: FastifyError, request, reply) => {
    const { status, message = hints.unexpected } = refusalOf(error, request, reply)
    const details = error instanceof KupoError ? error.details : undefined
    return refuse(reply, status, message, details)
  })
  noteHandlers(fastify)
  fastify.setNotFoundHandler((_request, reply) => refuse(reply, 404, hints.endpoint))
  // Before a body is read.
  fastify.addHook('onRequest', async ({ method, url }, reply) => {
    if (method === 'GET' || method === 'HEAD') return
    if (method === 'OPTIONS') return reply.code(200).send()
    const path = url.slice(fastify.prefix.length).replace(/^\/+(v1\/+)?/, '')
    const isKnown = endpoints.has(path.split(/[/?]/, 1)[0] ?? '')
    return refuse(reply, isKnown ? 406 : 404, isKnown ? hints.method : hints.endpoint)
  })
  addFaultHook(fastify, {
    faults: options.faults,
    target: 'kupo',
    errorBody: (_status, message) => ({ hint: message }),
  })
  for (const prefix of ['', '/v1']) await fastify.register(routes, { ...options, prefix })
}

const endpoints: ReadonlySet<string> = new Set([
  ...['matches', 'datums', 'scripts', 'metadata', 'patterns', 'checkpoints', 'health', 'metrics'],
])

interface ByPath {
  Params: { '*'?: string }
}

/** Kupo's endpoints. */
async function routes(fastify: FastifyInstance, options: AnswerOptions): Promise<void> {
  const { chain } = options

  /** Answers 304 if nothing has changed. The tag is read before the answer, which may be newer. */
  async function cached({ url, headers }: FastifyRequest, reply: FastifyReply) {
    const [{ slot }, version] = await Promise.all([chain.tip(), chain.version()])
    const tag = tagOf(version, [
      ...(hasBounds(readParameters(url)) ? [slot] : []),
      ...(acceptsQuantityText(headers.accept) ? [quantityTextType] : []),
    ])
    reply.header('x-most-recent-checkpoint', String(slot)).header('etag', tag)
    if (headers['if-none-match'] === tag) return reply.code(304).send()
  }

  const add = (path: string, operation: FaultOperation, isCached: boolean, answer: Answer) =>
    fastify.get<ByPath>(
      path,
      { config: { operation }, ...(isCached && { preHandler: cached }) },
      (request, reply) => answer(options, request.params['*'] ?? '*', request, reply),
    )
  /** Kupo's server reads an empty part between slashes, which the one of this plugin may have left out. */
  const pattern =
    (answer: Answer): Answer =>
    (given, text, request, reply) => {
      const [path] = /\/(?:matches|patterns)\/[^?]*/.exec(request.originalUrl) ?? ['']
      if (path.includes('//')) throw new KupoError(hints.pattern)
      return answer(given, text, request, reply)
    }
  /** Only patterns have slashes. */
  const single =
    (answer: Answer): Answer =>
    (given, text, ...rest) => {
      if (text.includes('/')) throw new KupoError(hints.endpoint, 404)
      return answer(given, text, ...rest)
    }
  add('/matches', 'utxos', true, sendMatches)
  add('/matches/*', 'utxos', true, pattern(sendMatches))
  add('/datums/*', 'datum', true, single(sendDatum))
  add('/scripts/*', 'script', true, single(sendScript))
  add('/metadata/*', 'other', true, single(sendMetadata))
  add('/checkpoints', 'tip', true, sendCheckpoints)
  add('/checkpoints/*', 'tip', true, single(sendCheckpoint))
  add('/patterns', 'other', false, sendPatterns)
  add('/patterns/*', 'other', false, pattern(sendPatterns))
  add('/health', 'tip', false, sendHealth(statusOf))
  add(
    '/metrics',
    'tip',
    false,
    sendHealth(() => 200),
  )
}

/** The tag of answers that depend on more than the version of the chain. */
function tagOf(version: string, more: readonly unknown[]): string {
  return more.length === 0 ? version : toHex(blake2b256(Buffer.from([version, ...more].join(' '))))
}

function refuse(reply: FastifyReply, status: number, hint: string, details?: unknown): FastifyReply {
  // An error is no answer that a client may keep.
  return reply.code(status).removeHeader('etag').type(jsonType).send(encodeJson({ hint, details }))
}
