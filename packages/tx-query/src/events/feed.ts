import {
  atMost,
  inTime,
  isHttpError,
  isWrongResult,
  portResult,
  StoreUnavailableError,
  TurnQueue,
} from '@ratatosk/http'
import type { EventFilter, EventLog, EventPage, EventPosition, LedgerEvent } from '@ratatosk/ports'
import { type TSchema, Type } from '@sinclair/typebox'
import type { FastifyBaseLogger } from 'fastify'
import { LRUCache } from 'lru-cache'
import { covers, earliest, formatPosition, latest } from './position.js'
import { renderEvents } from './render.js'
import { eventTypes } from './schemas.js'

// The results of a log, as far as they are read.

const text = Type.String()
const id = (length: number) => Type.Uint8Array({ minByteLength: length, maxByteLength: length })
const [transactionId, headerHash] = [id(32), id(28)]
const every = Type.BigInt()
const position = { accepted: every, rejected: every, block: every, verdict: every }
const height = Type.BigInt()

const Position = Type.Object(position, { title: 'an EventPosition' })
const Page = Type.Object(
  {
    events: Type.Array(
      Type.Object({
        type: Type.String({ pattern: `^(?:${eventTypes.join('|')})$` }),
        position: Position,
        at: Type.Date(),
      }),
    ),
    position: Position,
  },
  { title: 'an EventPage' },
)
const events: { readonly [Kind in LedgerEvent['type']]: TSchema } = {
  accepted: Type.Object({ transactionId }, { title: 'an AcceptedEvent' }),
  rejected: Type.Object(
    { submissionId: text, transactionId: Type.Optional(transactionId), code: text, message: text },
    { title: 'a RejectedEvent' },
  ),
  block: Type.Object(
    {
      state: text,
      height,
      headerHash,
      transactions: Type.Integer(),
      commitTransactionId: Type.Optional(transactionId),
      mergeTransactionId: Type.Optional(transactionId),
      endTime: Type.BigInt(),
    },
    { title: 'a BlockEvent' },
  ),
  verdict: Type.Object(
    {
      block: Type.Object({ headerHash, height, operatorKey: headerHash }),
      state: text,
      reason: text,
      proof: Type.Optional(Type.Object({ policy: text, fraud: text })),
    },
    { title: 'a VerdictEvent' },
  ),
}

/** @throws {TypeError} for anything else: it would end up in a stream, which no one could resume */
const checkedHead = (given: EventPosition): EventPosition => portResult('log.head', Position, given)

/**
 * @param limit of events of each type
 * @throws {TypeError} as {@link checkedHead}
 */
function checkedPage(given: EventPage, limit: number): EventPage {
  const page = portResult('log.read', Page, given)
  for (const event of page.events) portResult('log.read', events[event.type], event)
  atMost('log.read', eventTypes.length * limit, page.events)
  return page
}

interface RenderedPage {
  readonly bytes: Buffer
  readonly position: EventPosition
  /** Of the last event; undefined without events. */
  readonly last: EventPosition | undefined
}

export interface FeedClient {
  /** Something may have happened, or a read may succeed again. */
  wake(): void
  /** The log is no log. */
  end(): void
  /** Called about once a second. */
  tick(now: number): void
}

interface FeedOptions {
  readonly log: EventLog
  /** Poll interval while there are clients, in milliseconds. */
  readonly pollMs: number
  /** How long a read of the log may take, in milliseconds. */
  readonly readTimeoutMs: number
  readonly maturityWindowMs: number | undefined
  readonly logger: Pick<FastifyBaseLogger, 'warn' | 'info'>
}

/** Events of each kind per page. Cut reasons keep it below 1 MiB even if every character is escaped. */
const pageSize = 250

/** Pages that are remembered: clients that have read everything so far need the same next page. */
const rememberedPages = 16

const tickMs = 1000

/** Polls for new events once for all clients of a process. */
export class EventFeed {
  readonly #options: FeedOptions
  readonly #clients = new Set<FeedClient>()
  readonly #turns = new TurnQueue()
  readonly #pages = new LRUCache<string, Promise<RenderedPage>>({ max: rememberedPages })
  /** The newest position that was seen; undefined before the first poll. */
  #head: EventPosition | undefined
  #polling: Promise<EventPosition> | undefined
  #timers: NodeJS.Timeout[] = []
  /** Methods of the log that have failed since they were last called. */
  readonly #failing = new Set<'head' | 'read'>()

