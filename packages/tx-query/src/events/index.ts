import { Readable } from 'node:stream'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import {
  type AddressNetwork,
  addressNetwork,
  errorHandler,
  hasMethods,
  isWrongResult,
  openScope,
  optionalInteger,
  optionalTimer,
  readBy,
} from '@ratatosk/http'
import type { EventLog, EventPosition } from '@ratatosk/ports'
import type { FastifySchemaCompiler, RegisterOptions } from 'fastify'
import { fastifyPlugin as fp } from 'fastify-plugin'
import { EventFeed, type FeedClient } from './feed.js'
import { covers } from './position.js'
import { type EventsQuery, queryReader, readLastEventId, TooManyClientsError } from './query.js'
import { renderHeartbeat, renderStart } from './render.js'
import { eventsSchema } from './schemas.js'

export type {
  AcceptedEvent,
  BlockEvent,
  EventFilter,
  EventLog,
  EventPage,
  EventPosition,
  EventRange,
  LedgerEvent,
  RejectedEvent,
  VerdictEvent,
} from '@ratatosk/ports'
export {
  type EventsErrorCode,
  isEventsError,
  TooManyClientsError,
  TooManyFiltersError,
  UnknownParameterError,
} from './query.js'
export { AcceptedData, BlockData, eventsSchema, eventTypes, RejectedData, VerdictData } from './schemas.js'

/** Options of {@link events}. */
export interface EventsOptions extends RegisterOptions {
  /** The log of events, in order. */
  log: EventLog
  /** The network whose addresses are accepted: `addr1…` on mainnet, `addr_test1…` on testnet. */
  network: AddressNetwork
  /** From a block's end until it may be merged, in milliseconds; without it, events have no `maturesAt`. */
  maturityWindowMs?: number
  /** The most streams at a time; further ones are answered 503. Default: 1,000. */
  maxClients?: number
  /** Poll interval while there are streams, in ms. Default: 200. */
  pollMs?: number
  /** How long a read of the log may take, in ms; then a new client is answered 503. Default: 30,000. */
  readTimeoutMs?: number
  /** Silence after which a heartbeat is sent, in ms. Default: 15,000. */
  heartbeatMs?: number
  /**
   * Time that a client has to take what was sent to it, before its stream is ended, in ms. Default: 10,000.
   */
  drainTimeoutMs?: number
}

const name = '@ratatosk/tx-query/events'
const rules = {
  log: hasMethods('head', 'read'),
  network: addressNetwork(),
  maturityWindowMs: optionalInteger(0),
  maxClients: optionalInteger(1),
  pollMs: optionalTimer(1),
  readTimeoutMs: optionalTimer(1),
  heartbeatMs: optionalTimer(1),
  drainTimeoutMs: optionalTimer(1),
}

const plugin: FastifyPluginAsyncTypebox<EventsOptions> = async (fastify, options) => {
  openScope(fastify, name, rules, options)
  const { log, network, maturityWindowMs } = options
  const { maxClients = 1000, pollMs = 200, readTimeoutMs = 30_000 } = options
  const { heartbeatMs = 15_000, drainTimeoutMs = 10_000 } = options

  const feed = new EventFeed({ log, pollMs, readTimeoutMs, maturityWindowMs, logger: fastify.log })
  const streams = new Set<EventStream>()
  let starting = 0
  let isClosing = false

  fastify.setErrorHandler(errorHandler)
  // The server closes when its connections have ended.
  fastify.addHook('preClose', async () => {
    isClosing = true
    for (const stream of streams) stream.end()
  })

  fastify.get<{ Querystring: EventsQuery }>(
    '/events',
    { schema: eventsSchema, validatorCompiler: queryOnly(queryReader(network)) },
    async ({ query, headers, method, log: requestLog }, reply) => {
      reply
        .type('text/event-stream; charset=utf-8')
        .header('cache-control', 'no-store, no-transform')
        // nginx would keep events back.
        .header('x-accel-buffering', 'no')
      const asked = readLastEventId(headers['last-event-id']) ?? query.after
      if (method === 'HEAD') return reply.send('')
      if (streams.size + starting >= maxClients) throw new TooManyClientsError()
      starting++
      try {
        const position = await feed.start(asked)
        const onStall = () =>
          requestLog.info(
            { drainTimeoutMs },
            'The client takes no events: its stream is ended, and it may resume',
          )
        const stream = new EventStream({ feed, query, position, heartbeatMs, drainTimeoutMs, onStall })
        streams.add(stream)
        stream.once('close', () => streams.delete(stream))
        // If a hook of the server fails, nothing else ends the stream.
        reply.raw.once('close', () => stream.destroy())
        // Not refused: an `EventSource` connects again. The server waits for connections that are kept open.
        if (isClosing) {
          reply.header('connection', 'close')
          stream.end()
        }
        return reply.send(stream)
      } finally {
        starting--
      }
    },
  )
}

