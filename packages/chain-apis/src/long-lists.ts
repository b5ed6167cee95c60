import { Readable } from 'node:stream'
import { Semaphore } from 'async-mutex'
import type { FastifyReply } from 'fastify'
import { ChainUnavailableError, undone } from './errors.js'
import { encodeJson } from './json.js'
import { createPause } from './pause.js'
import type { ChainBlock, ChainTransaction, ChainView } from './view/chain-view.js'

type Pages<Entry> = AsyncIterable<readonly Entry[]>

/** The items that a page contributes to a list. */
type ItemsOf<Entry> = (page: readonly Entry[]) => Iterable<unknown> | Promise<Iterable<unknown>>

/** Pages that are read and encoded at a time. */
const mostWorking = 8

/** Pages that wait for that; then no further list begins. */
const mostWaiting = 256

/** Lists of several pages, each of which has two of them in memory while its client takes them. */
const mostOpen = 64

/**
 * The milliseconds that a list of several pages may be open: otherwise a few slow clients would keep out all
 * others. Within it, 14 Mbit/s are enough for 1 GB.
 */
const mostOpenMs = 10 * 60_000

/** Milliseconds after which a client that takes no page makes room for another list. */
const mostIdleMs = 10_000

/** A list of several pages that is being read. */
interface OpenList {
  readonly client: ConnectedClient
  /** Since when a page waits for the client; undefined while a page is made. */
  waitingSince: number | undefined
}

/** The long lists of a chain that are being read. All APIs share the limits. */
export class LongLists {
  readonly #working = new Semaphore(mostWorking)
  #waiting = 0
  readonly #open = new Set<OpenList>()
  readonly #timeLimitMs: number
  readonly #idleLimitMs: number

  /**
   * @param timeLimitMs time that a list of several pages may be open; then its client is disconnected
   * @param idleLimitMs time that a client may take no page while other lists want its place
   */
  constructor(timeLimitMs = mostOpenMs, idleLimitMs = mostIdleMs) {
    this.#timeLimitMs = timeLimitMs
    this.#idleLimitMs = idleLimitMs
  }

