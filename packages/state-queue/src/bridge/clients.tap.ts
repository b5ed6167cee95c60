import { httpErrorOptions, httpErrors } from '@ratatosk/http'
import { recordedLog } from '@ratatosk/test-kit/http'
import fastify from 'fastify'
import t from 'tap'
import bridge from './index.js'
import type { DraftOutcome } from './ports.js'
import { Ports } from './test/build.js'

const deposit = { kind: 'deposit', utxos: ['82aa'], changeAddress: 'a', to: 'b', lovelace: '1' }

t.test('one client with many drafts leaves turns to the others', async (t) => {
  const { ports } = new Ports()
  let end: () => void = () => undefined
  const ended = new Promise<void>((resolve) => {
    end = resolve
  })
  let drafting = 0
  const drafted = async (): Promise<DraftOutcome> => {
    drafting++
    await ended
    return { kind: 'not owed', reason: 'Nothing is owed' }
  }
  const { stream, records } = recordedLog()
  const logger = { level: 'debug', stream }
  const server = fastify({ ...httpErrorOptions, trustProxy: true, logger })
  t.teardown(() => server.close())
  await server.register(httpErrors)
  await server.register(bridge, { ports: { ...ports, drafter: { deposit: drafted, payout: drafted } } })
  const ask = (client: string) =>
    server.inject({
      method: 'POST',
      url: '/bridge/draft',
      headers: { 'x-forwarded-for': client },
      payload: deposit,
    })

  const flood = Array.from({ length: 60 }, () => ask('192.0.2.1'))
  const refused = await Promise.race(flood)
  t.equal(refused.statusCode, 503)
  t.equal(refused.headers['retry-after'], '1')
  t.same(refused.json(), { error: 'Too many requests of this client to the bridge wait: retry later' })
  const others = ['192.0.2.2', '192.0.2.3'].map(ask)
  while (drafting < 6) await new Promise(setImmediate)
  end()
  const statuses = async (answers: typeof flood) =>
    (await Promise.all(answers)).map(({ statusCode }) => statusCode).sort()
  t.same(await statuses(others), [409, 409], 'they have been drafted for')
  t.same(await statuses(flood), [...Array(4).fill(409), ...Array(56).fill(503)])
  t.equal((await ask('192.0.2.1')).statusCode, 409, 'those that have ended do not count')
  t.same(
    records().filter(({ level }) => Number(level) >= 40),
    [],
    'a flood of requests is no flood of log lines',
  )
})

t.test('one client with many lists leaves turns to the others', async (t) => {
  const { ports } = new Ports()
  let end: () => void = () => undefined
  const ended = new Promise<void>((resolve) => {
    end = resolve
  })
  const list = async () => {
    await ended
    return { withdrawals: [], hasMore: false }
  }
  const server = fastify({ ...httpErrorOptions, trustProxy: true })
  t.teardown(() => server.close())
  await server.register(httpErrors)
  await server.register(bridge, { ports: { ...ports, withdrawals: { list } } })
  const ask = (client: string) =>
    server.inject({ url: '/withdrawals', headers: { 'x-forwarded-for': client } })
  const flood = Array.from({ length: 5 }, () => ask('192.0.2.1'))
  t.equal((await Promise.race(flood)).statusCode, 503)
  const other = ask('192.0.2.2')
  end()
  t.equal((await other).statusCode, 200)
  const statuses = (await Promise.all(flood)).map(({ statusCode }) => statusCode).sort()
  t.same(statuses, [200, 200, 200, 200, 503])
})
