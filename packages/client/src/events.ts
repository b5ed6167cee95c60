import {
  type AcceptedEvent,
  type BlockEvent,
  operations,
  type RejectedEvent,
  type StreamEventsParameters,
  type VerdictEvent,
} from './api.js'
import { InvalidAnswerError } from './errors.js'
import type { NodeRequestOptions } from './options.js'
import { isTransient, type NodeRequest, sleep, type Transport, waitAfter } from './transport.js'

/** A change of a transaction or a block. `id` is where the stream resumes: pass it as `after`. */
export type NodeEvent =
  | { readonly type: 'accepted'; readonly id: string; readonly data: AcceptedEvent }
  | { readonly type: 'rejected'; readonly id: string; readonly data: RejectedEvent }
  | { readonly type: 'block'; readonly id: string; readonly data: BlockEvent }
  | { readonly type: 'verdict'; readonly id: string; readonly data: VerdictEvent }

/** The connection is open: later events are received. Without data, it states only where the stream is. */
interface StreamOpened {
  readonly type: 'opened'
  readonly id: string | undefined
}

/** The node sends something every 15 s; silence of this length means that the connection is lost. */
const silenceMs = 45_000
const defaultRetryMs = 1000

/** Events without end, resumed behind the last one; the first connection gets any request's retries. */
export async function* follow(
  transport: Transport,
  { after, ...filter }: StreamEventsParameters,
  options: NodeRequestOptions,
): AsyncGenerator<NodeEvent | StreamOpened, never> {
  let last = after
  let retryMs = defaultRetryMs
  let failures = 0
  let hasConnected = false
  for (;;) {
    const request: NodeRequest = {
      operation: operations.streamEvents,
      parameters: filter,
      isRepeatable: true,
      ...(last !== undefined && { headers: { 'last-event-id': last } }),
    }
    const open = () => transport.open(request, options)
    try {
      const { response, deadline, explain } = hasConnected
        ? await open()
        : await transport.retrying(request, options, open)
      try {
        const isEvents = response.headers.get('content-type')?.startsWith('text/event-stream')
        if (!isEvents || response.body === null) throw notEvents()
        deadline.restart(options.timeoutMs ?? silenceMs)
        for await (const message of readMessages(response.body)) {
          deadline.restart()
          failures = 0
          retryMs = message.retryMs ?? retryMs
          if (!hasConnected || message.data === undefined) {
            hasConnected = true
            last = message.id ?? last
            yield { type: 'opened', id: last }
          }
          if (message.data !== undefined) {
            const event = eventOf(message)
            // A type that is newer than this client.
            if (event !== undefined) yield event
            last = message.id ?? last
          }
        }
      } catch (error) {
        throw error instanceof RangeError ? notEvents(error) : explain(error)
      } finally {
        deadline.end()
      }
    } catch (error) {
      if (options.signal?.aborted || !hasConnected || !isTransient(error)) throw error
      retryMs = Math.max(retryMs, waitAfter(error, failures++) ?? 0)
    }
    await sleep(retryMs, options.signal)
  }
}

/** Events up to the newest one. Throws InvalidAnswerError if the node omits the stream's position. */
export async function* readUpToNow(
  transport: Transport,
  { after = '0.0.0', ...filter }: StreamEventsParameters,
  options: NodeRequestOptions,
): AsyncGenerator<NodeEvent, void> {
  const head = await headOf(transport, filter, options)
  const asked = filter.type?.split(',')
  const isThere = (id: string | undefined): boolean => {
    const position = positionsOf(id)
    return head.every((number, kind) => !isAsked(kind, asked) || (position[kind] ?? 0) >= number)
  }
  for await (const event of follow(transport, { ...filter, after }, options)) {
    if (event.type !== 'opened') yield event
    if (isThere(event.id)) return
  }
}

/** The kinds of events, in the order of their positions in an id. */
const kinds = ['accepted', 'rejected', 'block', 'verdict'] as const

const isAsked = (kind: number, asked: readonly string[] | undefined): boolean =>
  asked === undefined || asked.includes(kinds[kind] ?? '')

const positionsOf = (id = ''): readonly number[] => (/^[\d.]+$/.test(id) ? id.split('.').map(Number) : [])

async function headOf(
  transport: Transport,
  filter: Omit<StreamEventsParameters, 'after'>,
  options: NodeRequestOptions,
): Promise<readonly number[]> {
  for await (const { id } of follow(transport, filter, options)) {
    const head = positionsOf(id)
    if (head.length > 0) return head
    break
  }
  throw new InvalidAnswerError('GET /events', 'it does not begin with an id')
}

function eventOf({ event, id, data = '' }: Message): NodeEvent | undefined {
  if (id === undefined || !['accepted', 'rejected', 'block', 'verdict'].includes(event)) return undefined
  try {
    return { type: event, id, data: JSON.parse(data) } as NodeEvent
  } catch (cause) {
    throw notEvents(cause)
  }
}

function notEvents(cause?: unknown): InvalidAnswerError {
  return new InvalidAnswerError('GET /events', 'the answer is not a stream of events', { cause })
}

/** A message of an event stream. */
interface Message {
  /** Where the stream resumes after it; undefined if the stream has sent no id yet. */
  readonly id: string | undefined
  /** Undefined for a message without data, which only moves the id. */
  readonly data: string | undefined
  readonly event: string
  /** Milliseconds after which to reconnect, if the stream has said so. */
  readonly retryMs: number | undefined
}

/** Characters of one line, and of the data of one message, beyond which a stream is not one of events. */
const maxLength = 1_048_576

/**
 * The messages of a stream (HTML standard, "Server-sent events"), until it ends.
 * @throws RangeError if a line or a message is longer than 1,048,576 characters
 */
async function* readMessages(stream: ReadableStream<Uint8Array>): AsyncGenerator<Message, void> {
  let id: string | undefined
  let retryMs: number | undefined
  let event = 'message'
  let data: string[] = []
  let length = 0
  for await (const line of readLines(stream)) {
    if (line === '') {
      yield { id, event, data: data.length > 0 ? data.join('\n') : undefined, retryMs }
      event = 'message'
      data = []
      length = 0
      continue
    }
    const [, field, value = ''] = /^([^:]*)(?:: ?(.*))?$/s.exec(line) ?? []
    if (field === 'data') {
      length += value.length
      if (length > maxLength) throw new RangeError('An event is too long')
      data.push(value)
    } else if (field === 'event') event = value
    else if (field === 'id' && !value.includes('\0')) id = value
    else if (field === 'retry' && /^[0-9]+$/.test(value)) retryMs = Number(value)
  }
}

async function* readLines(stream: ReadableStream<Uint8Array>): AsyncGenerator<string, void> {
  const reader = stream.getReader()
  const decoder = new TextDecoder()
  let rest = ''
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      // A carriage return at the end may be half of a line break.
      const lines = (rest + decoder.decode(value, { stream: true })).split(/\r\n|\n|\r(?!$)/)
      rest = lines.pop() ?? ''
      if (rest.length > maxLength) throw new RangeError('A line is too long')
      yield* lines
    }
  } finally {
    // Ends the connection if the reader stops early; the stream may have failed already.
    await reader.cancel().catch(() => undefined)
  }
}