/** Like `readBy`, for a route whose schema documents headers too. */
function queryOnly(read: Parameters<typeof readBy<never, EventsQuery>>[0]): FastifySchemaCompiler<unknown> {
  const compile = readBy(read)
  return (route) => (route.httpPart === 'querystring' ? compile(route) : () => true)
}

/**
 * Fastify plugin: `GET /events`, server-sent events of transactions and blocks that resume where a client
 * stopped.
 *
 * Encapsulated: it sets an error handler in its own scope, and one server can hold several instances, each
 * under its `prefix`. Throws a `TypeError` at startup for options that cannot work.
 *
 * @example
 * ```ts
 * const server = fastify()
 * await server.register(events, { log: store.events, network: 'testnet' })
 * ```
 */
export const events = fp(plugin, { name, fastify: '5.x', encapsulate: true })

export default events

interface EventStreamOptions {
  readonly feed: EventFeed
  readonly query: Pick<EventsQuery, 'filter' | 'filterKey'>
  readonly position: EventPosition
  /** Silence after which a heartbeat is sent, in milliseconds. */
  readonly heartbeatMs: number
  /** Time that the client has to take what was sent, in milliseconds. */
  readonly drainTimeoutMs: number
  /** Called when the client has not taken anything for that time, before its stream ends. */
  readonly onStall: () => void
}

/** Bytes that wait before no further page is read. */
const highWaterMark = 16_384

/** The events of one client, page by page as it takes them. Ends a slow one, which resumes by its id. */
class EventStream extends Readable implements FeedClient {
  readonly #options: EventStreamOptions
  #position: EventPosition
  #reading = false
  #wanted = true
  /** Whether everything was read that had happened when the stream began. */
  #isCurrent = false
  /** When something was last sent, and since when the client has not taken it. */
  #sentAt = performance.now()
  #waitingSince: number | undefined

  constructor(options: EventStreamOptions) {
    super({ highWaterMark })
    this.#options = options
    this.#position = options.position
    this.#send(renderStart(options.position))
    options.feed.add(this)
  }

  override _read(): void {
    this.#wanted = true
    this.#waitingSince = undefined
    void this.#fill()
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#options.feed.remove(this)
    done(error)
  }

  wake(): void {
    void this.#fill()
  }

  tick(now: number): void {
    const { heartbeatMs, drainTimeoutMs, onStall } = this.#options
    if (this.#waitingSince !== undefined && now - this.#waitingSince >= drainTimeoutMs) {
      onStall()
      this.destroy()
    } else if (this.#wanted && !this.#reading && now - this.#sentAt >= heartbeatMs) {
      this.#send(renderHeartbeat(this.#position))
    }
  }

  /** Ends the stream after what was sent. */
  end(): void {
    if (!this.destroyed) this.push(null)
    this.#wanted = false
    this.#options.feed.remove(this)
  }

  /** Sends pages until the client has enough. A failed read is repeated when the feed wakes the stream. */
  async #fill(): Promise<void> {
    const { feed, query } = this.#options
    if (this.#reading) return
    this.#reading = true
    try {
      while (this.#wanted && !this.destroyed && !feed.isCurrent(this.#position)) {
        const { bytes, position, last } = await feed.page(this.#position, query.filter, query.filterKey)
        if (!this.#wanted || this.destroyed || covers(this.#position, position)) return
        this.#position = position
        if (bytes.length > 0) this.#send(bytes)
        this.#tellPosition(last)
      }
    } catch (error) {
      // The feed has logged it.
      if (isWrongResult(error)) this.end()
    } finally {
      this.#reading = false
    }
  }

  /** Sends the position once everything earlier was read, unless the last event has it. */
  #tellPosition(last: EventPosition | undefined): void {
    if (this.#isCurrent || !this.#options.feed.isCurrent(this.#position)) return
    this.#isCurrent = true
    if (last === undefined || !covers(last, this.#position)) this.#send(renderHeartbeat(this.#position))
  }

  #send(bytes: Buffer): void {
    this.#sentAt = performance.now()
    if (this.push(bytes)) return
    this.#wanted = false
    this.#waitingSince = this.#sentAt
  }
}
