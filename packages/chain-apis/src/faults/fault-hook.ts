import type { Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { ChainView } from '../view/chain-view.js'
import type { FaultOperation, FaultSource, FaultTarget } from './faults.js'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The operation of a route, for faults that apply to one operation only. */
    operation?: FaultOperation
  }
}

export interface ApiOptions {
  readonly chain: ChainView
  readonly faults?: FaultSource | undefined
}

interface FaultHook {
  readonly faults: FaultSource | undefined
  readonly target: FaultTarget
  /** The operation of a request; undefined exempts it from faults. Default: from the route's config. */
  readonly operationOf?: (request: FastifyRequest) => FaultOperation | undefined
  /** The body of an error response in the format of the API. */
  readonly errorBody: (status: 429 | 500, message: string) => unknown
}

/** Neither JSON nor CBOR. */
export const garbage = '<html>\u0000 garbage \ufffd{"'

/** Applies injected faults to the requests of one API. */
export function addFaultHook(fastify: FastifyInstance, hook: FaultHook): void {
  const { faults, target, errorBody } = hook
  if (faults === undefined) return
  const operationOf = hook.operationOf ?? ((request) => request.routeOptions.config.operation ?? 'other')
  const unanswered = new Set<Socket>()
  const closeBeforeResponse = new WeakSet<FastifyRequest>()

  fastify.addHook('preHandler', async (request, reply) => {
    const operation = operationOf(request)
    const fault = operation && faults.take(target, operation)
    if (fault === undefined) return
    switch (fault.kind) {
      case 'time-out':
        keepUnanswered(request.raw.socket)
        reply.hijack()
        return reply
      case 'refusal':
        return closeConnection(request, reply)
      case 'rate-limit':
        return reply.code(429).send(errorBody(429, 'Usage is over limit.'))
      case 'failure':
        return reply.code(500).send(errorBody(500, 'An unexpected response was received from the backend.'))
      case 'garbage':
        return reply.type('application/json; charset=utf-8').serializer(String).send(garbage)
      case 'delay':
        await delay(fault.delayMs ?? 1000)
        return
      case 'lost-answer':
        closeBeforeResponse.add(request)
    }
  })

  fastify.addHook('onSend', async (request, reply, payload) => {
    if (closeBeforeResponse.has(request)) closeConnection(request, reply)
    return payload
  })

  fastify.addHook('preClose', async () => {
    for (const socket of unanswered) socket.destroy()
  })

  function keepUnanswered(socket: Socket): void {
    unanswered.add(socket)
    socket.once('close', () => unanswered.delete(socket))
  }
}

function closeConnection(request: FastifyRequest, reply: FastifyReply): FastifyReply {
  reply.hijack()
  request.raw.socket.destroy()
  return reply
}