  /**
   * A JSON array of the entries of pages, in parts: no more than two pages are in memory. The list ends when
   * the client has left, or nothing will read the parts. The first part is made before it resolves, so that
   * early failures reject.
   * @throws {ChainUnavailableError} if too many lists are being read, or if the client has left
   */
  async read<Entry>(
    pages: Pages<Entry>,
    itemsOf: ItemsOf<Entry>,
    client: ConnectedClient,
  ): Promise<AsyncIterable<string>> {
    if (this.#waiting >= mostWaiting) throw tooMany()
    // A connection has one signal for all of its lists.
    const ended = new AbortController()
    const parts = this.#partsOf(pages, itemsOf, client, () => ended.abort())
    const end = () => void parts.return().catch(() => {})
    client.signal.addEventListener('abort', end, { signal: ended.signal })
    return withAhead([await parts.next()], parts)
  }

  /**
   * The same pages, for an answer that is made of all of them: each is read in its turn, and counts as
   * {@link read} does.
   * @throws {ChainUnavailableError} while they are read, if too many lists are, or if the client has left
   */
  async *pages<Page>(pages: AsyncIterable<Page>, client: ConnectedClient): AsyncGenerator<Page, void> {
    if (this.#waiting >= mostWaiting) throw tooMany()
    const reader = pages[Symbol.asyncIterator]()
    const list: OpenList = { client, waitingSince: undefined }
    try {
      for (let count = 1; ; count++) {
        const { done, value } = await this.#inTurn(() => nextFor(client, reader))
        if (done) return
        if (count === 2) {
          this.#makeRoom()
          this.#open.add(list)
        }
        yield value
      }
    } finally {
      this.#open.delete(list)
      await reader.return?.()
    }
  }

  async *#partsOf<Entry>(
    pages: Pages<Entry>,
    itemsOf: ItemsOf<Entry>,
    client: ConnectedClient,
    onEnd: () => void,
  ): AsyncGenerator<string, void> {
    const reader = pages[Symbol.asyncIterator]()
    const pause = createPause()
    let separator = '['
    const next = () =>
      this.#inTurn(async () => {
        const { done, value } = await nextFor(client, reader)
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

    const list: OpenList = { client, waitingSince: undefined }
    let timer: NodeJS.Timeout | undefined
    try {
      let part = await next()
      while (part !== undefined) {
        const following = await next()
        if (following !== undefined && timer === undefined) {
          this.#makeRoom()
          this.#open.add(list)
          timer = setTimeout(() => client.disconnect(), this.#timeLimitMs)
        }
        list.waitingSince = performance.now()
        // A part without items too: the client may have left, and then no further page is read.
        yield part
        list.waitingSince = undefined
        part = following
      }
      yield separator === '[' ? '[]' : ']'
    } finally {
      onEnd()
      clearTimeout(timer)
      this.#open.delete(list)
      await reader.return?.()
    }
  }

  /** At the limit, disconnects the client idle longest. Throws {@link ChainUnavailableError} if none is. */
  #makeRoom(): void {
    if (this.#open.size < mostOpen) return
    const idleSince = performance.now() - this.#idleLimitMs
    const [slowest] = [...this.#open]
      .filter(({ waitingSince }) => waitingSince !== undefined && waitingSince <= idleSince)
      .sort((a, b) => (a.waitingSince ?? 0) - (b.waitingSince ?? 0))
    if (slowest === undefined) throw tooMany()
    this.#open.delete(slowest)
    slowest.client.disconnect()
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

async function nextFor<Page>(
  { signal }: ConnectedClient,
  reader: AsyncIterator<Page>,
): Promise<IteratorResult<Page>> {
  if (signal.aborted) throw new ChainUnavailableError('The client has left.')
  return reader.next()
}

function tooMany(): ChainUnavailableError {
  return new ChainUnavailableError('Too many long lists are being read. Try again in a second.')
}

/** Parts already read, then the rest. Ending it ends the rest, even unread, so that its `finally` runs. */
function withAhead<Part>(
  ahead: readonly IteratorResult<Part, void>[],
  rest: AsyncGenerator<Part, void>,
): AsyncIterableIterator<Part, void> {
  const known = [...ahead]
  return {
    next: async () => known.shift() ?? rest.next(),
    return: () => rest.return(),
    [Symbol.asyncIterator]() {
      return this
    },
  }
}

/** The body of an answer: text if it is short, so that its length is known, or else a stream. */
export async function bodyOf(parts: AsyncGenerator<string | Buffer, void>): Promise<string | Readable> {
  const first = await parts.next()
  const second = await parts.next()
  if (second.done === true) return String(first.value ?? '')
  return Readable.from(withAhead([first, second], parts))
}

export interface ConnectedClient {
  /** Aborted when the client has left, or will read nothing more of the answer. */
  readonly signal: AbortSignal
  /** Closes the connection at once, so that what was sent is no whole answer. */
  disconnect(): void
}

export function clientOf(reply: FastifyReply): ConnectedClient {
  return { signal: clientSignal(reply), disconnect: () => reply.raw.destroy() }
}

/**
 * A signal that is aborted when the client leaves or its answer is complete. Fastify's `request.signal` is
 * aborted, or never will be, once the body of the request has been read.
 */
export function clientSignal({ raw }: FastifyReply): AbortSignal {
  const left = new AbortController()
  if (raw.closed) left.abort()
  else raw.once('close', () => left.abort())
  return left.signal
}

/** Transactions that are read at a time. */
const pageLength = 64

/** The transactions of a block. @throws {ChainUnavailableError} if the block is undone meanwhile */
export async function* blockTransactions(
  chain: ChainView,
  { hash, open, transactionCount }: ChainBlock,
): AsyncGenerator<readonly ChainTransaction[], void> {
  let offset = 0
  for (;;) {
    const page = await chain.blockTransactions(hash, { offset, limit: pageLength })
    yield page
    offset += page.length
    if (page.length < pageLength) break
  }
  if (open !== true && offset !== transactionCount) throw undone()
}

/** The first of the transactions in the mempool. Those that leave it meanwhile are left out. */
export async function* mempoolTransactions(
  chain: ChainView,
  most: number,
): AsyncGenerator<readonly ChainTransaction[], void> {
  const pending = await chain.mempool({ offset: 0, limit: most })
  for (let start = 0; start < pending.length; start += pageLength) {
    const hashes = pending.slice(start, start + pageLength).map(({ hash }) => hash)
    const found = await chain.transactions(hashes)
    yield hashes.flatMap((hash) => {
      const transaction = found.get(hash)
      return transaction === undefined ? [] : { hash, transaction }
    })
  }
}
