import { Readable } from 'node:stream'
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type ConnectedClient, clientOf } from '../client-signal.js'
import { isChainUnavailable, isForClients } from '../errors.js'
import { type ApiOptions, addFaultHook } from '../faults/fault-hook.js'
import { encodeJson } from '../json.js'
import type { LongLists } from '../long-lists.js'
import type { ChainOutput, ChainOutputQuery, ListPart } from '../view/chain-view.js'
import { matchesJson, pointJson, scriptJson } from './match-json.js'
import { type Filters, readFilters, readPattern } from './pattern.js'

interface MatchesQuery extends Filters {
  readonly spent?: string
  readonly unspent?: string
  readonly order?: string
  readonly resolve_hashes?: string
}

/** The part of the Kupo API that wallets and SDKs use: matches, datums, scripts, health and checkpoints. */
export async function kupoApi(
  fastify: FastifyInstance,
  { chain, lists, faults }: ApiOptions & { readonly lists: LongLists },
): Promise<void> {
  fastify.setErrorHandler((error: FastifyError, request, reply) => {
    const status = error.statusCode ?? 500
    const isExpected = status < 500 || isForClients(error)
    if (!isExpected) request.log.error(error)
    if (isChainUnavailable(error)) reply.header('retry-after', '1')
    return reply.code(status).send(hint(isExpected ? error.message : 'Unexpected server error.'))
  })
  fastify.setNotFoundHandler((_request, reply) =>
    reply
      .code(404)
      .send(
        hint(
          'Endpoint not found. Make sure to double-check the documentation at: ' +
            'https://cardanosolutions.github.io/kupo!',
        ),
      ),
  )
  addFaultHook(fastify, {
    faults,
    target: 'kupo',
    errorBody: (_status, message) => hint(message),
  })
  fastify.addHook('onSend', async (_request, reply, payload) => {
    const { slot, hash } = await chain.tip()
    reply.header('x-most-recent-checkpoint', String(slot)).header('etag', hash)
    return payload
  })

  const utxos = { config: { operation: 'utxos' as const } }
  fastify.get<{ Params: { '*': string }; Querystring: MatchesQuery }>(
    '/matches/*',
    utxos,
    async (request, reply) => sendMatches(request, reply, readSelection(request.params['*'], request.query)),
  )
  fastify.get<{ Querystring: MatchesQuery }>('/matches', utxos, async (request, reply) =>
    sendMatches(request, reply, readSelection('*', request.query)),
  )

  async function sendMatches(
    { method }: FastifyRequest,
    reply: FastifyReply,
    selection: Selection | string,
  ): Promise<FastifyReply> {
    if (typeof selection === 'string') return reply.code(400).send(hint(selection))
    // HEAD costs no search.
    const body = method === 'HEAD' ? [] : await matchesOf(selection, clientOf(reply))
    return reply.type(jsonType).send(Readable.from(body))
  }

  function matchesOf({ query, order, resolveHashes, matches }: Selection, client: ConnectedClient) {
    const itemsOf = (page: readonly ChainOutput[]) => matchesJson(chain, page.filter(matches), resolveHashes)
    return lists.read(chain.outputPages(query, order), itemsOf, client)
  }

  const hash = /^[0-9a-f]+$/
  fastify.get<{ Params: { hash: string } }>(
    '/datums/:hash',
    { config: { operation: 'datum' } },
    async ({ params }, reply) => {
      if (params.hash.length !== 64 || !hash.test(params.hash)) {
        return reply.code(400).send(hint('Invalid datum hash: expected 64 lower-case hex digits.'))
      }
      const datum = (await chain.datums([params.hash])).get(params.hash)
      return json(reply, datum === undefined ? null : { datum: Buffer.from(datum).toString('hex') })
    },
  )
  fastify.get<{ Params: { hash: string } }>(
    '/scripts/:hash',
    { config: { operation: 'script' } },
    async ({ params }, reply) => {
      if (params.hash.length !== 56 || !hash.test(params.hash)) {
        return reply.code(400).send(hint('Invalid script hash: expected 56 lower-case hex digits.'))
      }
      const script = await chain.script(params.hash)
      return json(reply, script === undefined ? null : scriptJson(script))
    },
  )

  const tip = { config: { operation: 'tip' as const } }
  fastify.get('/health', tip, async (_request, reply) => {
    const { slot } = await chain.tip()
    return json(reply, {
      connection_status: 'connected',
      most_recent_checkpoint: slot,
      most_recent_node_tip: slot,
      seconds_since_last_block: ((chain.currentSlot() - slot) * BigInt(chain.slots.slotLength)) / 1000n,
      network_synchronization: 1,
      configuration: { indexes: 'installed' },
      version: 'v2.11.0',
    })
  })
  fastify.get('/checkpoints', tip, async (_request, reply) => {
    const points = []
    for (let { height } = await chain.tip(), back = 1; height > 0; height -= back, back *= 2) {
      const block = await chain.block(height)
      if (block !== undefined && block.open !== true) points.push(pointJson(block))
    }
    return json(reply, points)
  })
  fastify.get('/patterns', async () => ['*'])
}

const jsonType = 'application/json;charset=utf-8'

function json(reply: FastifyReply, body: unknown): FastifyReply {
  return reply.type(jsonType).send(encodeJson(body))
}

interface Selection {
  readonly query: ChainOutputQuery
  readonly order: NonNullable<ListPart['order']>
  readonly resolveHashes: boolean
  matches(output: ChainOutput): boolean
}

/** @returns what the request selects, or what is wrong with it */
function readSelection(text: string, query: MatchesQuery): Selection | string {
  const pattern = readPattern(text)
  if (pattern === undefined) {
    return 'Invalid pattern! Fetching matches from a pattern must be done using a valid pattern.'
  }
  const filters = readFilters(query)
  if (typeof filters === 'string') return filters
  const order = query.order ?? 'most_recent_first'
  if (order !== 'most_recent_first' && order !== 'oldest_first') {
    return 'order must be most_recent_first or oldest_first'
  }
  const onlySpent = query.spent !== undefined
  const onlyUnspent = query.unspent !== undefined
  if (onlySpent && onlyUnspent) return 'spent and unspent are mutually exclusive'
  return {
    query: {
      ...filters.query,
      ...pattern.query,
      ...(onlySpent && { spent: true }),
      ...(onlyUnspent && { spent: false }),
    },
    order: order === 'oldest_first' ? 'oldest-first' : 'newest-first',
    resolveHashes: query.resolve_hashes !== undefined,
    matches: (output) => pattern.matches(output) && filters.matches(output),
  }
}

function hint(text: string): { hint: string } {
  return { hint: text }
}
