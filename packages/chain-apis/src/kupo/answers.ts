import { Readable } from 'node:stream'
import { toHex } from '@ratatosk/cbor'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { clientOf } from '../client-signal.js'
import { encodeJson } from '../json.js'
import type { LongLists } from '../long-lists.js'
import type { ChainOutput, ChainView } from '../view/chain-view.js'
import { disconnected, type Health, healthMetrics, readHealth } from './health.js'
import { hints, KupoError } from './hints.js'
import { matchesJson, scriptJson } from './matches-json.js'
import { acceptsQuantityText, healthType, jsonType, quantityTextType } from './media-types.js'
import { metadataJson, transactionPages } from './metadata.js'
import { readParameters } from './parameters.js'
import { isLabelPattern, readHex, readPattern } from './patterns.js'
import { readMetadataFilter, readSelection } from './selection.js'
import { pointJson, readSlot, requirePoints } from './slots.js'

export interface AnswerOptions {
  readonly chain: ChainView
  readonly lists: LongLists
}

/** Answers a request. @param text its path below the endpoint */
export type Answer = (
  options: AnswerOptions,
  text: string,
  request: FastifyRequest,
  reply: FastifyReply,
) => Promise<FastifyReply>

export const sendMatches: Answer = async ({ chain, lists }, pattern, request, reply) => {
  const { query, order, points, ...selection } = readSelection(pattern, readParameters(request.url))
  await requirePoints(chain, points)
  const { matches, resolveHashes } = selection
  const quantityText = acceptsQuantityText(request.headers.accept)
  const itemsOf = (page: readonly ChainOutput[]) =>
    matchesJson(chain, page.filter(matches), { resolveHashes, quantityText })
  // HEAD costs no search.
  const isHead = request.method === 'HEAD'
  const body = isHead ? [] : await lists.read(chain.outputPages(query, order), itemsOf, clientOf(reply))
  return reply.type(quantityText ? quantityTextType : jsonType).send(Readable.from(body))
}

export const sendDatum: Answer = async ({ chain }, text, _request, reply) => {
  const hash = readHex(text, 32)
  if (hash === undefined) throw new KupoError(hints.datumHash)
  const datum = (await chain.datums([hash])).get(hash)
  return json(reply, datum === undefined ? null : { datum: toHex(datum) })
}

export const sendScript: Answer = async ({ chain }, text, _request, reply) => {
  const hash = readHex(text, 28)
  if (hash === undefined) throw new KupoError(hints.scriptHash)
  const script = await chain.script(hash)
  return json(reply, script === undefined ? null : scriptJson(script))
}

export const sendMetadata: Answer = async ({ chain, lists }, text, request, reply) => {
  const slot = slotOf(text)
  if (slot === 0n) return json(reply, [])
  const id = readMetadataFilter(readParameters(request.url))
  const { height } = await chain.blockUntil(slot - 1n)
  const block = await chain.blockAfter(height)
  if (block === undefined || block.slot < slot) throw new KupoError(hints.noBlock)
  reply.header('x-block-header-hash', block.hash)
  const body = await lists.read(transactionPages(chain, block, id), metadataJson, clientOf(reply))
  return reply.type(jsonType).send(Readable.from(body))
}

export const sendCheckpoint: Answer = async ({ chain }, text, { url }, reply) => {
  const slot = slotOf(text)
  const [flag, ...others] = readParameters(url)
  const isStrict = flag?.[0] === 'strict' && flag[1] === undefined
  if (others.length > 0 || (flag !== undefined && !isStrict)) throw new KupoError(hints.strict)
  const found = await chain.blockUntil(slot)
  return json(reply, found.height > 0 && (!isStrict || found.slot === slot) ? pointJson(found) : null)
}

/** A sample of the blocks, the newest first. */
export const sendCheckpoints: Answer = async ({ chain }, _text, _request, reply) => {
  const points = []
  for (let { height } = await chain.tip(), back = 1; height > 0; height -= back, back *= 2) {
    const block = await chain.block(height)
    if (block !== undefined && block.open !== true) points.push(pointJson(block))
  }
  return json(reply, points)
}

/** The patterns of the index that include a pattern: it has one, which includes all. */
export const sendPatterns: Answer = async (_options, text, _request, reply) => {
  if (readPattern(text) === undefined && !isLabelPattern(text)) throw new KupoError(hints.pattern)
  return json(reply, ['*'])
}

/** @param statusOf the status of an answer */
export const sendHealth =
  (statusOf: (health: Health) => number): Answer =>
  async ({ chain }, _text, request, reply) => {
    const type = healthType(request.headers.accept)
    if (type === undefined) throw new KupoError(hints.accept)
    const [health, version] = await Promise.all([readHealth(chain), chain.version()]).catch((error) => {
      request.log.error(error)
      return [disconnected, undefined] as const
    })
    reply.header('x-most-recent-checkpoint', String(health.most_recent_checkpoint ?? 0))
    if (version !== undefined) reply.header('etag', version)
    reply.code(statusOf(health)).type(type)
    return reply.send(type === jsonType ? encodeJson(health) : healthMetrics(health))
  }

/** @throws {KupoError} */
function slotOf(text: string): bigint {
  const slot = readSlot(text)
  if (slot === undefined) throw new KupoError(hints.slot)
  return slot
}

function json(reply: FastifyReply, body: unknown): FastifyReply {
  return reply.type(jsonType).send(encodeJson(body))
}
