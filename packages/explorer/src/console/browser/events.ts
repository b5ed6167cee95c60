import { signal } from '@preact/signals'
import type { AcceptedEvent, BlockEvent, NodeEvent, RejectedEvent } from '@ratatosk/client'
import { AnswerError } from './api.js'

/** Receives the data of each kind of event. */
type Handlers = { readonly [Event in NodeEvent as Event['type']]: (data: Event['data']) => void }

interface Listener extends Handlers {
  /** Events come from now on. The state read before may be older than the first of them. */
  readonly begun: () => void
}

/** Whether events do not come: pages then only know what they read again and again. */
export const areEventsLost = signal(false)

/** Milliseconds that a node or a proxy may ask to wait, at most: the page may be closed by then. */
const longest = 300_000

/** Milliseconds until the next stream: after one that has ended, and after a refusal such as 503. */
const defaultWaits = { ended: 1_000, refused: 5_000 }

/** A browser opens six connections to a node: a page that is hidden leaves them to others. */
async function untilShown(): Promise<AbortController> {
  while (document.hidden)
    await new Promise((resolve) => document.addEventListener('visibilitychange', resolve, { once: true }))
  const hidden = new AbortController()
  document.addEventListener('visibilitychange', () => hidden.abort(), { signal: hidden.signal })
  return hidden
}

/** Listens to the events of the node until the page is closed, to each once; while it is hidden, to none. */
export async function listen(listener: Listener, { ended, refused } = defaultWaits): Promise<never> {
  // An `EventSource` keeps the position from a page that has received no event yet.
  let position = ''
  for (;;) {
    let wait = ended
    let hasBegun = false
    const hidden = await untilShown()
    const take = (message: StreamMessage): false => {
      if (message.id !== '') position = message.id
      const isFirst = !hasBegun
      hasBegun = true
      areEventsLost.value = false
      // A fault of the page is no fault of the stream: the browser reports it, and the next message comes.
      try {
        if (isFirst) listener.begun()
        hear(message, listener)
      } catch (error) {
        reportError(error)
      }
      return false
    }
    try {
      await readStream(position === '' ? 'events' : `events?after=${position}`, take, hidden.signal)
    } catch (error) {
      if (error instanceof AnswerError) wait = Math.min(Math.max(refused, error.retryAfterMs ?? 0), longest)
    }
    if (hidden.signal.aborted) continue
    hidden.abort()
    areEventsLost.value = true
    await new Promise((resolve) => setTimeout(resolve, wait))
  }
}

const kinds: readonly NodeEvent['type'][] = ['accepted', 'rejected', 'block', 'verdict']

function hear({ event, data }: StreamMessage, listener: Listener): void {
  const kind = kinds.find((each) => each === event)
  if (kind !== undefined) listener[kind](JSON.parse(data))
}

/** The events of one kind that a list shows, the newest first. */
function createEventList<Event>(most: number, keyOf: (event: Event) => string | undefined) {
  const shown = signal<readonly Event[]>([])
  /** The newest last. */
  let pending: Event[] = []
  return {
    shown,
    /** Keeps an event until the list is changed. */
    add(event: Event): void {
      pending.push(event)
      if (pending.length > most) pending.shift()
    },
    /** Puts what was kept into the list: each thing once, where it happened last. */
    show(): void {
      if (pending.length === 0) return
      const byKey = new Map<string | undefined, Event>()
      for (const event of [...pending.reverse(), ...shown.value])
        if (!byKey.has(keyOf(event))) byKey.set(keyOf(event), event)
      pending = []
      shown.value = [...byKey.values()].slice(0, most)
    },
  }
}

/** A removed block's transaction is accepted again. */
export const accepted = createEventList<AcceptedEvent>(6, ({ txHash }) => txHash)

/** Apart from acceptances, hundreds of which may come while a rejection is to be seen. */
export const rejected = createEventList<RejectedEvent>(4, ({ id }) => id)

