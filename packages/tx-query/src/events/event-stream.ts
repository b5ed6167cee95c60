import { Readable } from 'node:stream'
import type { EventPosition } from '@ratatosk/ports'
import type { EventFeed, FeedClient } from './feed.js'
import { covers } from './position.js'
import type { EventsQuery } from './query.js'
import { renderHeartbeat, renderStart } from './render.js'

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
export class EventStream extends Readable implements FeedClient {
  readonly #options: EventStreamOptions
  #position: EventPosition
  #reading = false
  #wanted = true
  /** When something was last sent, and since when the client has not taken it. */
  #sentAt = performance.now()
  #waitingSince: number | undefined

  constructor(options: EventStreamOptions) {
    super({ highWaterMark })
    this.#options = options
    this.#position = options.position
    options.feed.add(this)
    this.#send(renderStart(options.position))
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
        const { bytes, position } = await feed.page(this.#position, query.filter, query.filterKey)
        if (!this.#wanted || this.destroyed || covers(this.#position, position)) return
        this.#position = position
        if (bytes.length > 0) this.#send(bytes)
      }
    } catch {
      // The feed has logged it.
    } finally {
      this.#reading = false
    }
  }

  #send(bytes: Buffer): void {
    this.#sentAt = performance.now()
    if (this.push(bytes)) return
    this.#wanted = false
    this.#waitingSince = this.#sentAt
  }
}
