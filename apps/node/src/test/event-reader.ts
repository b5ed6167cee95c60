import { type ClientRequest, get, type IncomingMessage } from 'node:http'

interface ReadEvent {
  readonly id: string
  readonly type: string
  // biome-ignore lint/suspicious/noExplicitAny: JSON that the test asserts
  readonly data: any
}

/** A client of `/events` that reconnects as `EventSource` does, to one node after the other. */
export interface EventReader {
  readonly events: readonly ReadEvent[]
  /** How often it has connected. */
  connections(): number
  /** Cuts the connection, if there is one: the client connects again. */
  drop(): void
  close(): void
}

/** Milliseconds between two connections. */
const retryMs = 50

/** @param urls of `/events`, with their queries; called before each connection */
export function readEvents(urls: () => string): EventReader {
  const events: ReadEvent[] = []
  let lastEventId: string | undefined
  let connections = 0
  let closed = false
  let request: ClientRequest | undefined
  let answer: IncomingMessage | undefined

  function connect(): void {
    if (closed) return
    connections++
    let text = ''
    const again = () => {
      if (!closed) setTimeout(connect, retryMs)
    }
    request = get(
      urls(),
      { agent: false, headers: lastEventId === undefined ? {} : { 'last-event-id': lastEventId } },
      (response) => {
        answer = response
        response.setEncoding('utf8')
        response.on('data', (chunk: string) => {
          text += chunk
          const blocks = text.split('\n\n')
          text = blocks.pop() ?? ''
          for (const block of blocks) receive(block)
        })
        response.on('error', () => undefined)
        response.on('close', again)
      },
    )
    request.on('error', (error) => {
      // Otherwise the response has begun, and ends as well.
      if ('code' in error && error.code === 'ECONNREFUSED') again()
    })
  }

  function receive(block: string): void {
    const fields = new Map(block.split('\n').map((line) => line.split(/: (.*)/s, 2) as [string, string]))
    lastEventId = fields.get('id') ?? lastEventId
    const data = fields.get('data')
    if (data === undefined) return
    events.push({ id: lastEventId ?? '', type: fields.get('event') ?? '', data: JSON.parse(data) })
  }

  connect()
  return {
    events,
    connections: () => connections,
    drop: () => void answer?.destroy(),
    close() {
      closed = true
      request?.destroy()
    },
  }
}
