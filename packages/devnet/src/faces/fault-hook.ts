import type { Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Face, Faults, Operation } from '../faults/types.js'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** What a route of a devnet's face asks for, by which faults are told apart. */
    operation?: Operation
  }
}

export interface FaultHook {
  readonly faults: Faults
  readonly face: Face
  /** Of a request; default: what its route's config says. `undefined`: it meets no faults. */
  readonly operationOf?: (request: FastifyRequest) => Operation | undefined
  /** An error's body in the form of the face. */
  readonly errorBody: (status: 429 | 500, message: string) => unknown
}

/** What is neither JSON nor CBOR, under whatever content type. */
export const garbage = '<html>\u0000 garbage \ufffd{"'

/** Lets the requests of one face meet the faults that were injected. */
export function addFaultHook(fastify: FastifyInstance, hook: FaultHook): void {
  const { faults, face, errorBody } = hook
  const operationOf = hook.operationOf ?? ((request) => request.routeOptions.config.operation ?? 'other')
  const held = new Set<Socket>()
  const losing = new WeakSet<FastifyRequest>()

  fastify.addHook('preHandler', async (request, reply) => {
    const operation = operationOf(request)
    const fault = operation && faults.meet(face, operation)
    if (fault === undefined) return
    switch (fault.kind) {
      case 'time-out':
        hold(request.raw.socket)
        reply.hijack()
        return reply
      case 'refusal':
        return breakOff(request, reply)
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
        losing.add(request)
    }
  })

  fastify.addHook('onSend', async (request, reply, payload) => {
    if (losing.has(request)) breakOff(request, reply)
    return payload
  })

  fastify.addHook('preClose', async () => {
    for (const socket of held) socket.destroy()
  })

  function hold(socket: Socket): void {
    held.add(socket)
    socket.once('close', () => held.delete(socket))
  }
}

function breakOff(request: FastifyRequest, reply: FastifyReply): FastifyReply {
  reply.hijack()
  request.raw.socket.destroy()
  return reply
}