export interface PastEvent {
  /** POSIX milliseconds. */
  readonly at: number
  readonly kind: 'accepted' | 'rejected' | 'block'
  /** Of a rejected submission. */
  readonly id?: string
  readonly txHash?: string
  readonly code?: string
  readonly headerHash?: string
  readonly height?: number
  readonly state?: BlockEvent['state']
  readonly transactions?: number
}

/** Events of each kind that are read, the newest. */
const most = 5_000

/** A position of `/events`: how many of each kind are before it, verdicts last. */
const positionOf = (text: string): readonly number[] => text.split('.').map(Number)

export interface History {
  /** The oldest first. */
  readonly events: readonly PastEvent[]
  /** Whether none is missing that the node had at the beginning of the read. */
  readonly isWhole: boolean
}

/**
 * Reads the events from POSIX milliseconds on, the newest 5,000 of each kind. Rejects if the node refuses
 * events or sends nothing.
 */
export async function readHistory(from: number): Promise<History> {
  let head: readonly number[] = []
  const hasHead = await readStream('events', ({ id }) => {
    head = positionOf(id)
    return true
  })
  // Without it, all events would be read.
  if (!hasHead) throw new Error('The node has sent nothing. Try again later.')
  const found: PastEvent[] = []
  const after = head.map((count) => Math.max(0, count - most)).join('.')
  const isWhole = await readStream(
    `events?type=accepted,rejected,block&after=${after}`,
    ({ id, event, data }) => {
      if (data !== '') {
        const { at, ...rest } = JSON.parse(data)
        const time = Date.parse(at)
        if (time >= from) found.push({ ...rest, kind: event, at: time })
      }
      return positionOf(id).every((count, kind) => count >= (head[kind] ?? 0))
    },
  )
  return { events: found.sort((one, other) => one.at - other.at), isWhole }
}

/** The fields between two blank lines of an event stream; an absent field is empty. */
interface StreamMessage {
  readonly id: string
  readonly event: string
  readonly data: string
}

/** After so long without anything, the node is too slow. It sends a heartbeat after 15 s of silence. */
const quietMs = 20_000

/** A dot and `$` take U+2028, which JSON may have, for the end of a line. */
const fieldOf = (name: string) => new RegExp(`(?:^|\\n)${name}: ?([^\\n]*)`)

const fields = { id: fieldOf('id'), event: fieldOf('event'), data: fieldOf('data') }

/** Of seconds. Servers may also send a date, which clocks that differ make useless. */
function retryAfterMs(header: string | null): number | undefined {
  return header !== null && /^\d{1,6}$/.test(header) ? Number(header) * 1000 : undefined
}

/**
 * Calls with each message of an event stream, until `take` is content (true), `signal` aborts, or nothing
 * comes for a while.
 * @throws {AnswerError} if the answer is no event stream, such as a proxy's page
 * @throws {TypeError} if the node cannot be reached
 */
async function readStream(
  path: string,
  take: (message: StreamMessage) => boolean,
  signal?: AbortSignal,
): Promise<boolean> {
  const end = new AbortController()
  signal?.addEventListener('abort', () => end.abort(), { once: true })
  const expire = () => setTimeout(() => end.abort(), quietMs)
  let timer = expire()
  try {
    const answer = await fetch(path, { signal: end.signal })
    const isStream = answer.headers.get('content-type')?.startsWith('text/event-stream')
    if (!answer.ok || !isStream || answer.body === null)
      throw new AnswerError(
        answer.status,
        `The node sends no events: status ${answer.status}`,
        retryAfterMs(answer.headers.get('retry-after')),
      )
    const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader()
    let rest = ''
    for (;;) {
      const { done, value = '' } = await reader.read()
      if (done) return false
      clearTimeout(timer)
      timer = expire()
      const parts = (rest + value).split('\n\n')
      rest = parts.pop() ?? ''
      for (const part of parts) {
        const field = (name: keyof typeof fields) => fields[name].exec(part)?.[1] ?? ''
        if (take({ id: field('id'), event: field('event'), data: field('data') })) return true
      }
    }
  } catch (error) {
    if (!end.signal.aborted) throw error
    return false
  } finally {
    clearTimeout(timer)
    end.abort()
  }
}
