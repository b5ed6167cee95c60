import type { FastifyError, FastifyInstance, FastifyReply } from 'fastify'
import type { ChainOutput } from '../../chain/types.js'
import type { Devnet } from '../../types.js'
import { addFaultHook } from '../fault-hook.js'
import { encodeJson } from '../json.js'
import { matchJson, pointJson, scriptJson } from './match-json.js'
import { type Filters, readFilters, readPattern } from './pattern.js'

interface MatchesQuery extends Filters {
  readonly spent?: string
  readonly unspent?: string
  readonly order?: string
  readonly resolve_hashes?: string
}

/** The part of Kupo's HTTP API that wallets and SDKs need: matches, datums, scripts, health, checkpoints. */
export async function kupoFace(fastify: FastifyInstance, { devnet }: { devnet: Devnet }): Promise<void> {
  fastify.setErrorHandler((error: FastifyError, request, reply) => {
    const status = error.statusCode ?? 500
    if (status >= 500) request.log.error(error)
    return reply.code(status).send(hint(status >= 500 ? 'Unexpected server error.' : error.message))
  })
  fastify.setNotFoundHandler((_request, reply) =>
    reply
      .code(404)
      .send(
        hint(
          'Endpoint not found. Make sure to double-check the documentation at: https://cardanosolutions.github.io/kupo!',
        ),
      ),
  )
  addFaultHook(fastify, {
    faults: devnet.faults,
    face: 'kupo',
    errorBody: (_status, message) => hint(message),
  })
  fastify.addHook('onSend', async (_request, reply, payload) => {
    const { slot, hash } = devnet.tip()
    reply.header('x-most-recent-checkpoint', String(slot)).header('etag', hash)
    return payload
  })

  function matches(text: string, query: MatchesQuery): ChainOutput[] | string {
    const pattern = readPattern(text)
    if (pattern === undefined) {
      return 'Invalid pattern! Fetching matches from a pattern must be done using a valid pattern.'
    }
    const condition = readFilters(query)
    if (typeof condition === 'string') return condition
    const order = query.order ?? 'most_recent_first'
    if (order !== 'most_recent_first' && order !== 'oldest_first') {
      return 'order must be most_recent_first or oldest_first'
    }
    const onlySpent = query.spent !== undefined
    const onlyUnspent = query.unspent !== undefined
    if (onlySpent && onlyUnspent) return 'spent and unspent exclude each other'
    const { transaction } = pattern.query
    const made = (): ChainOutput[] =>
      transaction === undefined ? devnet.outputs() : devnet.outputsOf(transaction)
    const candidates = onlyUnspent ? devnet.utxos(pattern.query) : made()
    const found = candidates.filter(
      (output) => (!onlySpent || output.spent !== undefined) && pattern.matches(output) && condition(output),
    )
    return order === 'oldest_first' ? found : found.reverse()
  }

  const utxos = { config: { operation: 'utxos' as const } }
  fastify.get<{ Params: { '*': string }; Querystring: MatchesQuery }>(
    '/matches/*',
    utxos,
    async ({ params, query }, reply) => answer(reply, matches(params['*'], query), query),
  )
  fastify.get<{ Querystring: MatchesQuery }>('/matches', utxos, async ({ query }, reply) =>
    answer(reply, matches('*', query), query),
  )

  function answer(reply: FastifyReply, found: ChainOutput[] | string, query: MatchesQuery): FastifyReply {
    if (typeof found === 'string') return reply.code(400).send(hint(found))
    const resolve = query.resolve_hashes !== undefined
    return json(
      reply,
      found.map((output) => matchJson(devnet, output, resolve)),
    )
  }

  const hash = /^[0-9a-f]+$/
  fastify.get<{ Params: { hash: string } }>(
    '/datums/:hash',
    { config: { operation: 'datum' } },
    async ({ params }, reply) => {
      if (params.hash.length !== 64 || !hash.test(params.hash)) {
        return reply.code(400).send(hint('Invalid datum hash: 64 lower-case hex digits are expected.'))
      }
      const datum = devnet.datum(params.hash)
      return json(reply, datum === undefined ? null : { datum: Buffer.from(datum).toString('hex') })
    },
  )
  fastify.get<{ Params: { hash: string } }>(
    '/scripts/:hash',
    { config: { operation: 'script' } },
    async ({ params }, reply) => {
      if (params.hash.length !== 56 || !hash.test(params.hash)) {
        return reply.code(400).send(hint('Invalid script hash: 56 lower-case hex digits are expected.'))
      }
      const script = devnet.script(params.hash)
      return json(reply, script === undefined ? null : scriptJson(script))
    },
  )

  const tip = { config: { operation: 'tip' as const } }
  fastify.get('/health', tip, async (_request, reply) => {
    const { slot } = devnet.tip()
    return json(reply, {
      connection_status: 'connected',
      most_recent_checkpoint: slot,
      most_recent_node_tip: slot,
      seconds_since_last_block: ((devnet.currentSlot() - slot) * BigInt(devnet.slots.slotLength)) / 1000n,
      network_synchronization: 1,
      configuration: { indexes: 'installed' },
      version: 'v2.11.0',
    })
  })
  fastify.get('/checkpoints', tip, async (_request, reply) => {
    const points = []
    for (let { height } = devnet.tip(), back = 1; height > 0; height -= back, back *= 2) {
      const block = devnet.block(height)
      if (block !== undefined) points.push(pointJson(block))
    }
    return json(reply, points)
  })
  fastify.get('/patterns', async () => ['*'])
}

function json(reply: FastifyReply, body: unknown): FastifyReply {
  return reply.type('application/json;charset=utf-8').send(encodeJson(body))
}

function hint(text: string): { hint: string } {
  return { hint: text }
}
