import swagger from '@fastify/swagger'
import { toHex } from '@ratatosk/cbor'
import { httpErrorOptions } from '@ratatosk/http'
import { until } from '@ratatosk/test-kit/http'
import fastify from 'fastify'
import t from 'tap'
import events, { type EventsOptions } from './index.js'
import { at, build, follow, MemoryLog, numbers, upTo } from './test/follow.js'

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

t.test('tells the position at the end of what has happened, if a filter leaves out its events', async (t) => {
  const { log, port } = await build(t, { heartbeatMs: 60_000 })
  log.add(3)
  const { read } = log
  log.read = async (range) => {
    const page = await read.call(log, range)
    const isRejected = range.filter.types?.includes('rejected') === true
    return isRejected ? { ...page, events: [], position: range.to } : page
  }
  const none = follow(t, port, '/events?after=0.0.0&type=rejected')
  const all = follow(t, port, '/events?after=0.0.0')
  await until(() => none.received.length === 2 && all.events().length === 3)
  t.same(none.received, [{ id: '0.0.0' }, { comment: true, id: '3.0.0' }])
  log.add()
  await until(() => all.events().length === 4)
  t.equal(none.received.length, 2, 'later positions come with heartbeats')
  t.equal(all.received.length, 5, 'the last event has the position')
})

t.test('starts at the newest position after an id that is later, of a log that is gone', async (t) => {
  const { log, port } = await build(t)
  log.add(3)
  const client = follow(t, port, '/events?after=9.0.2')
  await until(() => client.received.length === 1)
  t.same(client.received, [{ id: '3.0.0' }])
  log.add(1)
  await until(() => client.events().length === 1)
  t.same(numbers(client.events()), [4])
})

t.test('renders each kind of event', async (t) => {
  const { log, port } = await build(t, { maturityWindowMs: 1000 })
  const position = { accepted: 0n, rejected: 1n, block: 0n, verdict: 0n }
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

t.test('sends verdicts, whose number is the fourth of an id', async (t) => {
  const { log, port, get } = await build(t)
  const position = { accepted: 2n, rejected: 1n, block: 1n, verdict: 5n }
  log.events = [
    {
      type: 'verdict',
      position,
      block: {
        headerHash: new Uint8Array(28).fill(1),
        height: 7n,
        operatorKey: new Uint8Array(28).fill(2),
      },
      state: 'removing',
      reason: 'x'.repeat(301),
      proof: { policy: 'witness', fraud: 'missingSignature' },
      at,
    },
  ]
  const client = follow(t, port, '/events?after=0.0.0&type=verdict')
  await until(() => client.events().length === 1)
  const [verdict] = client.events()
  t.equal(verdict?.id, '2.1.1.5')
  t.equal(verdict?.event, 'verdict')
  t.same(JSON.parse(verdict?.data ?? ''), {
    state: 'removing',
    height: 7,
    headerHash: '01'.repeat(28),
    operatorKey: '02'.repeat(28),
    reason: `${'x'.repeat(300)}…`,
    policy: 'witness',
    fraud: 'missingSignature',
    at: at.toISOString(),
  })
  follow(t, port, '/events', { 'last-event-id': '2.1.1.5' })
  log.add(2)
  await until(() => log.ranges.at(-1)?.after.verdict === 5n)
  t.same(log.ranges.at(-1)?.after, position)
  t.equal((await get('/events?after=1.1.1.1.1')).status, 400)
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
    ['type=', /^Invalid type: \. Send any of accepted, rejected, block, verdict, /],
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
  t.equal(Object.keys(operation?.responses ?? {}).join(' '), '200 400 408 429 431 500 503')
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
