import { Readable } from 'node:stream'
import { CborReader, Major, toHex } from '@ratatosk/cbor'
import { blake2b256, metadataLabels, type Transaction } from '@ratatosk/ledger'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { readChunks } from '../blockfrost/data-json.js'
import { encodeJson, lazyList } from '../json.js'
import { blockTransactions, clientOf, type LongLists } from '../long-lists.js'
import type { ChainBlock, ChainOutput, ChainView } from '../view/chain-view.js'
import { synchronization } from '../view/synchronization.js'
import { matchesJson, scriptJson } from './matches-json.js'
import {
  acceptsQuantityText,
  healthType,
  hints,
  jsonType,
  KupoError,
  pointJson,
  quantityTextType,
  readParameters,
  readSlot,
  requirePoints,
} from './requests.js'
import { isLabelPattern, readHex, readMetadataFilter, readPattern, readSelection } from './selection.js'

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

/** The metadata of transactions in Kupo's format. Transactions without any are left out. */
function metadataJson(transactions: readonly Pick<Transaction, 'auxiliaryData'>[]): Iterable<unknown> {
  const found = transactions.flatMap(({ auxiliaryData }) => auxiliaryData ?? [])
  return lazyList(found, (auxiliaryData) => {
    const { bytes } = auxiliaryData
    const schema = metadataLabels(auxiliaryData).map(({ label, cbor }) => [
      String(label),
      metadatumJson(new CborReader(cbor)),
    ])
    return { hash: toHex(blake2b256(bytes)), raw: toHex(bytes), schema: Object.fromEntries(schema) }
  })
}

/** A metadatum with the name of its type. */
function metadatumJson(reader: CborReader): unknown {
  const major = reader.peekMajor()
  switch (major) {
    case Major.bytes:
      return { bytes: toHex(Buffer.concat(readChunks(reader, major, () => reader.readBytes()))) }
    case Major.text:
      return { string: readChunks(reader, major, () => reader.readText()).join('') }
    case Major.array: {
      const list: unknown[] = []
      const count = reader.readArray()
      for (let i = 0; reader.hasNext(count, i); i++) list.push(metadatumJson(reader))
      return { list }
    }
    case Major.map: {
      const map: unknown[] = []
      const count = reader.readMap()
      for (let i = 0; reader.hasNext(count, i); i++)
        map.push({ k: metadatumJson(reader), v: metadatumJson(reader) })
      return { map }
    }
    default:
      return { int: reader.readInteger() }
  }
}

/** Each page of an open block is read from its beginning. */
const mostOpen = 10_000

/**
 * The transactions of a block, or the one with an id.
 * @throws {ChainUnavailableError} if the block is undone meanwhile
 * @throws {KupoError} if the block is open and has too many
 */
async function* transactionPages(
  chain: ChainView,
  block: ChainBlock,
  id: string | undefined,
): AsyncGenerator<readonly Transaction[], void> {
  if (id !== undefined) {
    const found = await chain.transaction(id)
    if (found?.place?.block.hash === block.hash) yield [found.transaction.transaction]
    return
  }
  if (block.open === true && block.transactionCount > mostOpen) throw new KupoError(hints.openBlock)
  for await (const page of blockTransactions(chain, block)) yield page.map(({ transaction }) => transaction)
}

/** The version of Kupo whose answers these are. */
const version = 'v2.12.0'

/** Slots that an index may be behind before Kupo calls it one that synchronizes: 200 blocks on layer 1. */
const mostBehind = 4000n

/** The state of an index, with the names of Kupo. Null where there is no block yet. */
interface Health {
  readonly connection_status: 'connected' | 'disconnected'
  readonly most_recent_checkpoint: bigint | null
  readonly most_recent_node_tip: bigint | null
  readonly seconds_since_last_block: bigint | null
  readonly network_synchronization: number | null
  readonly configuration: { readonly indexes: 'installed' }
  readonly version: string
}

const unknown = {
  connection_status: 'connected',
  most_recent_checkpoint: null,
  most_recent_node_tip: null,
  seconds_since_last_block: null,
  network_synchronization: null,
  configuration: { indexes: 'installed' },
  version,
} as const

/** The health of a chain that cannot be read. */
const disconnected: Health = { ...unknown, connection_status: 'disconnected' }

async function readHealth(chain: ChainView): Promise<Health> {
  const [tip, checkpoint] = await Promise.all([chain.tip(), chain.indexedSlot()])
  if (tip.height === 0) return unknown
  const since = (chain.currentSlot() - checkpoint) * BigInt(chain.slots.slotLength)
  return {
    ...unknown,
    most_recent_checkpoint: checkpoint,
    most_recent_node_tip: tip.slot,
    seconds_since_last_block: since < 0n ? 0n : since / 1000n,
    network_synchronization: synchronization(chain, checkpoint, tip.slot),
  }
}

export function statusOf({
  connection_status,
  most_recent_checkpoint,
  most_recent_node_tip,
}: Health): number {
  if (connection_status === 'disconnected') return 503
  return (most_recent_node_tip ?? 0n) - (most_recent_checkpoint ?? 0n) < mostBehind ? 200 : 202
}

/** Health in the text format of Prometheus. */
function healthMetrics(health: Health): string {
  const values = [
    ['configuration_indexes', 'gauge', 1],
    ['connection_status', 'gauge', health.connection_status === 'connected' ? 1 : 0],
    ['most_recent_checkpoint', 'counter', health.most_recent_checkpoint],
    ['most_recent_node_tip', 'counter', health.most_recent_node_tip],
    ['network_synchronization', 'gauge', health.network_synchronization],
    ['seconds_since_last_block', 'gauge', health.seconds_since_last_block],
  ] as const
  return values
    .filter(([, , value]) => value !== null)
    .map(([name, type, value]) => `# TYPE kupo_${name} ${type}\nkupo_${name}  ${value}\n`)
    .join('\n')
}
