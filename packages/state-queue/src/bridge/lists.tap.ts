import t from 'tap'
import { build, bytes, deposit, hex, withdrawal } from './test/build.js'

const parsed = ({ body }: { readonly body: string }) => JSON.parse(body)

t.test('GET /bridge answers its terms, the treasury and what is owed', async (t) => {
  const { ports, get } = await build(t)
  t.same(parsed(await get('/bridge')), {
    address: 'addr_test1wbridge',
    policies: { bridge: hex(28, 0xb1), events: hex(28, 0xe1) },
    assets: [hex(28, 0xa1)],
    eventWaitMs: 15_000,
    payoutFee: '300000',
    reserveMin: '5000000',
    treasury: { lovelace: '0', assets: [], outputs: 0 },
    settlements: [],
  })
  const unit = `${hex(28, 0xa1)}00ff`
  ports.view = {
    ...ports.view,
    creditedUntil: 1_767_225_600_000n,
    confirmedUntil: 0n,
    treasury: {
      lovelace: 10n ** 16n,
      assets: [{ unit, quantity: 2n ** 63n }],
      outputs: 3,
      owed: 60_000_000n,
      backed: true,
    },
    settlements: [
      { headerHash: bytes(28, 7), outref: `${hex(32, 1)}#2`, remaining: 1, lovelace: 60_000_000n },
      { headerHash: bytes(28, 8), outref: `${hex(32, 2)}#0` },
    ],
  }
  t.match(parsed(await get('/bridge')), {
    creditedUntil: '2026-01-01T00:00:00.000Z',
    confirmedUntil: '1970-01-01T00:00:00.000Z',
    treasury: {
      lovelace: '10000000000000000',
      assets: [{ unit, quantity: '9223372036854775808' }],
      outputs: 3,
      owed: '60000000',
      backed: true,
    },
    settlements: [
      { headerHash: hex(28, 7), outref: `${hex(32, 1)}#2`, remaining: 1, lovelace: '60000000' },
      { headerHash: hex(28, 8), outref: `${hex(32, 2)}#0` },
    ],
  })
})

t.test('GET /deposits answers a page', async (t) => {
  const { ports, get } = await build(t)
  const { layer1Outref: _output, time: _time, ...used } = deposit(3)
  ports.deposits = [
    deposit(1),
    deposit(2, { state: 'committed', headerHash: bytes(28, 9), height: 12n }),
    { ...used, state: 'merged' },
  ]
  t.same(parsed(await get('/deposits')), {
    deposits: [
      {
        id: hex(32, 1),
        layer1Outref: `${hex(32, 0xcc)}#0`,
        outref: `${hex(32, 1)}#0`,
        output: 'a201',
        time: '2026-01-01T00:00:00.000Z',
        state: 'waiting',
      },
      {
        id: hex(32, 2),
        layer1Outref: `${hex(32, 0xcc)}#0`,
        outref: `${hex(32, 2)}#0`,
        output: 'a202',
        time: '2026-01-01T00:00:00.000Z',
        state: 'committed',
        headerHash: hex(28, 9),
        height: 12,
      },
      { id: hex(32, 3), outref: `${hex(32, 3)}#0`, output: 'a203', state: 'merged' },
    ],
    hasMore: false,
  })
  t.match(parsed(await get('/deposits?limit=1&offset=1')), { deposits: [{ height: 12 }], hasMore: true })
  const all = `id=${hex(32, 0xab).toUpperCase()}&outref=${hex(32, 0xcd)}%2365535&address=addr&state=merged`
  await get(`/deposits?${all}&limit=500&offset=10000000`)
  t.same(ports.parts.at(-1), {
    id: Buffer.from(bytes(32, 0xab)),
    outref: `${hex(32, 0xcd)}#65535`,
    address: 'addr',
    state: 'merged',
    limit: 500,
    offset: 10_000_000,
  })
})

