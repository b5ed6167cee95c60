import { EventEmitter } from 'node:events'
import type { IncomingMessage, Server } from 'node:http'
import type { Socket } from 'node:net'
import websocket from '@fastify/websocket'
import type { FastifyInstance } from 'fastify'
import { maxRequestLength } from './limits.js'

/**
 * Registers a WebSocket server, unless there is one. With one, Node gives every request with `Upgrade` to it;
 * here routes that were registered before it keep answering these requests as if it were not there.
 */
export async function registerWebSockets(fastify: FastifyInstance): Promise<void> {
  if (fastify.hasDecorator('websocketServer')) return
  const { server } = fastify
  const webSockets = new EventEmitter()

  function onUpgrade(request: IncomingMessage, socket: Socket, head: Buffer): void {
    const opens = request.method === 'GET' && request.headers.upgrade?.toLowerCase() === 'websocket'
    if (opens && webSockets.emit('upgrade', request, socket, head)) return
    // A server may ignore `Upgrade` (RFC 9110, section 7.8). Java's HTTP client asks for h2c, also with a
    // body.
    socket.unshift(Buffer.concat([withoutUpgrade(request), head]))
    server.emit('connection', socket)
  }

  closeWhenAnswered(fastify)
  await fastify.register(websocket, {
    options: { maxPayload: maxRequestLength, server: webSockets as Server },
  })
  server.on('upgrade', onUpgrade)
}

/**
 * A route that is no WebSocket answers the request that asked for one. Nobody reads the connection any more,
 * so it is closed then.
 */
function closeWhenAnswered(fastify: FastifyInstance): void {
  const { routing } = fastify
  fastify.routing = (request, response) => {
    if (request.headers.upgrade !== undefined) {
      response.setHeader('connection', 'close')
      response.once('finish', () => {
        const { socket } = response
        socket?.end(() => socket.destroy())
      })
    }
    routing(request, response)
  }
}

/** The head of a request as it came, without `Upgrade`. */
function withoutUpgrade({ method, url, httpVersion, rawHeaders }: IncomingMessage): Buffer {
  const lines = [`${method} ${url} HTTP/${httpVersion}`]
  for (let index = 0; index < rawHeaders.length; index += 2) {
    if (rawHeaders[index]?.toLowerCase() === 'upgrade') continue
    lines.push(`${rawHeaders[index]}: ${rawHeaders[index + 1]}`)
  }
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1')
}
