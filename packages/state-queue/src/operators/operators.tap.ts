import t from 'tap'
import { build, hash28, hex28 } from './test/build.js'

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
