import { connect, type Socket } from 'node:net'
import swagger from '@fastify/swagger'
import { toHex } from '@ratatosk/cbor'
import { httpErrorOptions, httpErrors } from '@ratatosk/http'
import { listening, recordedLog, until } from '@ratatosk/test-kit/http'
import fastify from 'fastify'
import t, { type Test } from 'tap'
import events, {
  type EventLog,
  type EventPosition,
  type EventRange,
  type EventsOptions,
  type LedgerEvent,
} from './index.js'

const at = new Date('2026-03-04T05:06:07.891Z')
const none: EventPosition = { accepted: 0n, rejected: 0n, block: 0n }

/** A log of acceptances in memory. */
class MemoryLog implements EventLog {
  events: LedgerEvent[] = []
  readonly ranges: EventRange[] = []
  polls = 0
  broken = false

  add(count = 1): void {
    for (let n = 0; n < count; n++) {
      const accepted = BigInt(this.events.length + 1)
      const transactionId = Buffer.alloc(32)
      transactionId.writeBigUInt64BE(accepted, 24)
      this.events.push({ type: 'accepted', position: { ...none, accepted }, transactionId, at })
    }
  }

  async head() {
    this.polls++
    if (this.broken) throw new Error('the database is unavailable')
    return { ...none, accepted: BigInt(this.events.length) }
  }

  async read(range: EventRange) {
    this.ranges.push(range)
    if (this.broken) throw new Error('the database is unavailable')
    const [after, to] = [Number(range.after.accepted), Number(range.to.accepted)]
    const found = this.events.slice(after, Math.min(to, after + range.limit))
    return { events: found, position: found.at(-1)?.position ?? range.to }
  }
}

