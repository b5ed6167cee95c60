import t from 'tap'
import { build, hash28, hex28, verdict } from './test/build.js'

const start = 1_767_225_600_000n

t.test('GET /operators answers the operators in the order of their turns', async (t) => {
  const { ports, get } = await build(t)
  ports.view = {
    operators: [
      { operatorKey: hash28(0xab), bond: 10_000_000_000n, activeFrom: start },
      {
        operatorKey: hash28(0),
        bond: 45_000_000_000_000_000n,
        activeFrom: 0n,
        activeUntil: start + 60_000n,
        releaseAt: start + 3_660_000n,
      },
    ],
    inTurn: hash28(0),
    next: hash28(0xab),
    turnEndsAt: start + 60_000n,
    takeOverAt: start + 15_000n,
    turnLength: 60_000n,
    maxOperators: 100,
    permissioned: true,
  }
  const answer = await get('/operators')
  t.equal(answer.status, 200)
  t.equal(answer.headers['content-type'], 'application/json; charset=utf-8')
  t.same(JSON.parse(answer.body), {
    inTurn: hex28(0),
    next: hex28(0xab),
    turnEndsAt: '2026-01-01T00:01:00.000Z',
    takeOverAt: '2026-01-01T00:00:15.000Z',
    turnLength: 60_000,
    operators: [
      { operatorKey: hex28(0xab), bond: '10000000000', activeFrom: '2026-01-01T00:00:00.000Z' },
      {
        operatorKey: hex28(0),
        bond: '45000000000000000',
        activeFrom: '1970-01-01T00:00:00.000Z',
        activeUntil: '2026-01-01T00:01:00.000Z',
        releaseAt: '2026-01-01T01:01:00.000Z',
      },
    ],
    maxOperators: 100,
    permissioned: true,
  })
})

t.test('GET /operators answers before the registry is initialised', async (t) => {
  const { ports, get } = await build(t)
  ports.view = { ...ports.view, turnEndsAt: start }
  t.same(JSON.parse((await get('/operators')).body), {
    turnEndsAt: '2026-01-01T00:00:00.000Z',
    turnLength: 60_000,
    operators: [],
    maxOperators: 100,
    permissioned: true,
  })
})

t.test('GET /operators answers times that no calendar has with the nearest that it has', async (t) => {
  const { ports, get } = await build(t)
  const entry = { operatorKey: hash28(1), bond: 0n }
  ports.view = {
    ...ports.view,
    operators: [
      { ...entry, activeFrom: -1n, activeUntil: 2n ** 80n },
      { ...entry, activeFrom: -(10n ** 40n), activeUntil: 10n ** 40n },
    ],
  }
  const { operators } = JSON.parse((await get('/operators')).body)
  for (const { activeFrom, activeUntil } of operators)
    t.same([activeFrom, activeUntil], ['1970-01-01T00:00:00.000Z', '9999-12-31T23:59:59.999Z'])
})

t.test('GET /operators reads its port for each request', async (t) => {
  const { ports, get } = await build(t)
  for (const byte of [1, 2]) {
    ports.view = { ...ports.view, inTurn: hash28(byte) }
    t.equal(JSON.parse((await get('/operators')).body).inTurn, hex28(byte))
  }
  t.same(ports.asked, ['registry', 'registry'])
})

const parsed = ({ body }: { readonly body: string }) => JSON.parse(body)

t.test('GET /verdicts answers what was found, with the transactions of a removal', async (t) => {
  const { ports, get } = await build(t)
  const sentAt = new Date('2026-03-04T05:06:08.000Z')
  ports.found = [
    verdict(1, { reason: 'The "body"\n is not canonical' }),
    verdict(2, {
      state: 'removed',
      position: 0,
      proof: { policy: 'witness', fraud: 'missingSignature' },
      transactions: [
        { id: new Uint8Array(32).fill(1), stage: 'verdict', fee: 1_234_567n, sentAt },
        { id: new Uint8Array(32).fill(2), stage: 'removal', fee: 2n ** 64n, sentAt },
      ],
      removedAt: new Date('2026-03-04T05:07:00.000Z'),
    }),
  ]
  const answer = await get('/verdicts')
  t.equal(answer.status, 200)
  t.same(JSON.parse(answer.body), {
    verdicts: [
      {
        headerHash: hex28(2),
        height: 2,
        operatorKey: hex28(0xee),
        state: 'removed',
        reason: 'A signature is missing',
        position: 0,
        policy: 'witness',
        fraud: 'missingSignature',
        transactions: [
          {
            txHash: '01'.repeat(32),
            stage: 'verdict',
            fee: '1234567',
            sentAt: '2026-03-04T05:06:08.000Z',
          },
          {
            txHash: '02'.repeat(32),
            stage: 'removal',
            fee: '18446744073709551616',
            sentAt: '2026-03-04T05:06:08.000Z',
          },
        ],
        foundAt: '2026-03-04T05:06:07.891Z',
        removedAt: '2026-03-04T05:07:00.000Z',
      },
      {
        headerHash: hex28(1),
        height: 1,
        operatorKey: hex28(0xee),
        state: 'invalid',
        reason: 'The "body"\n is not canonical',
        transactions: [],
        foundAt: '2026-03-04T05:06:07.891Z',
      },
    ],
    hasMore: false,
  })
})

t.test('GET /verdicts answers page by page, newest first', async (t) => {
  const { ports, get } = await build(t)
  ports.found = [1, 2, 3, 4, 5].map((byte) => verdict(byte))
  const seen: string[] = []
  for (let before = ''; ; before = `&before=${seen.at(-1)}`) {
    const { verdicts, hasMore } = parsed(await get(`/verdicts?limit=2${before}`))
    seen.push(...verdicts.map(({ headerHash }: { headerHash: string }) => headerHash))
    if (!hasMore) break
  }
  t.same(seen, [5, 4, 3, 2, 1].map(hex28))
})

t.test('GET /verdicts answers those in one state', async (t) => {
  const { ports, get } = await build(t)
  const states = ['unavailable', 'valid', 'invalid', 'unprovable', 'removing', 'removed'] as const
  ports.found = states.map((state, place) => verdict(place, { state }))
  for (const [place, state] of states.entries())
    t.match(parsed(await get(`/verdicts?state=${state}`)), {
      verdicts: [{ headerHash: hex28(place), state }],
      hasMore: false,
    })
})

t.test('GET /verdicts refuses bad parameters, naming them', async (t) => {
  const { ports, get } = await build(t)
  for (const [query, error] of [
    ['state=', 'Invalid state: . Send one of unavailable, valid, invalid, unprovable, removing, removed'],
    ['state=Removed', /^Invalid state: Removed\. /],
    ['state=toString', /^Invalid state: toString\. /],
    ['state=invalid&state=removed', /^Invalid state: invalid,removed\. /],
    ['limit=501', 'Invalid limit: 501. Send a whole number from 1 to 500'],
    ['limit=-1', /^Invalid limit: -1\. /],
    ['before=x', 'Invalid before: x. Send a header hash of 56 hex digits'],
    [`before=${'ab'.repeat(32)}`, /^Invalid before: /],
  ] as const) {
    const answer = await get(`/verdicts?${query}`)
    t.equal(answer.status, 400, query)
    t.match(parsed(answer), { error })
  }
  t.same(ports.asked, [], 'nothing is read')
})
