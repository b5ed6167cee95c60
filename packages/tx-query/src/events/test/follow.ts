import { connect, type Socket } from 'node:net'
import { httpErrorOptions, httpErrors } from '@ratatosk/http'
import { listening, recordedLog } from '@ratatosk/test-kit/http'
import fastify from 'fastify'
import type { Test } from 'tap'
import events, {
  type EventLog,
  type EventPosition,
  type EventRange,
  type EventsOptions,
  type LedgerEvent,
} from '../index.js'
import { latest } from '../position.js'

export const at = new Date('2026-03-04T05:06:07.891Z')
const none: EventPosition = { accepted: 0n, rejected: 0n, block: 0n, verdict: 0n }

export class MemoryLog implements EventLog {
  events: LedgerEvent[] = []
  readonly ranges: EventRange[] = []
  polls = 0
  broken = false

  add(count = 1): void {
    for (let n = 0; n < count; n++) {
      const accepted = BigInt(this.events.length + 1)
      const transactionId = Buffer.alloc(32)
      transactionId.writeBigUInt64BE(accepted, 24)
      this.events.push({ type: 'accepted', position: { ...this.#last(), accepted }, transactionId, at })
    }
  }

  #last(): EventPosition {
    return this.events.at(-1)?.position ?? none
  }

  async head() {
    this.polls++
    if (this.broken) throw new Error('the database is unavailable')
    return latest({ ...none, accepted: BigInt(this.events.length) }, this.#last())
  }

  async read(range: EventRange) {
    this.ranges.push(range)
    if (this.broken) throw new Error('the database is unavailable')
    const [after, to] = [Number(range.after.accepted), Number(range.to.accepted)]
    const found = this.events.slice(after, Math.min(to, after + range.limit))
    return { events: found, position: found.at(-1)?.position ?? range.to }
  }
}

export async function build(t: Test, options: Partial<EventsOptions> = {}) {
  const log = new MemoryLog()
  const { stream, records } = recordedLog()
  const server = fastify({ ...httpErrorOptions, logger: { level: 'info', stream } })
  const sockets = new Set<Socket>()
  server.server.on('connection', (socket) => sockets.add(socket))
  t.teardown(() => server.close())
  await server.register(httpErrors)
  await server.register(events, { log, network: 'testnet', pollMs: 10, ...options })
  return { log, server, sockets, records, ...(await listening(server)) }
}

export interface Received {
  id?: string
  event?: string
  data?: string
  comment?: true
}

/** A client that reads as `EventSource` does, or not at all while it is paused. */
export function follow(t: Test, port: number, path = '/events', headers: Record<string, string> = {}) {
  const received: Received[] = []
  let text = ''
  let head = ''
  let ended = false
  const socket = connect(port, '127.0.0.1')
  t.teardown(() => socket.destroy())
  const lines = Object.entries({ host: 'localhost', ...headers }).map(
    ([name, value]) => `${name}: ${value}\r\n`,
  )
  socket.write(`GET ${path} HTTP/1.1\r\n${lines.join('')}\r\n`)
  socket.setEncoding('utf8')
  socket.on('data', (chunk: string) => {
    text += chunk
    if (head === '') {
      const end = text.indexOf('\r\n\r\n')
      if (end < 0) return
      head = text.slice(0, end)
      text = text.slice(end + 4)
    }
    // The sizes of chunks are on lines of their own.
    for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
      const block = text.slice(0, end)
      text = text.slice(end + 2)
      const one: Received = {}
      for (const line of block.split('\n')) {
        const [, name = '', value = ''] = /^(id|event|data): (.*)$/.exec(line) ?? []
        if (name !== '') one[name as 'id'] = value
        if (line === ':') one.comment = true
      }
      received.push(one)
    }
  })
  socket.on('error', () => undefined)
  socket.on('close', () => {
    ended = true
  })
  return {
    socket,
    received,
    head: () => head,
    hasEnded: () => ended,
    events: () => received.filter(({ data }) => data !== undefined),
  }
}

export const numbers = (received: readonly Received[]) =>
  received.map(({ data = '{}' }) => Number.parseInt(JSON.parse(data).txHash, 16))

export const upTo = (last: number, first = 1) => Array.from({ length: last - first + 1 }, (_, n) => first + n)