async function build(t: Test, options: Partial<EventsOptions> = {}) {
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

/** An event as a client reads it. */
interface Received {
  id?: string
  event?: string
  data?: string
  comment?: true
}

/** A client that reads as `EventSource` does, or not at all while it is paused. */
function follow(t: Test, port: number, path = '/events', headers: Record<string, string> = {}) {
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

const numbers = (received: readonly Received[]) =>
  received.map(({ data = '{}' }) => Number.parseInt(JSON.parse(data).txHash, 16))

const upTo = (last: number, first = 1) => Array.from({ length: last - first + 1 }, (_, n) => first + n)

t.test('streams what happens from now on', async (t) => {
  const { log, port } = await build(t, { heartbeatMs: 60_000 })
  log.add(3)
  const client = follow(t, port)
  await until(() => client.received.length === 1)
  t.match(client.head(), /^HTTP\/1.1 200 /)
  t.match(client.head(), /content-type: text\/event-stream/)
  t.match(client.head(), /cache-control: no-store, no-transform/)
  t.match(client.head(), /x-accel-buffering: no/)
  t.same(client.received, [{ id: '3.0.0' }], 'an id to resume from, before anything happens')
  log.add(2)
  await until(() => client.events().length === 2)
  t.same(client.events()[0], {
    id: '4.0.0',
    event: 'accepted',
    data: JSON.stringify({ txHash: '4'.padStart(64, '0'), at: '2026-03-04T05:06:07.891Z' }),
  })
})

t.test('resumes after the id of the header, or of `after`', async (t) => {
  const { log, port } = await build(t)
  log.add(1000)
  const whole = follow(t, port, '/events?after=0.0.0')
  const part = follow(t, port, '/events?after=1.0.0', { 'last-event-id': '990.0.0' })
  await until(() => whole.events().length === 1000 && part.events().length === 10)
  t.same(numbers(whole.events()), upTo(1000))
  t.same(numbers(part.events()), upTo(1000, 991))
})

t.test('renders each kind of event', async (t) => {
  const { log, port } = await build(t, { maturityWindowMs: 1000 })
  const position = { accepted: 0n, rejected: 1n, block: 0n }
  log.events = [
    {
      type: 'rejected',
      position,
      submissionId: 's-1',
      code: 'FeeTooSmallUTxO',
      message: `line\none ${'x'.repeat(400)}`,
      at,
    },
    {
      type: 'block',
      position: { ...position, accepted: 2n, block: 1n },
      headerHash: new Uint8Array(28).fill(1),
      height: 7n,
      state: 'merged',
      transactions: 3,
      endTime: 1_767_225_600_000n,
      commitTransactionId: new Uint8Array(32).fill(2),
      mergeTransactionId: new Uint8Array(32).fill(3),
      at,
    },
  ]
  const client = follow(t, port, '/events?after=0.0.0')
  await until(() => client.events().length === 2)
  const [rejected, block] = client.events()
  t.equal(rejected?.event, 'rejected')
  const { reason, ...data } = JSON.parse(rejected?.data ?? '')
  t.same(data, { id: 's-1', code: 'FeeTooSmallUTxO', at: at.toISOString() })
  t.equal(reason, `line\none ${'x'.repeat(291)}…`)
  t.equal(block?.id, '2.1.1')
  t.same(JSON.parse(block?.data ?? ''), {
    state: 'merged',
    height: 7,
    headerHash: '01'.repeat(28),
    transactions: 3,
    commitTxHash: '02'.repeat(32),
    mergeTxHash: '03'.repeat(32),
    endTime: '2026-01-01T00:00:00.000Z',
    maturesAt: '2026-01-01T00:00:01.000Z',
    at: at.toISOString(),
  })
})

t.test('reads what a filter asks for', async (t) => {
  const { log, port } = await build(t)
  const hash = 'ab'.repeat(32)
  const address = 'addr_test1vz2fxv2umyhttkxyxp8x0dlpdt3k6cwng5pxj3jhsydzerspjrlsz'
  for (const query of [
    'type=block,accepted',
    `tx_hash=${hash},${hash.toUpperCase()}&type=accepted`,
    `address=${address}`,
    `block=${'cd'.repeat(28)}`,
  ]) {
    follow(t, port, `/events?after=0.0.0&${query}`)
  }
  log.add()
  await until(() => log.ranges.length >= 4)
  const filters = new Set(
    log.ranges.map(({ filter: { types, transactions, address, headerHash } }) =>
      JSON.stringify([
        types,
        transactions?.map(toHex),
        address && toHex(address),
        headerHash && toHex(headerHash),
      ]),
    ),
  )
  t.same(
    [...filters].sort(),
    [
      [['accepted', 'block'], null, null, null],
      [['accepted'], [hash], null, null],
      [null, null, '609493315cd92eb5d8c4304e67b7e16ae36d61d34502694657811a2c8e', null],
      [null, null, null, 'cd'.repeat(28)],
    ]
      .map((filter) => JSON.stringify(filter))
      .sort(),
  )
})

t.test('refuses what it cannot read, and says what to send', async (t) => {
  const { get, log } = await build(t)
  const hash = 'ab'.repeat(32)
  for (const [query, message] of [
    ['type=', /^Invalid type: \. Send any of accepted, rejected, block/],
    ['type=accepted,merged', /^Invalid type: accepted,merged\. /],
    ['tx_hash=ab', /^Invalid transaction hash: ab\. Send up to 50 hashes/],
    [
      `tx_hash=${Array.from({ length: 51 }, (_, n) => String(n).padStart(64, '0'))}`,
      /^Invalid transaction hash: 0/,
    ],
    ['block=ab', /^Invalid block: ab\. Send a header hash of 56 hex digits/],
    ['address=x', /^Invalid address: x\. Send a bech32 payment address of this network/],
    ['address=stake_test1uqehkck0lajq8gr28t9uxnuvgcqrc6070x3k9r8048z8y5gssrtvn', /^Invalid address: /],
    ['address=addr1vx2fxv2umyhttkxyxp8x0dlpdt3k6cwng5pxj3jhsydzers66hrl8', /^Invalid address: /],
    [`tx_hash=${hash}&block=${hash}`, /^Send at most one of tx_hash, address and block$/],
    ['txHash=x', /^Unknown parameter: txHash\. Send any of type, tx_hash, address, block, after$/],
    ['after=1.1.1&lastEventId=2.2.2', /^Unknown parameter: lastEventId\. /],
    ['after=1.2', /^Invalid after: 1\.2\. Send the id of an event/],
    ['after=1.2.1234567890123456789', /^Invalid after: /],
    ['after=1.1.1&after=2.2.2', /^Invalid after: 1\.1\.1,2\.2\.2\. /],
  ] as const) {
    const { status, body } = await get(`/events?${query}`)
    t.equal(status, 400, query)
    t.match(JSON.parse(body).error, message)
  }
  const header = await get('/events', { 'last-event-id': 'x' })
  t.equal(header.status, 400)
  t.match(JSON.parse(header.body).error, /^Invalid Last-Event-ID: x\. /)
  t.equal(log.polls, 0, 'without asking the log')
})

t.test('sends the id of what was passed over with each heartbeat', async (t) => {
  const { log, port } = await build(t, { heartbeatMs: 1 })
  const client = follow(t, port)
  await until(() => client.received.length === 1)
  log.read = async (range) => ({ events: [], position: range.to })
  log.add(5)
  await until(() => client.received.some(({ comment, id }) => comment && id === '5.0.0'))
  t.same(client.events(), [])
})

t.test('reads a page once for all clients at the same position', async (t) => {
  const { log, port } = await build(t)
  const clients = Array.from({ length: 20 }, () => follow(t, port))
  await until(() => clients.every(({ received }) => received.length === 1))
  log.add()
  await until(() => clients.every((client) => client.events().length === 1))
  t.equal(log.ranges.length, 1)
})

t.test('polls for events only while a client reads them', async (t) => {
  const { log, port, server } = await build(t)
  const client = follow(t, port)
  await until(() => log.polls > 3)
  client.socket.destroy()
  let polls = -1
  await until(async () => {
    const before = polls
    polls = log.polls
    return before === polls
  })
  t.ok(polls > 3, `no more than ${polls} polls`)
  log.add()
  const again = follow(t, port, '/events?after=0.0.0')
  await until(() => again.events().length === 1)
  await server.close()
})

t.test('drops a client that does not read, which resumes and misses nothing', async (t) => {
  const { log, port, sockets, records } = await build(t, { drainTimeoutMs: 300 })
  log.add(100_000)
  const slow = follow(t, port, '/events?after=0.0.0')
  slow.socket.pause()
  let most = 0
  await until(() => sockets.size === 1)
  const [socket] = sockets
  await until(
    () => {
      most = Math.max(most, socket?.writableLength ?? 0)
      return socket?.destroyed === true
    },
    { what: 'the client is dropped' },
  )
  t.ok(most > 0, 'the client was behind')
  t.ok(most < 1_048_576, `${most} bytes waited for it`)
  const ended = records().filter(({ msg }) => String(msg).startsWith('The client takes no events'))
  t.match(ended, [{ level: 30, drainTimeoutMs: 300, reqId: /./ }], 'the log says why')
  slow.socket.resume()
  await until(() => slow.hasEnded())
  const seen = slow.events()
  t.ok(seen.length > 0 && seen.length < 100_000, `${seen.length} events before it was dropped`)
  const quick = follow(t, port, '/events', { 'last-event-id': seen.at(-1)?.id ?? '' })
  await until(() => seen.length + quick.events().length >= 100_000, { what: 'the rest' })
  t.same(numbers([...seen, ...quick.events()]), upTo(100_000))
})

t.test('continues when the log can be read again, and logs that once', async (t) => {
  const { log, port, records, get } = await build(t)
  const client = follow(t, port)
  await until(() => client.received.length === 1)
  log.broken = true
  log.add(3)
  const polls = log.polls
  await until(() => log.polls > polls + 5)
  t.equal((await get('/events')).status, 500, 'the start of a new client is unknown')
  const resuming = follow(t, port, '/events', { 'last-event-id': '1.0.0' })
  await until(() => resuming.received.length === 1, { what: 'a client with an id is let in' })
  log.broken = false
  await until(() => client.events().length === 3 && resuming.events().length === 2)
  t.same(numbers(client.events()), [1, 2, 3])
  const count = (msg: string) => records().filter((record) => record.msg === msg).length
  t.equal(count('The event log cannot be read; trying again'), 1)
  t.equal(count('The event log can be read again'), 1)
})

t.test('a page that cannot be read is read again', async (t) => {
  const { log, port } = await build(t)
  const client = follow(t, port)
  await until(() => client.received.length === 1)
  const read = log.read.bind(log)
  let failures = 2
  log.read = async (range) => {
    if (failures-- > 0) throw new Error('the connection was lost')
    return read(range)
  }
  log.add(2)
  await until(() => client.events().length === 2)
  t.same(numbers(client.events()), [1, 2])
})

t.test('serves as many clients as allowed', async (t) => {
  const { port, get } = await build(t, { maxClients: 2 })
  const clients = [follow(t, port), follow(t, port)]
  await until(() => clients.every(({ received }) => received.length === 1))
  const refused = await get('/events')
  t.match(refused, { status: 503, body: '{"error":"Too many clients read events: retry later"}' })
  t.equal(refused.headers['retry-after'], '5')
  clients[0]?.socket.destroy()
  const next: Received[][] = []
  await until(() => {
    const { received } = follow(t, port)
    next.push(received)
    return next.some((each) => each.some(({ id }) => id !== undefined))
  })
})

t.test('ends its streams when the server closes', async (t) => {
  const { port, server, log } = await build(t)
  log.add()
  const client = follow(t, port, '/events?after=0.0.0')
  await until(() => client.events().length === 1)
  await server.close()
  await until(() => client.hasEnded())
  t.same(numbers(client.events()), [1])
})

t.test('answers HEAD without a stream', async (t) => {
  const { head, log } = await build(t)
  const answer = await head('/events')
  t.equal(answer.status, 200)
  t.match(answer.headers['content-type'], /^text\/event-stream/)
  t.equal(log.polls, 0)
})

t.test('documents its parameters and every status', async (t) => {
  const server = fastify(httpErrorOptions)
  t.teardown(() => server.close())
  await server.register(swagger, { openapi: { info: { title: 'test', version: '1' } } })
  await server.register(events, { log: new MemoryLog(), network: 'testnet' })
  await server.ready()
  const { paths = {} } = server.swagger() as unknown as {
    paths?: Record<
      string,
      { get: { responses: Record<string, { content: object }>; parameters: { name: string }[] } }
    >
  }
  const operation = paths['/events']?.get
  t.equal(Object.keys(operation?.responses ?? {}).join(' '), '200 400 408 431 500 503')
  t.same(Object.keys(operation?.responses[200]?.content ?? {}), ['text/event-stream'])
  t.same(operation?.parameters.map(({ name }) => name).sort(), [
    'address',
    'after',
    'block',
    'last-event-id',
    'tx_hash',
    'type',
  ])
})

t.test('refuses options that cannot work', async (t) => {
  const log = new MemoryLog()
  for (const options of [
    {},
    { log },
    { log: {}, network: 'testnet' },
    { log, network: 'preprod' },
    { log, network: 'testnet', maxClients: 0 },
    { log, network: 'testnet', pollMs: 1.5 },
    { log, network: 'testnet', maturityWindowMs: -1 },
  ] as unknown as EventsOptions[]) {
    await t.rejects(async () => fastify().register(events, options), TypeError)
  }
})