t.test('GET /withdrawals answers a page', async (t) => {
  const { ports, get } = await build(t)
  const { payTo: _nobody, ...malformed } = withdrawal(3)
  const paid = { state: 'paid', headerHash: bytes(28, 9), payoutTxHash: bytes(32, 8) } as const
  ports.withdrawals = [withdrawal(1), withdrawal(2, paid), malformed]
  const first = { outref: `${hex(32, 1)}#1`, output: 'a301', payTo: 'addr_test1vsomebody' }
  const kind = 'transaction'
  t.same(parsed(await get('/withdrawals')), {
    withdrawals: [
      { ...first, kind, state: 'accepted' },
      {
        ...first,
        outref: `${hex(32, 2)}#1`,
        output: 'a302',
        kind,
        state: 'paid',
        headerHash: hex(28, 9),
        payoutTxHash: hex(32, 8),
      },
      { outref: `${hex(32, 3)}#1`, output: 'a303', kind, state: 'accepted' },
    ],
    hasMore: false,
  })
  await get(`/withdrawals?outref=${hex(32, 1)}%230&address=addr&header_hash=${hex(28, 9)}&state=owed`)
  t.match(ports.parts.at(-1), { outref: `${hex(32, 1)}#0`, address: 'addr', state: 'owed', limit: 100 })
  ports.withdrawalsAreBusy = true
  const busy = await get('/withdrawals')
  t.equal(busy.status, 503)
  t.equal(busy.headers['retry-after'], '1')
})

t.test('lists refuse bad parameters, unknown ones and doubles, naming them', async (t) => {
  const { ports, get } = await build(t)
  const outrefRule = 'Send <64 hex digits>#<index>, with # as %23 in a query'
  for (const [target, error] of [
    ['/bridge?verbose=1', 'Invalid parameter: verbose. Send none'],
    ['/deposits?id=', 'Invalid deposit id: . Send 64 hex digits'],
    [`/deposits?id=${hex(28, 1)}`, `Invalid deposit id: ${hex(28, 1)}. Send 64 hex digits`],
    [`/deposits?id=${hex(32, 1)}&id=${hex(32, 2)}`, /^Invalid deposit id: (01)+,(02)+\. /],
    ['/deposits?page=2', 'Invalid parameter: page. Send only id, outref, address, state, limit, offset'],
    [`/deposits?outref=${hex(32, 1)}`, `Invalid outref: ${hex(32, 1)}. ${outrefRule}`],
    [`/deposits?outref=${hex(32, 1)}%2365536`, `Invalid outref: ${hex(32, 1)}#65536. ${outrefRule}`],
    [`/deposits?outref=${hex(32, 1)}%2301`, `Invalid outref: ${hex(32, 1)}#01. ${outrefRule}`],
    ['/deposits?state=paid', 'Invalid state: paid. Send one of waiting, credited, committed, merged'],
    ['/deposits?address=', 'Invalid address: . Send a bech32 address of the network'],
    ['/deposits?address=nobody', 'Invalid address: nobody. Send a bech32 address of the network'],
    [`/deposits?address=${'a'.repeat(3000)}`, /^Invalid address: a{200}…\. /],
    ['/deposits?limit=501', 'Invalid limit: 501. Send a whole number from 1 to 500'],
    ['/deposits?limit=1&limit=2', 'Invalid limit: 1,2. Send a whole number from 1 to 500'],
    ['/deposits?offset=-1', 'Invalid offset: -1. Send a whole number from 0 to 10000000'],
    ['/withdrawals?id=1', /^Invalid parameter: id\. Send only outref, address, header_hash, state/],
    ['/withdrawals?header_hash=00', 'Invalid header_hash: 00. Send a header hash of 56 hex digits'],
    [
      '/withdrawals?state=merged',
      /^Invalid state: merged\. Send one of accepted, committed, mature, owed, paid/,
    ],
    ['/withdrawals?address=nobody', 'Invalid address: nobody. Send a bech32 address of the network'],
  ] as const) {
    const answer = await get(target)
    t.equal(answer.status, 400, target.slice(0, 80))
    t.match(parsed(answer), { error })
  }
  t.same(new Set(ports.asked), new Set(['deposits', 'withdrawals']), 'only addresses are asked about')
  t.equal(ports.asked.length, 2)
})
