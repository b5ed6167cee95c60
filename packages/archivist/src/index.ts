import { Readable } from 'node:stream'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { Archive, ArchivedBlock, Evidence } from '@ratatosk/block'
import { toHex } from '@ratatosk/cbor'
import {
  addVary,
  errorHandler,
  hasEntityTag,
  hasMethods,
  openScope,
  optionalInteger,
  optionalTimer,
  readBy,
} from '@ratatosk/http'
import { Type } from '@sinclair/typebox'
import type { FastifyReply, FastifyRequest, RegisterOptions } from 'fastify'
import { fastifyPlugin as fp } from 'fastify-plugin'
import { joinPieces } from './archive-of-blocks.js'
import { bodyOnly, formatFor, headerOnly, type PartOfBlock, type ReadBodyChunks, whole } from './formats.js'
import {
  type BlockId,
  BlockNotFoundError,
  readBlockParams,
  readHashParams,
  readRange,
  TooManyReadsError,
} from './parameters.js'
import {
  archivedBlockSchema,
  archivedBlocksSchema,
  archivedBodySchema,
  archivedHeaderSchema,
  invalidBlockSchema,
  invalidBlocksSchema,
  maxReports,
  reportFields,
} from './schemas.js'

export type { Archive, ArchivedBlock, Evidence, InvalidBlockReport } from '@ratatosk/block'
export {
  type ArchiveOfBlocksOptions,
  archiveOfBlocks,
  type NodeBlock,
  type NodeBlocks,
} from './archive-of-blocks.js'
export { BlockNotFoundError, isArchivistError, TooManyReadsError } from './parameters.js'
export {
  ArchivedBlockAnswer,
  ArchivedBlocksAnswer,
  ArchivedBodyAnswer,
  ArchivedHeaderAnswer,
  archivedBlockSchema,
  archivedBlocksSchema,
  archivedBodySchema,
  archivedHeaderSchema,
  BodyFields,
  HeaderFields,
  InvalidBlocksAnswer,
  invalidBlockSchema,
  invalidBlocksSchema,
} from './schemas.js'

/** Options of the {@link archivist} plugin. */
export interface ArchivistOptions extends RegisterOptions {
  /** The blocks to serve. */
  archive: Archive
  /** Invalid blocks to serve under `/invalid-blocks`. Without it, there is no such route. */
  evidence?: Evidence
  /** Maximum number of concurrent responses with bodies; others are refused with 503. @defaultValue 32 */
  maxReads?: number
  /**
   * How long a client may accept no data before its connection is closed, in milliseconds.
   *
   * @defaultValue 30,000
   */
  stallTimeoutMs?: number
}

const name = '@ratatosk/archivist'
const rules = {
  archive: hasMethods('byHash', 'byHeight', 'range', 'body'),
  evidence: Type.Optional(hasMethods('list', 'byHash', 'body')),
  maxReads: optionalInteger(1),
  stallTimeoutMs: optionalTimer(1),
}

