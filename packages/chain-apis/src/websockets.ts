import { EventEmitter } from 'node:events'
import type { IncomingMessage, Server } from 'node:http'
import type { Socket } from 'node:net'
import websocket, { type WebSocket } from '@fastify/websocket'
import type { FastifyInstance } from 'fastify'
import { maxRequestLength } from './limits.js'

/**
 * Registers a WebSocket server, unless there is one. With one, Node gives every request with `Upgrade` to it;
 * here routes that were registered before it keep answering these requests as if it were not there.
 */
export async function registerWebSockets(fastify: FastifyInstance, stallTimeoutMs: number): Promise<void> {
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
  closeStalled(fastify, stallTimeoutMs)
}

/** Closes each WebSocket whose client takes no data or, if none waits for it, answers no ping. */
function closeStalled(fastify: FastifyInstance, timeoutMs: number): void {
  interface Watched {
    readonly connection: Socket
    /** Bytes that the client had taken at the last check, while more waited; -1 if none waited. */
    taken: number
    /** False until the last ping is answered. */
    answered: boolean
  }
  const { websocketServer } = fastify
  const watched = new WeakMap<WebSocket, Watched>()
  websocketServer.on('connection', (socket, { socket: connection }) => {
    const state: Watched = { connection, taken: -1, answered: true }
    watched.set(socket, state)
    socket.on('pong', () => {
      state.answered = true
    })
  })

  function check(): void {
    for (const socket of websocketServer.clients) {
      const state = watched.get(socket)
      if (state === undefined) continue
      const { bytesWritten, writableLength } = state.connection
      const taken = bytesWritten - writableLength
      if (state.taken === taken || !state.answered) {
        socket.terminate()
      } else if (writableLength > 0) {
        state.taken = taken
      } else {
        Object.assign(state, { taken: -1, answered: false })
        socket.ping()
      }
    }
  }

  // After the sockets were read: the answers of a turn that was late may have arrived.
  const timer = setInterval(() => setImmediate(check), timeoutMs)
  fastify.addHook('onClose', async () => clearInterval(timer))
}

/**
 * A route that is no WebSocket answers the request that asked for one. The connection is not read any more,
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
