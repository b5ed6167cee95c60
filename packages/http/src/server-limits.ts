import { readFileSync } from 'node:fs'
import type { Server, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import type { FastifyBaseLogger, FastifyHttpOptions, FastifyInstance } from 'fastify'
import { fastifyPlugin as fp } from 'fastify-plugin'
import { BusyError } from './errors.js'
import { isServedUnderLoad } from './guards.js'
import { httpErrorOptions } from './http-errors.js'
import { checkedLater, checkOptions, integer, timer } from './options.js'

/** Milliseconds of work after which other work takes its turn. */
const turnMs = 10

/**
 * Runs what waits in order, a little in each turn of the event loop, so that connections and timers take
 * their turns between.
 */
export class TurnQueue {
  readonly #isOpen: () => boolean
  readonly #waiting = new Set<{ readonly run: () => void }>()
  /** Whether a step is due in this turn. */
  #stepping = false
  /** When the first of this turn was run. */
  #began: number | undefined
  #ending = false

  /** @param isOpen whether what waits may run now; asked again in each turn */
  constructor(isOpen: () => boolean = () => true) {
    this.#isOpen = isOpen
  }

  get isEmpty(): boolean {
    return this.#waiting.size === 0
  }

  add(run: () => void): void {
    this.#waiting.add({ run })
    if (!this.#stepping) this.#stepSoon()
  }

  /** Resolves when it is the caller's turn. */
  next(): Promise<void> {
    return new Promise((resolve) => this.add(resolve))
  }

  /** After what was begun has run, as far as it waits for nothing: it counts to the work of this turn. */
  #stepSoon(): void {
    this.#stepping = true
    queueMicrotask(() => process.nextTick(() => this.#step()))
  }

  #step(): void {
    this.#stepping = false
    const [oldest] = this.#waiting
    if (oldest === undefined) return
    this.#endTurnLater()
    const now = performance.now()
    if (!this.#isOpen() || now - (this.#began ?? now) >= turnMs) return
    this.#began ??= now
    this.#waiting.delete(oldest)
    this.#stepSoon()
    oldest.run()
  }

  #endTurnLater(): void {
    if (this.#ending) return
    this.#ending = true
    setImmediate(() => {
      this.#ending = false
      this.#began = undefined
      this.#step()
    })
  }
}

/** Milliseconds between two log lines. */
const reportEveryMs = 10_000

/**
 * Counts refused requests by kind and logs the counts since the start, as a warning, at most once in ten
 * seconds: a flood of requests must not become a flood of log lines.
 *
 * @param message of the log line
 *
 * @example
 * ```ts
 * const report = refusalLog(fastify.log, 'Too many carts')
 * report('full')
 * ```
 */
export function refusalLog(log: FastifyBaseLogger, message: string): (kind: string) => void {
  const counts: Record<string, number> = {}
  let last = Number.NEGATIVE_INFINITY
  return (kind) => {
    counts[kind] = (counts[kind] ?? 0) + 1
    if (performance.now() - last < reportEveryMs) return
    last = performance.now()
    log.warn({ ...counts }, message)
  }
}

/** The limits of a server for one client, and for all of them together. */
export interface ServerLimits {
  /** Time that a client has to send a request, headers and body, in milliseconds; then 408. */
  readonly requestTimeoutMs: number
  /** Time for which a connection waits for its next request, in milliseconds. */
  readonly keepAliveTimeoutMs: number
  /**
   * Time for which a client may accept no data of a response that waits for it, in milliseconds; then the
   * connection is closed. A handler that takes longer to respond is not affected. No shorter than
   * `requestTimeoutMs` in effect.
   */
  readonly stallTimeoutMs: number
  /**
   * Connections that are served at a time. Requests on further ones are answered 503 with `Retry-After`.
   * Beyond 10 % more, at least 64, a connection is closed after a second without a request.
   */
  readonly maxConnections: number
  /** URLs of routes that are served on every open connection and at once, such as a liveness check. */
  readonly alwaysServed?: readonly string[]
}

const rules = {
  requestTimeoutMs: timer(0),
  keepAliveTimeoutMs: timer(0),
  stallTimeoutMs: timer(0),
  maxConnections: integer(0),
  alwaysServed: checkedLater,
}

/** Pending requests per connection: Node calls all their handlers, read or not. */
const maxPipelined = 16

/** How long a connection beyond {@link patientLimit} waits for its request, in milliseconds. */
const overflowMs = 1000

/** Connections that are not served and wait for their request like others, with those that are served. */
function patientLimit(maxConnections: number): number {
  return maxConnections + Math.max(64, Math.ceil(maxConnections / 10))
}

/** The most connections that are open at a time; the rest of the process needs file handles too. */
function hardLimit(patient: number): number {
  return Math.max(patient, Math.min(4 * patient, Math.floor(0.8 * fileHandles())))
}

/** How many files and sockets this process may have open. */
function fileHandles(): number {
  try {
    const [, soft] = /^Max open files +(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? []
    return soft === undefined ? 0 : Number(soft)
  } catch {
    return 0
  }
}

/**
 * Options of `fastify()` for a server with limits; includes `httpErrorOptions`. Register {@link serverLimits}
 * too.
 *
 * @example
 * ```ts
 * const server = fastify({ ...limitedServer(limits) })
 * await server.register(httpErrors)
 * await server.register(serverLimits, limits)
 * ```
 */
export function limitedServer({ requestTimeoutMs, keepAliveTimeoutMs, stallTimeoutMs }: ServerLimits) {
  const checkEveryMs = Math.min(1000, requestTimeoutMs)
  return {
    ...httpErrorOptions,
    requestTimeout: requestTimeoutMs,
    keepAliveTimeout: keepAliveTimeoutMs,
    // Node closes a connection that is idle for this long before the headers are complete, without a
    // response, so the time-out that answers 408 must come first.
    connectionTimeout: Math.max(stallTimeoutMs, requestTimeoutMs + 2 * checkEveryMs),
    http: {
      ...httpErrorOptions.http,
      headersTimeout: requestTimeoutMs,
      connectionsCheckingInterval: checkEveryMs,
      // Peers that vanished without a word are noticed, also behind a WebSocket.
      keepAlive: true,
      keepAliveInitialDelay: 60_000,
    },
  } satisfies FastifyHttpOptions<Server>
}

/**
 * Fastify plugin for a whole server that was created with {@link limitedServer}: closes connections whose
 * client stalls, refuses requests on connections beyond the limit, and accepts connections that arrive
 * together before it handles their requests. Register it before any route.
 */
export const serverLimits = fp(
  async (fastify: FastifyInstance, limits: ServerLimits) => {
    checkOptions('@ratatosk/http', rules, limits)
    const { maxConnections, alwaysServed = [] } = limits
    const always = new Set(alwaysServed)
    /** Requests in progress by connection. */
    const admitted = new WeakMap<Socket, { pending: number }>()
    let open = 0
    const report = refusalLog(fastify.log, 'Too many connections or requests')
    const release = () => {
      open--
    }
    function ended(this: ServerResponse) {
      const connection = admitted.get(this.req.socket)
      if (connection) connection.pending--
    }
    const patient = patientLimit(maxConnections)
    const overflowing = new WeakMap<Socket, NodeJS.Timeout>()
    const counted = new Set<Socket>()
    const requests = requestQueue()
    fastify.server.maxConnections = hardLimit(patient)
    fastify.server.on('drop', () => report('dropped'))
    fastify.server.on('connection', (socket: Socket) => {
      // A socket whose request asks for another protocol is emitted again.
      if (counted.has(socket)) return
      counted.add(socket)
      requests.connectionArrived()
      // Bytes that came while the event loop was blocked are read before the immediate runs.
      const due = () => setImmediate(drop, socket)
      if (counted.size > patient) overflowing.set(socket, setTimeout(due, overflowMs))
      socket.once('close', () => {
        counted.delete(socket)
        clearTimeout(overflowing.get(socket))
      })
    })
    // Clients open connections ahead. The server would wait for their first requests.
    fastify.addHook('preClose', async () => {
      for (const socket of counted) if (socket.bytesRead === 0) socket.destroy()
    })
    function drop(socket: Socket): void {
      if (socket.destroyed || admitted.has(socket)) return
      report('dropped')
      socket.destroy()
    }

    fastify.addHook('onRequest', (request, reply, done) => {
      const { socket } = request.raw
      // Injected requests have no connection. One that is gone would not be released.
      if (!(socket instanceof Socket) || socket.destroyed) return done()
      reply.raw.on('timeout', closeIfStalled)
      let connection = admitted.get(socket)
      if (connection === undefined && open < maxConnections) {
        connection = { pending: 0 }
        clearTimeout(overflowing.get(socket))
        admitted.set(socket, connection)
        open++
        socket.once('close', release)
      }
      const { url = '', config } = request.routeOptions
      const isPrompt = always.has(url) || isServedUnderLoad(config)
      if (connection !== undefined) {
        connection.pending++
        reply.raw.on('close', ended)
        if (connection.pending <= maxPipelined) return isPrompt ? done() : requests.add(socket, done)
      } else if (always.has(url)) return done()
      report('refused')
      const { statusCode, message, headers } = connection ? tooManyRequests() : tooManyConnections()
      // Not thrown: the error handler would log each of what may be a flood.
      reply
        .code(statusCode)
        .headers({ ...headers, connection: 'close' })
        .send({ error: message })
    })
  },
  { name: '@ratatosk/http/server-limits', fastify: '5.x' },
)

function tooManyConnections(): BusyError {
  return new BusyError('HTTP_TOO_MANY_CONNECTIONS', 'Too many connections: retry later')
}

function tooManyRequests(): BusyError {
  return new BusyError('HTTP_TOO_MANY_REQUESTS_PENDING', 'Too many requests on one connection: retry later')
}

/** Listens to the time-out of an idle socket while a response is in progress. */
function closeIfStalled(this: ServerResponse, socket: Socket): void {
  if (socket.writableLength > 0) socket.destroy()
  // The handler has not responded yet: check again later.
  else socket.setTimeout(socket.timeout ?? 0)
}

/** For how long requests make way for connections that arrive, in milliseconds. */
const patienceMs = 500

/** Of the time in which requests do not make way, the part for which they make way again. */
const recovery = 0.1

/** For how long requests can make way at least, when they begin to, in milliseconds. */
const leastPatienceMs = 50

/** Requests that make way for the connections of other clients. */
interface RequestQueue {
  connectionArrived(): void
  /** Calls `handle`, at once unless connections arrive or other requests wait. Not if the client leaves. */
  add(client: Socket, handle: () => void): void
}

/**
 * Lets requests wait while connections arrive. Node accepts one connection in each turn of the event loop, so
 * the last of a thousand would wait for the requests of all others. Requests make way for bursts only: to
 * connections that arrive without end, for a tenth of the time. Requests keep their order.
 */
export function requestQueue(): RequestQueue {
  /** This turn and the next one are left when a connection arrives. */
  let turnsLeft = 0
  let patience = patienceMs
  let isMakingWay = false
  let asked = performance.now()
  const queue = new TurnQueue(() => {
    const now = performance.now()
    const passed = now - asked
    asked = now
    patience = Math.min(patienceMs, patience + (isMakingWay ? -passed : passed * recovery))
    isMakingWay = turnsLeft > 0 && patience > (isMakingWay ? 0 : leastPatienceMs)
    return !isMakingWay
  })

  function turnEnds(): void {
    turnsLeft--
    if (turnsLeft > 0) setImmediate(turnEnds)
  }

  return {
    connectionArrived() {
      if (turnsLeft === 0) setImmediate(turnEnds)
      turnsLeft = 2
    },
    add(client, handle) {
      if (turnsLeft === 0 && queue.isEmpty) return handle()
      // A pipelined response does not emit that its client has left.
      queue.add(() => {
        if (!client.destroyed) handle()
      })
    },
  }
}