const plugin: FastifyPluginAsyncTypebox<ArchivistOptions> = async (fastify, options) => {
  openScope(fastify, name, rules, options)
  const { archive, evidence, maxReads = 32, stallTimeoutMs = 30_000 } = options
  const sendPieces = pieceSender({ maxReads, stallTimeoutMs })

  fastify.setErrorHandler(errorHandler)

  const body = (headerHash: Uint8Array) => archive.body(headerHash)
  const archived: Find = (id) =>
    id.kind === 'hash' ? archive.byHash(id.headerHash) : archive.byHeight(id.height)

  const answer =
    (part: PartOfBlock, find: Find = archived, read: ReadBodyChunks = body) =>
    async (request: FastifyRequest & { params: { id: BlockId } }, reply: FastifyReply) => {
      const { id } = request.params
      const block = await find(id)
      if (!block) throw new BlockNotFoundError(id.text)
      const format = formatFor(request.headers.accept)
      const tag = `"${toHex(block.headerHash)}${format.tagSuffix}"`
      const isFinal = id.kind === 'hash' || block.merged
      addVary(reply, 'accept')
      const caching = {
        etag: tag,
        'cache-control': isFinal ? 'public, max-age=31536000, immutable' : 'no-cache',
      }
      if (hasEntityTag(request, tag)) return reply.code(304).headers(caching).send()
      const headers = { ...caching, 'content-type': format.contentType }
      return sendPieces(request, reply, headers, format.block(block, part, read), part.body)
    }

  const validatorCompiler = readBy(readBlockParams)
  fastify.get('/block/:id', { schema: archivedBlockSchema, validatorCompiler }, answer(whole))
  fastify.get('/block/:id/header', { schema: archivedHeaderSchema, validatorCompiler }, answer(headerOnly))
  fastify.get('/block/:id/body', { schema: archivedBodySchema, validatorCompiler }, answer(bodyOnly))

  fastify.get(
    '/blocks',
    { schema: archivedBlocksSchema, validatorCompiler: readBy(readRange) },
    async (request, reply) => {
      const blocks = await archive.range(request.query.from, request.query.to)
      const format = formatFor(request.headers.accept)
      addVary(reply, 'accept')
      const headers = { 'cache-control': 'no-cache', 'content-type': format.contentType }
      return sendPieces(request, reply, headers, format.blocks(blocks, body), blocks.length > 0)
    },
  )

  if (evidence === undefined) return
  fastify.get('/invalid-blocks', { schema: invalidBlocksSchema }, async (_request, reply) => {
    const reports = await evidence.list(maxReports)
    return reply.header('cache-control', 'no-cache').send({ blocks: reports.map(reportFields) })
  })
  const invalid: Find = (id) => (id.kind === 'hash' ? evidence.byHash(id.headerHash) : undefined)
  const byHash = readBy(readHashParams)
  const readInvalid: ReadBodyChunks = (headerHash) => evidence.body(headerHash)
  fastify.get(
    '/invalid-blocks/:id',
    { schema: invalidBlockSchema, validatorCompiler: byHash },
    answer(whole, invalid, readInvalid),
  )
}

type Find = (id: BlockId) => Promise<ArchivedBlock | undefined> | undefined

/**
 * Fastify plugin that serves an archive at `GET /block/{id}`, `/block/{id}/header`, `/block/{id}/body` and
 * `/blocks`, as JSON or CBOR; and invalid blocks at `/invalid-blocks`.
 *
 * The plugin is encapsulated and has its own error handler. One server can have several instances, each with
 * its own `prefix`.
 *
 * @throws TypeError at registration when `archive` is missing
 *
 * @example
 * ```ts
 * const server = fastify()
 * await server.register(archivist, { archive: store.archive })
 * ```
 */
export const archivist = fp(plugin, { name, fastify: '5.x', encapsulate: true })

export default archivist

interface SendOptions {
  /** Maximum number of concurrent responses with bodies. */
  readonly maxReads: number
  /** How long a client may accept no data before its connection is closed, in milliseconds. */
  readonly stallTimeoutMs: number
}

/**
 * Sends chunks as the client reads them, with the headers before the first: a later error closes the
 * connection. A client that stalls is disconnected.
 * @throws TooManyReadsError if the maximum number of responses is in progress
 */
function pieceSender({ maxReads, stallTimeoutMs }: SendOptions) {
  let sending = 0
  return async (
    { method }: FastifyRequest,
    reply: FastifyReply,
    headers: Readonly<Record<string, string>>,
    pieces: AsyncIterable<Uint8Array | string>,
    hasBodies: boolean,
  ): Promise<FastifyReply> => {
    if (method === 'HEAD') return reply.headers(headers).send(Readable.from([]))
    const places = Number(hasBodies)
    if (sending + places > maxReads) throw new TooManyReadsError()
    sending += places
    const joined = joinPieces(pieces)
    let body: Readable
    try {
      body = Readable.from(startedWith(await joined.next(), joined))
    } catch (error) {
      sending -= places
      throw error
    }
    body.once('close', () => {
      sending -= places
      // Has an effect if the client disconnected before the stream was first read.
      joined.return().catch(() => undefined)
    })
    // If a hook of the server fails, nothing else ends the body.
    reply.raw.once('close', () => body.destroy())
    // The socket of an injected request has no timers.
    reply.raw.socket?.setTimeout?.(stallTimeoutMs)
    return reply.headers(headers).send(body)
  }
}

async function* startedWith(
  first: IteratorResult<Uint8Array, void>,
  rest: AsyncGenerator<Uint8Array, void>,
): AsyncGenerator<Uint8Array, void> {
  if (first.done) return
  yield first.value
  yield* rest
}
