import { Semaphore } from 'async-mutex'
import type { Client } from './client-signal.js'
import { ChainUnavailableError } from './errors.js'
import { encodeJson } from './json.js'
import { createPause } from './pause.js'
import { withAhead } from './read-ahead.js'

type Pages<Entry> = AsyncIterable<readonly Entry[]>

/** What a page contributes to a list. */
type ItemsOf<Entry> = (page: readonly Entry[]) => Iterable<unknown> | Promise<Iterable<unknown>>

/** Pages that are read and encoded at a time. */
const mostWorking = 8
/** Pages that wait for that; then no further list begins. */
const mostWaiting = 256
/** Lists of several pages, each of which has two of them in memory while its client takes them. */
const mostOpen = 64
/**
 * How long a list of several pages may be open, in milliseconds: otherwise as many clients that hardly read
 * would keep out all others. Within it, 14 Mbit/s are enough for 1 GB.
 */
const mostOpenMs = 10 * 60_000

/** The long lists of a chain that are being read. All APIs share the limits. */
export class LongLists {
  readonly #working = new Semaphore(mostWorking)
  #waiting = 0
  #open = 0
  readonly #timeLimitMs: number

  /** @param timeLimitMs time that a list of several pages may be open; then its client is disconnected */
  constructor(timeLimitMs = mostOpenMs) {
    this.#timeLimitMs = timeLimitMs
  }

  /**
   * A JSON array of what pages of a list become, in parts: no more than two pages are in memory.
   *
   * @param client when it has left, or nothing will read the parts, the list ends
   * @returns the parts, of which the first is made, so that what fails at once rejects
   * @throws {ChainUnavailableError} if too many lists are being read, or if the client has left
   */
  async read<Entry>(
    pages: Pages<Entry>,
    itemsOf: ItemsOf<Entry>,
    client: Client,
  ): Promise<AsyncIterable<string>> {
    if (this.#waiting >= mostWaiting) throw tooMany()
    // A connection has one signal for all of its lists.
    const ended = new AbortController()
    const parts = this.#partsOf(pages, itemsOf, client, () => ended.abort())
    const end = () => void parts.return().catch(() => {})
    client.signal.addEventListener('abort', end, { signal: ended.signal })
    return withAhead([await parts.next()], parts)
  }

  async *#partsOf<Entry>(
    pages: Pages<Entry>,
    itemsOf: ItemsOf<Entry>,
    client: Client,
    onEnd: () => void,
  ): AsyncGenerator<string, void> {
    const reader = pages[Symbol.asyncIterator]()
    const pause = createPause()
    let separator = '['
    const next = () =>
      this.#inTurn(async () => {
        if (client.signal.aborted) throw new ChainUnavailableError('The client has left.')
        const { done, value } = await reader.next()
        if (done) return undefined
        let part = ''
        for (const item of await itemsOf(value)) {
          part += separator + encodeJson(item)
          separator = ','
          await pause()
        }
        // Also if the page contributed nothing.
        await pause()
        return part
      })

    let isOpen = false
    let timer: NodeJS.Timeout | undefined
    try {
      let part = await next()
      while (part !== undefined) {
        const following = await next()
        if (following !== undefined && !isOpen) {
          if (this.#open >= mostOpen) throw tooMany()
          this.#open++
          isOpen = true
          timer = setTimeout(() => client.disconnect(), this.#timeLimitMs)
        }
        // A part without items too: the client may have left, and then no further page is read.
        yield part
        part = following
      }
      yield separator === '[' ? '[]' : ']'
    } finally {
      onEnd()
      clearTimeout(timer)
      if (isOpen) this.#open--
      await reader.return?.()
    }
  }

  async #inTurn<T>(work: () => Promise<T>): Promise<T> {
    this.#waiting++
    const [, release] = await this.#working.acquire()
    this.#waiting--
    try {
      return await work()
    } finally {
      release()
    }
  }
}

function tooMany(): ChainUnavailableError {
  return new ChainUnavailableError('Too many long lists are being read. Try again in a second.')
}
