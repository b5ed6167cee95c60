import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { errorHandler, readBy } from '@ratatosk/http'
import { toHex } from '@ratatosk/ledger'
import type { FastifyReply, FastifyRequest, RegisterOptions } from 'fastify'
import { fastifyPlugin as fp } from 'fastify-plugin'
import { formatFor } from './answers/accept.js'
import { bodyOnly, headerOnly, type PartOfBlock, whole } from './answers/part.js'
import {
  archivedBlockSchema,
  archivedBlocksSchema,
  archivedBodySchema,
  archivedHeaderSchema,
} from './answers/schemas.js'
import { sendPieces } from './answers/send.js'
import type { Archive, ArchivedBlock } from './archive.js'
import { BlockNotFoundError } from './errors.js'
import { type BlockId, readBlockParams, readRange } from './parameters.js'

export {
  archivedBlockSchema,
  archivedBlocksSchema,
  archivedBodySchema,
  archivedHeaderSchema,
  BlockAnswer,
  BlockBodyAnswer,
  BlockHeaderAnswer,
  BlocksAnswer,
  BodyFields,
  HeaderFields,
} from './answers/schemas.js'
export type { Archive, ArchivedBlock } from './archive.js'
export {
  type ArchiveOfBlocksOptions,
  archiveOfBlocks,
  type NodeBlock,
  type NodeBlocks,
} from './archive-of-blocks.js'
export { decodeBlockBody, partsOfBody } from './body/decode.js'
export { bodyOf, createDiffSum, type DiffSum } from './body/diff.js'
export { encodeBlockBody, encodeBlockBodyStream } from './body/encode.js'
export { BlockError, type BlockErrorCode } from './body/errors.js'
export type * from './body/types.js'
export { BlockNotFoundError, InvalidBlockIdError, InvalidRangeError } from './errors.js'

export interface ArchivistOptions extends RegisterOptions {
  /** The blocks that are served. */
  archive: Archive
}

const plugin: FastifyPluginAsyncTypebox<ArchivistOptions> = async (fastify, { archive }) => {
  if (!archive) throw new TypeError('@ratatosk/archivist: an archive is required')

  fastify.setErrorHandler(errorHandler)

  const body = (headerHash: Uint8Array) => archive.body(headerHash)

  async function find(id: BlockId): Promise<ArchivedBlock> {
    const block = await (id.kind === 'hash' ? archive.byHash(id.headerHash) : archive.byHeight(id.height))
    if (!block) throw new BlockNotFoundError(id.text)
    return block
  }

  const answer =
    (part: PartOfBlock) =>
    async (request: FastifyRequest & { params: { id: BlockId } }, reply: FastifyReply) => {
      const block = await find(request.params.id)
      const format = formatFor(request.headers.accept)
      const tag = `"${toHex(block.headerHash)}${format.tagSuffix}"`
      const stays = request.params.id.kind === 'hash' || block.merged
      const caching = {
        etag: tag,
        vary: 'accept',
        'cache-control': stays ? 'public, max-age=31536000, immutable' : 'no-cache',
      }
      if (matches(request.headers['if-none-match'], tag)) return reply.code(304).headers(caching).send()
      const headers = { ...caching, 'content-type': format.contentType }
      return sendPieces(request, reply, headers, format.block(block, part, body))
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
      const headers = { vary: 'accept', 'cache-control': 'no-cache', 'content-type': format.contentType }
      return sendPieces(request, reply, headers, format.blocks(blocks, body))
    },
  )
}

/** RFC 9110, section 13.1.2: compared weakly. */
function matches(ifNoneMatch: string | undefined, tag: string): boolean {
  const listed = ifNoneMatch?.split(',').map((item) => item.trim().replace(/^W\//, '')) ?? []
  return listed.includes(tag) || listed.includes('*')
}

/**
 * Fastify plugin: `GET /block/{id}`, `/block/{id}/header`, `/block/{id}/body` and `/blocks` serve an archive, in JSON or CBOR.
 *
 * It is encapsulated: its error handler is its own, and several instances fit into one server, each under its `prefix`.
 *
 * @example
 * ```ts
 * const server = fastify()
 * await server.register(archivist, { archive: store.archive })
 * ```
 */
export const archivist = fp(plugin, { name: '@ratatosk/archivist', fastify: '5.x', encapsulate: true })

export default archivist
