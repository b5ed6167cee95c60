import { Readable } from 'node:stream'
import { setImmediate as nextIteration } from 'node:timers/promises'
import { atMost, BusyError, inTime, portLimitMs, portResult } from '@ratatosk/http'
import type { TSchema } from '@sinclair/typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import pLimit from 'p-limit'
import type { Rows } from './ledger-view.js'

/** 503: the maximum number of large answers is being sent. The response has a `Retry-After` header. */
export class TooManyLargeReadsError extends BusyError {
  constructor() {
    super('TX_QUERY_TOO_MANY_LARGE_READS', 'Too many large reads in progress: retry later')
  }
}

/** Characters of JSON up to which an answer is sent at once, with its length. */
const smallAnswer = 65_536

/** Rows that are encoded at a time. */
const rowsPerChunk = 256

/** Answers whose first rows are read at the same time. */
const concurrentStarts = 8

/** Further batches read at the same time: an embedded database blocks the event loop meanwhile. */
const concurrentBatches = 2

/** A JSON object with one long array. */
interface ListAnswer<Row> {
  /** The text up to the array, including its bracket. */
  readonly head: string
  /** The method of the port that {@link rows} calls. */
  readonly method: string
  rows(): Rows<Row>
  /** Schema of an array of rows. */
  readonly schema: TSchema
  item(row: Row): string
  /** The most rows. */
  readonly limit?: number
  /** The text from the array's closing bracket on, given the number of rows. */
  tail(count: number): string
}

interface LargeAnswerOptions {
  readonly maxLargeReads: number
  /** How long a client may accept no data before its connection is closed, in milliseconds. */
  readonly stallTimeoutMs: number
}

type Reader = <T>(read: () => Promise<T>) => Promise<T>

/**
 * Sends a {@link ListAnswer}: a small one at once, a large one as the client reads it. A client that stalls
 * is disconnected; an error during a stream ends the connection.
 * @throws TooManyLargeReadsError if the answer is large and no place is free
 */
export function largeAnswers({ maxLargeReads, stallTimeoutMs }: LargeAnswerOptions) {
  const starting = pLimit(concurrentStarts)
  const continuing = pLimit(concurrentBatches)
  let sending = 0

  /** Lets other requests be served after each batch. */
  const readFairly: Reader = (read) =>
    continuing(async () => {
      const batch = await read()
      await nextIteration()
      return batch
    })

  return async <Row>(answer: ListAnswer<Row>, request: FastifyRequest, reply: FastifyReply) => {
    const chunks = chunksOf(answer, readFairly)
    const { text, done } = await starting(() => start(chunks))
    reply.type('application/json; charset=utf-8')
    if (done) return reply.send(text)
    return stream(text, chunks, request, reply)
  }

  async function stream(
    begun: string,
    rest: AsyncGenerator<string, void>,
    request: FastifyRequest,
    reply: FastifyReply,
  ) {
    if (request.method === 'HEAD') {
      await rest.return()
      return reply.send(Readable.from([]))
    }
    if (sending >= maxLargeReads) {
      await rest.return()
      throw new TooManyLargeReadsError()
    }
    sending++
    const body = Readable.from(prepend(begun, rest), { objectMode: false })
    // Not before the read that runs has ended: clients that leave could begin any number of reads.
    body.once('close', () => {
      sending--
      // Has an effect if the client disconnected before the stream was first read.
      rest.return().catch(() => undefined)
    })
    // If a hook of the server fails, nothing else ends the body.
    reply.raw.once('close', () => body.destroy())
    // The socket of an injected request has no timers.
    reply.raw.socket?.setTimeout?.(stallTimeoutMs)
    return reply.send(body)
  }
}

/** The text of a small answer, or the beginning of a large one. */
async function start(chunks: AsyncGenerator<string, void>): Promise<{ text: string; done: boolean }> {
  let text = ''
  for (;;) {
    const { value, done } = await chunks.next()
    if (done) return { text, done: true }
    text += value
    if (text.length > smallAnswer) {
      await nextIteration()
      return { text, done: false }
    }
  }
}

async function* prepend(first: string, rest: AsyncGenerator<string, void>): AsyncGenerator<string, void> {
  yield first
  yield* rest
}

/** @param readNext runs each read but the first */
async function* chunksOf<Row>(
  { head, method, rows, schema, item, limit, tail }: ListAnswer<Row>,
  readNext: Reader,
): AsyncGenerator<string, void> {
  let count = 0
  yield head
  for await (const batch of batches(method, rows(), readNext)) {
    if (!Array.isArray(batch)) portResult(method, schema, batch)
    if (limit !== undefined) atMost(method, limit, { length: count + batch.length })
    for (let first = 0; first < batch.length; first += rowsPerChunk) {
      const part = portResult(method, schema, batch.slice(first, first + rowsPerChunk))
      yield (count === 0 ? '' : ',') + part.map(item).join(',')
      count += part.length
    }
  }
  yield tail(count)
}

async function* batches<Row>(
  method: string,
  rows: Rows<Row>,
  readNext: Reader,
): AsyncGenerator<readonly Row[], void> {
  if (typeof rows !== 'object' || rows === null || !(Symbol.asyncIterator in rows)) {
    yield await inTime(method, portLimitMs, rows)
    return
  }
  const iterator = rows[Symbol.asyncIterator]()
  const next = () => inTime(method, portLimitMs, iterator.next())
  let open = true
  try {
    let result = await next()
    while (!result.done) {
      yield result.value
      result = await readNext(next)
    }
    open = false
  } catch (error) {
    open = false
    // One that did not end in time, once it does.
    void Promise.resolve(iterator.return?.()).catch(() => undefined)
    throw error
  } finally {
    if (open) await iterator.return?.()
  }
}
