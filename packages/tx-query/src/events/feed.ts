import { isWrongResult, TurnQueue } from '@ratatosk/http'
import type { EventFilter, EventLog, EventPosition } from '@ratatosk/ports'
import type { FastifyBaseLogger } from 'fastify'
import { LRUCache } from 'lru-cache'
import { covers, earliest, formatPosition, latest } from './position.js'
import { renderEvents } from './render.js'
import { checkedHead, checkedPage } from './results.js'

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
    const { log, maturityWindowMs } = this.#options
    const page = checkedPage(await log.read({ after, to, filter, limit: pageSize }), pageSize)
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
      const head = checkedHead(await this.#options.log.head())
      const hasMoved = this.#head === undefined || !covers(this.#head, head)
      if (hasMoved) this.#head = this.#head === undefined ? head : latest(this.#head, head)
      const mustWake = hasMoved || this.#failing.size > 0
      this.#worked('head')
      if (mustWake) for (const client of this.#clients) client.wake()
      return head
    } catch (error) {
      this.#failed('head', error)
      if (isWrongResult(error)) for (const client of this.#clients) client.end()
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
