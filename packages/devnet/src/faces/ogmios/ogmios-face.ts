import { setTimeout as delay } from 'node:timers/promises'
import type { WebSocket } from '@fastify/websocket'
import type { FastifyInstance } from 'fastify'
import type { Devnet } from '../../types.js'
import { epochLength, epochOf } from '../epochs.js'
import { addFaultHook, garbage } from '../fault-hook.js'
import { encodeJson } from '../json.js'
import { tipJson, utcTime } from './queries.js'
import { failure, RpcError, type RpcRequest, readRequest } from './rpc.js'
import { createSession, operationOf, type Session } from './session.js'

const json = 'application/json; charset=utf-8'

/** Methods that may wait for the chain to go on: they hold up their own kind only. */
const waiting = new Set(['findIntersection', 'nextBlock', 'acquireMempool'])

/**
 * The part of Ogmios that wallets and SDKs need, by WebSocket and by POST: JSON-RPC 2.0, whose messages have the shapes of
 * `@cardano-ogmios/schema`.
 */
export async function ogmiosFace(fastify: FastifyInstance, { devnet }: { devnet: Devnet }): Promise<void> {
  let connections = 0

  fastify.removeAllContentTypeParsers()
  fastify.addContentTypeParser('*', { parseAs: 'string' }, (_request, body, done) => done(null, body))
  addFaultHook(fastify, {
    faults: devnet.faults,
    face: 'ogmios',
    operationOf: ({ body, routeOptions, ws }) => {
      // Faults of a connection are met by its messages, not by its opening.
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

  fastify.get('/health', { config: { operation: 'tip' } }, async (_request, reply) => {
    const tip = devnet.tip()
    return reply.type(json).send(
      encodeJson({
        startTime: utcTime(devnet.slots.zeroTime),
        lastKnownTip: tipJson(tip),
        lastTipUpdate: new Date().toISOString(),
        networkSynchronization: 1,
        currentEra: 'conway',
        metrics: { activeConnections: connections },
        connectionStatus: 'connected',
        currentEpoch: epochOf(tip.slot),
        slotInEpoch: tip.slot % epochLength,
        version: 'v6.14.0',
        network: 'testnet',
      }),
    )
  })

  fastify.post<{ Body: unknown }>('/', async (request, reply) => {
    const session = createSession(devnet, (error) => request.log.error(error))
    try {
      const response = await session.answer(readRequest(String(request.body ?? '')))
      return reply
        .code(response.error === undefined ? 200 : 400)
        .type(json)
        .send(encodeJson(response))
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
    const session = createSession(devnet, (error) => request.log.error(error))
    const lines = { waiting: Promise.resolve(), prompt: Promise.resolve() }
    socket.on('message', (message) => {
      const parsed = parse(String(message))
      if (parsed instanceof RpcError) return send(socket, encodeJson(failure(undefined, parsed)))
      const line = waiting.has(parsed.method) ? 'waiting' : 'prompt'
      lines[line] = lines[line].then(() => respond(socket, session, parsed))
    })
    socket.on('error', (error) => request.log.info(error))
    socket.on('close', () => {
      connections--
      session.close()
    })
  })

  async function respond(socket: WebSocket, session: Session, request: RpcRequest): Promise<void> {
    const fault = devnet.faults.meet('ogmios', operationOf(request.method))
    switch (fault?.kind) {
      case 'time-out':
        return
      case 'refusal':
        return socket.terminate()
      case 'rate-limit':
        return send(socket, encodeJson(failure(request, { code: -32_000, message: 'Usage is over limit.' })))
      case 'failure':
        return send(socket, encodeJson(failure(request, { code: -32_603, message: 'Internal error.' })))
      case 'garbage':
        return send(socket, garbage)
      case 'delay':
        await delay(fault.delayMs ?? 1000)
    }
    const response = await session.answer(request)
    if (fault?.kind === 'lost-answer') return socket.terminate()
    send(socket, encodeJson(response))
  }
}

function parse(message: string): RpcRequest | RpcError {
  try {
    return readRequest(message)
  } catch (error) {
    if (error instanceof RpcError) return error
    throw error
  }
}

function send(socket: WebSocket, text: string): void {
  if (socket.readyState === socket.OPEN) socket.send(text)
}
