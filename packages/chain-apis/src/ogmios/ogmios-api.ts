import { setTimeout as delay } from 'node:timers/promises'
import type { WebSocket } from '@fastify/websocket'
import { slotToTime } from '@ratatosk/ledger'
import { Mutex } from 'async-mutex'
import type { FastifyBaseLogger, FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { noteHandlers, refusalOf } from '../errors.js'
import { type ApiOptions, addFaultHook, garbage } from '../faults/fault-hook.js'
import { maxRequestLength } from '../input.js'
import { encodeJson, encodeJsonParts } from '../json.js'
import { bodyOf, clientOf, type LongLists } from '../long-lists.js'
import { epochLength, epochOf } from '../mainnet-values.js'
import type { OgmiosVersion } from '../options.js'
import { turnLength } from '../pause.js'
import { synchronization } from '../view/synchronization.js'
import { createBlockReader } from './block-reader.js'
import { networkName, utcTime } from './json/transaction-json.js'
import { createMempoolFeed } from './mempool-feed.js'
import { tipJson } from './queries.js'
import { failure, RpcError, type RpcRequest, type RpcResponse, readRequest, unavailable } from './rpc.js'
import { createSession, operationOf, type Session } from './session.js'
import { createLanes, receive, waitingMethods } from './waiting-requests.js'

const json = 'application/json; charset=utf-8'

interface OgmiosOptions extends ApiOptions {
  readonly lists: LongLists
  readonly version: OgmiosVersion
  /** Whether responses have no field `method`, which JSON-RPC does not know. */
  readonly strictRpc: boolean
  /** The most WebSockets of the server; more are refused. */
  readonly maxWebSockets: number
  /** Time for which a WebSocket may not take a part of a message, in milliseconds; then it is closed. */
  readonly stallTimeoutMs: number
}

const announced = { '6': 'v6.14.0', '7': 'v7.0.0' } as const satisfies Record<OgmiosVersion, string>

interface Server extends Pick<OgmiosOptions, 'faults' | 'strictRpc' | 'stallTimeoutMs'> {
  readonly context: Parameters<typeof createSession>[0]
  /** For messages on WebSockets: thousands may arrive, or get an answer, in one turn of the event loop. */
  readonly turn: () => Promise<void>
  connections: number
}

interface Connection {
  readonly server: Server
  readonly socket: WebSocket
  readonly session: Session
}

/** The part of Ogmios that wallets and SDKs use: JSON-RPC 2.0 with `@cardano-ogmios/schema`'s messages. */
export async function ogmiosApi(
  fastify: FastifyInstance,
  { chain, lists, faults, maxWebSockets, stallTimeoutMs, version, strictRpc }: OgmiosOptions,
): Promise<void> {
  const readers = { blocks: createBlockReader(chain, version), mempool: createMempoolFeed(chain) }
  const context = { chain, lists, version, ...readers }
  const server: Server = { context, faults, strictRpc, stallTimeoutMs, turn: createTurns(), connections: 0 }

  fastify.setErrorHandler(handleError)
  noteHandlers(fastify)
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

  fastify.get('/health', { config: { operation: 'tip' } }, async (_request, reply) =>
    reply.type(json).send(encodeJson(await healthOf(server))),
  )

  fastify.post<{ Body: unknown }>('/', { bodyLimit: maxRequestLength }, async (request, reply) => {
    const session = createSession(context, (error) => request.log.error(error), clientOf(reply))
    try {
      const response = await session.answer(readRequest(String(request.body ?? '')))
      const status = statusOf(response)
      if (status === 503) reply.header('retry-after', '1')
      return reply
        .code(status)
        .type(json)
        .send(await bodyOf(encodeJsonParts(wire(server, response))))
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

  fastify.route({
    method: 'GET',
    url: '/',
    handler: async (_request, reply) => {
      const message = 'Invalid request: open a WebSocket, or send the request by POST.'
      reply.code(426).headers({ upgrade: 'websocket', connection: 'upgrade' }).type(json)
      return encodeJson(failure(undefined, { code: -32_600, message }))
    },
    wsHandler: (socket, { log }) => connect(server, socket, log),
  })
}

const wire = ({ strictRpc }: Server, response: RpcResponse): RpcResponse =>
  strictRpc ? { ...response, method: undefined } : response

async function healthOf(server: Server) {
  const { chain, version } = server.context
  const tip = await chain.tip()
  return {
    startTime: utcTime(slotToTime(chain.slots, 0n)),
    lastKnownTip: tipJson(tip),
    lastTipUpdate: new Date().toISOString(),
    networkSynchronization: synchronization(chain, await chain.indexedSlot(), tip.slot),
    currentEra: 'conway',
    metrics: { activeConnections: server.connections },
    connectionStatus: 'connected',
    currentEpoch: epochOf(tip.slot),
    slotInEpoch: tip.slot % epochLength,
    version: announced[version],
    network: networkName(chain),
  }
}

function connect(server: Server, socket: WebSocket, log: FastifyBaseLogger): void {
  server.connections++
  const left = new AbortController()
  const client = { signal: left.signal, disconnect: () => socket.terminate() }
  const session = createSession(server.context, (error) => log.error(error), client)
  const send = createSender(socket, server.stallTimeoutMs)
  const laneOf = createLanes()
  receive(socket, async (text) => {
    const request = parse(text)
    const method = request instanceof RpcError ? '' : request.method
    try {
      await laneOf(method).run(
        method,
        async () => {
          await server.turn()
          // The client may have left while the request waited.
          if (socket.readyState !== socket.OPEN) return undefined
          if (request instanceof RpcError) return encodeJson(failure(undefined, request))
          return messageFor({ server, socket, session }, request)
        },
        async (message) => {
          if (message !== undefined) await send(message)
        },
      )
    } catch (error) {
      // A client that leaves in the middle of a list ends it with an error.
      if (!left.signal.aborted) log.error(error)
      socket.terminate()
    }
  })
  socket.on('error', (error) => log.info(error))
  socket.on('close', () => {
    server.connections--
    left.abort()
    session.close()
  })
}

/** The response to a request; undefined if a fault makes that there is none. */
async function messageFor(
  { server, socket, session }: Connection,
  request: RpcRequest,
): Promise<Message | undefined> {
  const failureMessage = (code: number, message: string) =>
    encodeJson(wire(server, failure(request, { code, message })))
  const fault = server.faults?.take('ogmios', operationOf(request.method))
  switch (fault?.kind) {
    case 'time-out':
      return undefined
    case 'refusal':
      socket.terminate()
      return undefined
    case 'rate-limit':
      return failureMessage(-32_000, 'Usage is over limit.')
    case 'failure':
      return failureMessage(-32_603, 'Internal error.')
    case 'garbage':
      return garbage
    case 'delay':
      await delay(fault.delayMs ?? 1000)
  }
  const response = await session.answer(request)
  if (fault?.kind === 'lost-answer') {
    socket.terminate()
    return undefined
  }
  if (waitingMethods.has(request.method)) await server.turn()
  return encodeJsonParts(wire(server, response))
}

/** Answers what is thrown outside of a session, which answers the errors of its methods. */
function handleError(error: FastifyError, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const { status, message = 'Internal error.' } = refusalOf(error, request, reply)
  const code = status < 500 ? -32_600 : status === 503 ? unavailable : -32_603
  const body = failure(undefined, { code, message })
  return reply.code(status).type(json).send(encodeJson(body))
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

/** A message, whole or in parts. */
type Message = string | AsyncIterable<string | Buffer>

/**
 * Sends a message after those before it. Resolves when the connection has taken it, so
 * that a client that does not read gets no further responses.
 */
type Send = (message: Message) => Promise<void>

/** Bytes of a message that are sent at a time, as one fragment. */
const fragmentLength = 64 * 1024

/** @param stallTimeoutMs time for which the connection may not take a fragment; then it is closed */
function createSender(socket: WebSocket, stallTimeoutMs: number): Send {
  const sending = new Mutex()

  function sendFragment(bytes: Buffer, fin: boolean): Promise<void> {
    return new Promise((resolve) => {
      let isTaken = false
      // After the sockets were written to: a turn of the event loop may have been late.
      const check = () => {
        if (!isTaken) socket.terminate()
      }
      const timer = setTimeout(() => setImmediate(check), stallTimeoutMs)
      // An error means that the connection is closed, which ends the session.
      socket.send(bytes, { binary: false, fin }, () => {
        isTaken = true
        clearTimeout(timer)
        resolve()
      })
    })
  }

  return (message) =>
    sending.runExclusive(async () => {
      // Small parts share a fragment. The last one says so, and it is known when the parts have ended.
      let held: Buffer[] = []
      let length = 0
      for await (const part of typeof message === 'string' ? [message] : message) {
        // Before each part, also an empty one: leaving the loop ends what makes the parts.
        if (socket.readyState !== socket.OPEN) return
        for (const bytes of fragmentsOf(part)) {
          if (length + bytes.length > fragmentLength) {
            await sendFragment(joined(held), false)
            held = []
            length = 0
          }
          held.push(bytes)
          length += bytes.length
        }
      }
      if (length > 0) await sendFragment(joined(held), true)
    })
}

/** Parts as one buffer; a part alone is not copied. */
const joined = (parts: readonly Buffer[]): Buffer =>
  parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts)

function fragmentsOf(part: string | Buffer): Buffer[] {
  const bytes = typeof part === 'string' ? Buffer.from(part) : part
  const fragments: Buffer[] = []
  for (let start = 0; start < bytes.length; start += fragmentLength)
    fragments.push(bytes.subarray(start, start + fragmentLength))
  return fragments
}

/**
 * Spreads the work of many clients over turns of the event loop, by a function to await before each piece:
 * callers go on in order, and after 10 ms the rest follows in the next turn.
 */
export function createTurns(): () => Promise<void> {
  const waiting = new Set<() => void>()
  /** Whether a step is due in this turn. */
  let stepping = false
  /** When the first of this turn went on, in milliseconds of `performance.now()`. */
  let began: number | undefined

  /** After the one before has worked, as far as it waits for nothing. */
  function stepSoon(): void {
    stepping = true
    queueMicrotask(() => process.nextTick(step))
  }

  function step(): void {
    stepping = false
    const [oldest] = waiting
    if (oldest === undefined) return
    if (began === undefined) setImmediate(nextTurn)
    began ??= performance.now()
    if (performance.now() - began >= turnLength) return
    waiting.delete(oldest)
    stepSoon()
    oldest()
  }

  function nextTurn(): void {
    began = undefined
    step()
  }

  return () =>
    new Promise((resolve) => {
      waiting.add(resolve)
      if (!stepping) stepSoon()
    })
}
