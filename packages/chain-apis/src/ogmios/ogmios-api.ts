import { setTimeout as delay } from 'node:timers/promises'
import type { WebSocket } from '@fastify/websocket'
import { slotToTime } from '@ratatosk/ledger'
import { Mutex } from 'async-mutex'
import type { FastifyInstance } from 'fastify'
import { clientOf } from '../client-signal.js'
import { type ApiOptions, addFaultHook, garbage } from '../faults/fault-hook.js'
import { encodeJson, encodeJsonParts } from '../json.js'
import { maxRequestLength } from '../limits.js'
import type { LongLists } from '../long-lists.js'
import { epochLength, epochOf } from '../mainnet-values.js'
import { bodyOf } from '../read-ahead.js'
import { createTurns } from '../turns.js'
import type { OgmiosVersion } from '../versions.js'
import { createBlockReader } from './block-reader.js'
import { createMempoolFeed } from './mempool-feed.js'
import { networkName, tipJson, utcTime } from './queries.js'
import { failure, RpcError, type RpcRequest, type RpcResponse, readRequest, unavailable } from './rpc.js'
import { createSender, type Send } from './sender.js'
import { createSession, operationOf, type Session } from './session.js'

const json = 'application/json; charset=utf-8'

/** Bytes of requests of one connection that wait for their responses; beyond it, the connection is closed. */
const maxPending = 1024 * 1024
/** The size of a waiting request beside its text, in bytes. */
const requestOverhead = 512

/** Methods that may wait for the chain to change. They delay each other, but no other method. */
const waitingMethods = new Set(['findIntersection', 'nextBlock', 'acquireMempool'])

interface OgmiosOptions extends ApiOptions {
  readonly lists: LongLists
  readonly version: OgmiosVersion
  /** The most WebSockets of the server; more are refused. */
  readonly maxWebSockets: number
  /** Time for which a WebSocket may not take a part of a message, in milliseconds; then it is closed. */
  readonly stallTimeoutMs: number
}

const announced = { '6': 'v6.14.0', '7': 'v7.0.0' } as const satisfies Record<OgmiosVersion, string>

interface Connection {
  readonly socket: WebSocket
  readonly send: Send
  readonly session: Session
}

