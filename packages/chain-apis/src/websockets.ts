import { EventEmitter } from 'node:events'
import type { IncomingMessage, Server } from 'node:http'
import type { Socket } from 'node:net'
import websocket, { type WebSocket } from '@fastify/websocket'
import type { FastifyInstance } from 'fastify'
import { maxRequestLength } from './input.js'

/**
 * Registers a WebSocket server, unless there is one. Node gives it every request with `Upgrade`; routes
 * registered before keep answering these requests as if it were not there.
 */
export async function registerWebSockets(fastify: FastifyInstance, stallTimeoutMs: number): Promise<void> {
  if (fastify.hasDecorator('websocketServer')) return
  const { server } = fastify
  const webSockets = new EventEmitter()

  function onUpgrade(request: IncomingMessage, socket: Socket, head: Buffer): void {
    if (opensWebSocket(request) && webSockets.emit('upgrade', request, socket, head)) return
    // A Node without the callback below. It leaves the body in the socket.
    socket.unshift(Buffer.concat([withoutUpgrade(request), head]))
    server.emit('connection', socket)
  }

  closeWhenAnswered(fastify)
  await fastify.register(websocket, {
    options: { maxPayload: maxRequestLength, server: webSockets as Server },
    errorHandler(error, socket, { log }) {
      log.error(error)
      // `ws` closes this connection, after what waits is sent.
      if ((error as NodeJS.ErrnoException).code !== 'WS_ERR_UNSUPPORTED_MESSAGE_LENGTH') socket.terminate()
    },
  })
  // A server may ignore `Upgrade` (RFC 9110, section 7.8). Java's HTTP client asks for h2c, also with a body,
  // which Node 26 reads as the request's body before it gives the socket away.
  Object.assign(server, { shouldUpgradeCallback: opensWebSocket })
  server.on('upgrade', onUpgrade)
  closeSilent(fastify, stallTimeoutMs)
}

function opensWebSocket({ method, headers }: IncomingMessage): boolean {
  return method === 'GET' && headers.upgrade?.toLowerCase() === 'websocket'
}

/** Closes each WebSocket whose client sends nothing, not even a pong. */
function closeSilent(fastify: FastifyInstance, timeoutMs: number): void {
  const { websocketServer } = fastify
  websocketServer.on('connection', completeClosing)
  /** Those whose last ping is not answered. */
  const asked = new WeakSet<WebSocket>()
  websocketServer.on('connection', (socket) => {
    const answered = () => asked.delete(socket)
    socket.on('pong', answered).on('message', answered)
  })

  function check(): void {
    for (const socket of websocketServer.clients) {
      // A ping would wait behind this message, whose sender notices a client that does not read.
      if (socket.bufferedAmount > 0) continue
      // Nothing is read, so a pong would not arrive. The ping shows that the connection is there.
      if (socket.isPaused) asked.delete(socket)
      if (asked.has(socket)) {
        socket.terminate()
      } else {
        asked.add(socket)
        socket.ping()
      }
    }
  }

  // After the sockets were read: the answers of a turn that was late may have arrived.
  const timer = setInterval(() => setImmediate(check), timeoutMs)
  fastify.addHook('onClose', async () => clearInterval(timer))
}

/** Gives a reason to the client whose message is too long, and reads what it answers. `ws` does neither. */
function completeClosing(socket: WebSocket): void {
  const close = socket.close.bind(socket)
  const tooLong = `A message may have at most ${maxRequestLength} bytes`
  socket.close = (code, reason = code === 1009 ? tooLong : undefined) => {
    close(code, reason)
    // The client's part of closing has to be read.
    socket.resume()
  }
}

/** A route that is no WebSocket answers such a request. Its connection is no longer read, so it is closed. */
function closeWhenAnswered(fastify: FastifyInstance): void {
  const { routing } = fastify
  fastify.routing = (request, response) => {
    if (opensWebSocket(request)) {
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
