import { until } from '@ratatosk/test-kit/http'
import t from 'tap'
import { build, follow, numbers, type Received, upTo } from './test/follow.js'

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
  const refused = await get('/events')
  t.same([refused.status, refused.headers['retry-after']], [503, '5'], 'its start is unknown')
  const resuming = follow(t, port, '/events', { 'last-event-id': '1.0.0' })
  await until(() => resuming.received.length === 1, { what: 'a client with an id is let in' })
  log.broken = false
  await until(() => client.events().length === 3 && resuming.events().length === 2)
  t.same(numbers(client.events()), [1, 2, 3])
  const count = (msg: string) => records().filter((record) => record.msg === msg).length
  t.equal(count('The event log cannot be read; trying again'), 1)
  t.equal(count('The event log can be read again'), 1)
})

t.test('a log that never answers is answered 503, and is asked again', async (t) => {
  const { log, port, records, get } = await build(t, { readTimeoutMs: 20 })
  const { head, read } = log
  const never = () => new Promise<never>(() => undefined)
  log.head = never
  const refused = await get('/events')
  t.same([refused.status, refused.headers['retry-after']], [503, '5'])
  const message = /log\.head\(\) did not answer within 20 ms$/
  t.match(records().find(({ level }) => level === 40)?.err?.message, message)
  Object.assign(log, { head, read: never })
  log.add()
  const client = follow(t, port, '/events?after=0.0.0')
  await until(() => records().some(({ err }) => /log\.read\(\) did not/.test(err?.message ?? '')))
  log.read = read
  await until(() => client.events().length === 1)
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

t.test('ends a stream that starts while the server closes', async (t) => {
  const { port, server, log } = await build(t)
  const { head } = log
  let answer = () => {}
  const answered = new Promise<void>((resolve) => {
    answer = resolve
  })
  log.head = async () => {
    log.polls++
    await answered
    return head.call(log)
  }
  const client = follow(t, port)
  await until(() => log.polls === 1)
  const closed = server.close()
  await until(() => !server.server.listening)
  answer()
  await until(() => client.hasEnded())
  await closed
  t.same(client.received, [{ id: '0.0.0' }], 'with an id to resume from')
})

t.test('a log that gives no position is answered 500, and ends streams', async (t) => {
  const { log, server, port, records } = await build(t)
  const { head } = log
  const client = follow(t, port, '/events', { connection: 'close' })
  await until(() => client.received.length === 1)
  log.head = async () => undefined as never
  await until(() => client.hasEnded())
  for (const url of ['/events', '/events?after=9.0.0'])
    t.match(await server.inject(url), { statusCode: 500, body: '{"error":"Something went wrong"}' })
  const message = 'log.head() must resolve to an EventPosition: Expected object'
  t.ok(records().some(({ err }) => err?.message === message))
  log.head = head
  follow(t, port)
  await until(() => records().at(-1)?.msg === 'The event log can be read again')
})

t.test(
  'a log that gives no events ends the stream, and is told in the log by method and field',
  async (t) => {
    const { log, port, records } = await build(t)
    const { read } = log
    log.add()
    const { events, position } = await read.call(log, {
      after: { accepted: 0n, rejected: 0n, block: 0n, verdict: 0n },
      to: await log.head(),
      filter: {},
      limit: 1,
    })
    const [one] = events
    for (const [page, message] of [
      [undefined, 'an EventPage: Expected object'],
      [{ events, position: null }, 'an EventPage: position: Expected object'],
      [{ events: [{ ...one, at: 5 }], position }, 'an EventPage: events.0.at: Expected Date'],
      [
        { events: [{ ...one, type: 'no' }], position },
        /^log\.read\(\) must resolve to an EventPage: events\.0\.type: /,
      ],
      [
        { events: [{ ...one, transactionId: 'ab' }], position },
        'an AcceptedEvent: transactionId: Expected Uint8Array',
      ],
      [{ events: Array(1001).fill(one), position }, 'at most 1000 entries'],
    ] as const) {
      log.read = async () => page as never
      log.add()
      const client = follow(t, port, '/events?after=0.0.0', { connection: 'close' })
      await until(() => client.hasEnded())
      const expected = typeof message === 'string' ? `log.read() must resolve to ${message}` : message
      t.match(records().findLast(({ level }) => level === 40)?.err?.message, expected)
      log.read = read
      const other = follow(t, port, '/events?after=0.0.0')
      await until(() => other.events().length === log.events.length)
      other.socket.destroy()
    }
  },
)

t.test('a log that cannot be read is told once, until it can be read again', async (t) => {
  const { log, port, records } = await build(t)
  const { read } = log
  const client = follow(t, port)
  await until(() => client.received.length === 1)
  let reads = 0
  log.read = async () => {
    reads++
    throw new TypeError('of the log')
  }
  log.add()
  await until(() => reads > 3)
  const told = () => records().map(({ msg }) => msg)
  const failed = 'The event log cannot be read; trying again'
  t.same(
    told().filter((msg) => msg.startsWith('The event log')),
    [failed],
  )
  log.read = read
  await until(() => client.events().length === 1)
  t.same(
    told().filter((msg) => msg.startsWith('The event log')),
    [failed, 'The event log can be read again'],
  )
  t.notOk(client.hasEnded())
})