/** The part of Ogmios that wallets and SDKs use: JSON-RPC 2.0 with `@cardano-ogmios/schema`'s messages. */
export async function ogmiosApi(
  fastify: FastifyInstance,
  { chain, lists, faults, maxWebSockets, stallTimeoutMs, version }: OgmiosOptions,
): Promise<void> {
  const context = {
    chain,
    lists,
    blocks: createBlockReader(chain, version),
    mempool: createMempoolFeed(chain),
    version,
  }
  let connections = 0
  /** For messages on WebSockets: thousands may arrive, or get an answer, in one turn of the event loop. */
  const turn = createTurns()

  fastify.removeAllContentTypeParsers()
  fastify.addContentTypeParser('*', { parseAs: 'string' }, (_request, body, done) => done(null, body))
  addFaultHook(fastify, {
    faults,
    target: 'ogmios',
    operationOf: ({ body, routeOptions, ws }) => {
      // On a WebSocket, faults apply to the messages, not to the upgrade request.
      if (ws) return undefined
      if (typeof body !== 'string') return routeOptions.config.operation ?? 'other'
      try {
        return operationOf(readRequest(body).method)
      } catch {
        return 'other'
      }
    },
    errorBody: (_status, message) => failure(undefined, { code: -32_000, message }),
  })

  fastify.addHook('onRequest', async (request, reply) => {
    if (!request.ws || fastify.websocketServer.clients.size < maxWebSockets) return
    const message = 'Too many WebSockets: retry later'
    const body = failure(undefined, { code: unavailable, message })
    return reply.code(503).header('retry-after', '1').type(json).send(encodeJson(body))
  })

  fastify.get('/health', { config: { operation: 'tip' } }, async (_request, reply) => {
    const tip = await chain.tip()
    return reply.type(json).send(
      encodeJson({
        startTime: utcTime(slotToTime(chain.slots, 0n)),
        lastKnownTip: tipJson(tip),
        lastTipUpdate: new Date().toISOString(),
        networkSynchronization: 1,
        currentEra: 'conway',
        metrics: { activeConnections: connections },
        connectionStatus: 'connected',
        currentEpoch: epochOf(tip.slot),
        slotInEpoch: tip.slot % epochLength,
        version: announced[version],
        network: networkName(chain),
      }),
    )
  })

  fastify.post<{ Body: unknown }>('/', { bodyLimit: maxRequestLength }, async (request, reply) => {
    const session = createSession(context, (error) => request.log.error(error), clientOf(reply))
    try {
      const response = await session.answer(readRequest(String(request.body ?? '')))
      const status = statusOf(response)
      if (status === 503) reply.header('retry-after', '1')
      return reply
        .code(status)
        .type(json)
        .send(await bodyOf(encodeJsonParts(response)))
    } catch (error) {
      if (!(error instanceof RpcError)) throw error
      return reply
        .code(400)
        .type(json)
        .send(encodeJson(failure(undefined, error)))
    } finally {
      session.close()
    }
  })

  fastify.get('/', { websocket: true }, (socket, request) => {
    connections++
    const left = new AbortController()
    const client = { signal: left.signal, disconnect: () => socket.terminate() }
    const session = createSession(context, (error) => request.log.error(error), client)
    const send = createSender(socket, stallTimeoutMs)
    // Responses come in the order of the requests, except that waiting methods have an order of their own.
    const waiting = new Mutex()
    const prompt = new Mutex()
    let pending = 0
    socket.on('message', (message) => {
      const text = String(message)
      const size = text.length + requestOverhead
      if (pending + size > maxPending) return socket.close(1013, 'Too many requests are pending')
      pending += size
      const parsed = parse(text)
      const queue = parsed instanceof RpcError || !waitingMethods.has(parsed.method) ? prompt : waiting
      queue
        .runExclusive(async () => {
          await turn()
          // The client may have left while the request waited.
          if (socket.readyState !== socket.OPEN) return
          if (parsed instanceof RpcError) await send(encodeJson(failure(undefined, parsed)))
          else await respond({ socket, send, session }, parsed)
        })
        .catch((error) => {
          // A client that leaves in the middle of a list ends it with an error.
          if (!left.signal.aborted) request.log.error(error)
          socket.terminate()
        })
        .finally(() => {
          pending -= size
        })
    })
    socket.on('error', (error) => request.log.info(error))
    socket.on('close', () => {
      connections--
      left.abort()
      session.close()
    })
  })

  async function respond({ socket, send, session }: Connection, request: RpcRequest): Promise<void> {
    const fault = faults?.take('ogmios', operationOf(request.method))
    switch (fault?.kind) {
      case 'time-out':
        return
      case 'refusal':
        return socket.terminate()
      case 'rate-limit':
        return send(encodeJson(failure(request, { code: -32_000, message: 'Usage is over limit.' })))
      case 'failure':
        return send(encodeJson(failure(request, { code: -32_603, message: 'Internal error.' })))
      case 'garbage':
        return send(garbage)
      case 'delay':
        await delay(fault.delayMs ?? 1000)
    }
    const response = await session.answer(request)
    if (fault?.kind === 'lost-answer') return socket.terminate()
    if (waitingMethods.has(request.method)) await turn()
    await send(encodeJsonParts(response))
  }
}

/** Ogmios answers errors by POST with 400; 503 invites clients and proxies to repeat the request. */
function statusOf({ error }: RpcResponse): number {
  if (error === undefined) return 200
  return error.code === unavailable ? 503 : 400
}

function parse(message: string): RpcRequest | RpcError {
  try {
    return readRequest(message)
  } catch (error) {
    if (error instanceof RpcError) return error
    throw error
  }
}