  constructor(options: FeedOptions) {
    this.#options = options
  }

  /** Polls for new events, and starts to do so regularly if this is the first client. */
  add(client: FeedClient): void {
    this.#clients.add(client)
    void this.#poll().catch(() => undefined)
    if (this.#timers.length > 0) return
    this.#timers = [
      setInterval(() => void this.#poll().catch(() => undefined), this.#options.pollMs),
      setInterval(() => this.#tick(), tickMs),
    ]
  }

  /** Stops polling if this was the last client. */
  remove(client: FeedClient): void {
    this.#clients.delete(client)
    if (this.#clients.size > 0) return
    for (const timer of this.#timers) clearInterval(timer)
    this.#timers = []
  }

  /** The start of a client. A position later than the newest is of a lost log: it would miss events. */
  async start(asked: EventPosition | undefined): Promise<EventPosition> {
    if (asked !== undefined && this.#head !== undefined && covers(this.#head, asked)) return asked
    // A pending poll may have read before this call.
    await this.#polling?.catch(() => undefined)
    if (asked === undefined) return this.#poll()
    const head = await this.#poll().catch((error: unknown) => {
      if (isWrongResult(error)) throw error
      return asked
    })
    return earliest(asked, head)
  }

  /** Whether a position has everything that is known to have happened. */
  isCurrent(position: EventPosition): boolean {
    return this.#head === undefined || covers(position, this.#head)
  }

  /** The events after a position. Identical calls share one read, and go on in turns of the event loop. */
  async page(after: EventPosition, filter: EventFilter, filterKey: string): Promise<RenderedPage> {
    const page = await this.#sharedPage(after, filter, filterKey)
    await this.#turns.next()
    return page
  }

  #sharedPage(after: EventPosition, filter: EventFilter, filterKey: string): Promise<RenderedPage> {
    const to = latest(this.#head ?? after, after)
    const key = `${formatPosition(after)} ${formatPosition(to)} ${filterKey}`
    const remembered = this.#pages.get(key)
    if (remembered !== undefined) return remembered
    const page = this.#read(after, to, filter)
    this.#pages.set(key, page)
    page.catch((error: unknown) => {
      this.#pages.delete(key)
      this.#failed('read', error)
    })
    return page
  }

  async #read(after: EventPosition, to: EventPosition, filter: EventFilter): Promise<RenderedPage> {
    const { log, readTimeoutMs, maturityWindowMs } = this.#options
    const read = log.read({ after, to, filter, limit: pageSize })
    const page = checkedPage(await inTime('log.read', readTimeoutMs, read), pageSize)
    const { events, position } = page
    this.#worked('read')
    return { bytes: renderEvents(events, maturityWindowMs), position, last: events.at(-1)?.position }
  }

  /** Polls for new events, one poll at a time, so that a slow database is not queried more often. */
  #poll(): Promise<EventPosition> {
    this.#polling ??= this.#pollNow().finally(() => {
      this.#polling = undefined
    })
    return this.#polling
  }

  async #pollNow(): Promise<EventPosition> {
    try {
      const { log, readTimeoutMs } = this.#options
      const head = checkedHead(await inTime('log.head', readTimeoutMs, log.head()))
      const hasMoved = this.#head === undefined || !covers(this.#head, head)
      if (hasMoved) this.#head = this.#head === undefined ? head : latest(this.#head, head)
      const mustWake = hasMoved || this.#failing.size > 0
      this.#worked('head')
      if (mustWake) for (const client of this.#clients) client.wake()
      return head
    } catch (error) {
      this.#failed('head', error)
      if (isHttpError(error)) throw error
      if (!isWrongResult(error)) throw new StoreUnavailableError(error)
      for (const client of this.#clients) client.end()
      throw error
    }
  }

  /** Logs a failure once until the method works again. */
  #failed(method: 'head' | 'read', err: unknown): void {
    if (this.#failing.has(method)) return
    this.#failing.add(method)
    this.#options.logger.warn({ err }, 'The event log cannot be read; trying again')
  }

  #worked(method: 'head' | 'read'): void {
    if (this.#failing.delete(method)) this.#options.logger.info('The event log can be read again')
  }

  #tick(): void {
    const now = performance.now()
    for (const client of this.#clients) client.tick(now)
  }
}
