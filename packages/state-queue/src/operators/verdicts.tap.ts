import t from 'tap'
import { build, hex28, verdict } from './test/build.js'

const parsed = ({ body }: { readonly body: string }) => JSON.parse(body)

t.test('GET /verdicts answers what was found, with the transactions of a removal', async (t) => {
  const { ports, get } = await build(t)
  const sentAt = new Date('2026-03-04T05:06:08.000Z')
  ports.found = [
    verdict(1, { reason: 'The "body"\n is not canonical' }),
    verdict(2, {
      state: 'removed',
      position: 0,
      policy: 'witness',
      fraud: 'missingSignature',
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
