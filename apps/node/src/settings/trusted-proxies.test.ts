import { httpErrors } from '@ratatosk/http'
import { ask, listening, recordedLog } from '@ratatosk/test-kit/http'
import { pino } from 'pino'
import { expect, onTestFinished, test } from 'vitest'
import { createServer, identifyRequests } from '../server/create-server.js'
import { limitLoad } from '../server/serve.js'
import { readSettings } from './read.js'

/** A server with RATE_LIMIT=2 that reports whom it sees. */
async function serverBehind(TRUST_PROXY: string) {
  const log = recordedLog()
  const settings = readSettings({ TRUST_PROXY, RATE_LIMIT: '2', MAX_EVENT_LOOP_DELAY_MS: '0' })
  const server = createServer(settings, pino({ level: 'warn' }, log.stream))
  onTestFinished(() => server.close())
  await server.register(httpErrors)
  await limitLoad(server, settings)
  identifyRequests(server, settings)
  server.get('/ip', async ({ ip, host }) => ({ ip, host }))
  const { url } = await listening(server)
  const get = (headers: Record<string, string> = {}) => ask(`${url}/ip`, { headers })
  const forwarded = (addresses: string) => get({ 'x-forwarded-for': addresses })
  return {
    get,
    forwarded,
    ipOf: async (addresses: string) => JSON.parse((await forwarded(addresses)).body).ip,
    /** Statuses of requests that send these in turn. */
    statuses: async (addresses: readonly string[]) => {
      const found: number[] = []
      for (const each of addresses) found.push((await forwarded(each)).status)
      return found
    },
    warnings: () => log.records().map(({ msg, entries, expected }) => ({ msg, entries, expected })),
  }
}

const four = Array.from({ length: 4 }, (_, n) => n)
const limited = [200, 200, 429, 429]

test('a client behind a proxy that appends to its header counts as one', async () => {
  for (const setting of ['true', '1', '127.0.0.0/8, ::1']) {
    const { statuses, ipOf } = await serverBehind(setting)
    expect(await ipOf('10.1.1.1, 203.0.113.8'), setting).toBe('203.0.113.8')
    expect(await statuses(four.map((n) => `10.0.0.${n}, 203.0.113.7`)), setting).toEqual(limited)
    expect(await statuses(four.map((n) => `nonsense${n}, 203.0.113.9`)), setting).toEqual(limited)
  }
})

test('several proxies are as many hops, or known by their addresses', async () => {
  for (const setting of ['2', '127.0.0.1,198.51.100.0/24']) {
    const { statuses, ipOf } = await serverBehind(setting)
    expect(await ipOf('10.1.1.1, 203.0.113.8, 198.51.100.1'), setting).toBe('203.0.113.8')
    expect(await statuses(four.map((n) => `10.0.0.${n}, 203.0.113.7, 198.51.100.1`)), setting).toEqual(
      limited,
    )
  }
})

test('IPv6 clients are networks of 64 bits', async () => {
  const { statuses } = await serverBehind('1')
  expect(await statuses(four.map((n) => `2001:db8:1:2::${n}`))).toEqual(limited)
  expect(await statuses(four.map((n) => `2001:db8:1:${n + 3}::1`))).toEqual([200, 200, 200, 200])
})

test('an entry that is no address is no key of a limit', async () => {
  const { statuses, ipOf } = await serverBehind('1')
  expect(await ipOf('nonsense')).toBe('127.0.0.1')
  // The request above counts.
  expect(await statuses(four.map((n) => `nonsense${n}`))).toEqual([200, 429, 429, 429])
})

test('the port of an entry is no part of its address', async () => {
  for (const setting of ['2', '127.0.0.1,198.51.100.0/24']) {
    const { statuses, ipOf } = await serverBehind(setting)
    expect(await ipOf('203.0.113.8:4711, 198.51.100.1:443'), setting).toBe('203.0.113.8')
    expect(await statuses(four.map((n) => `203.0.113.7:${n + 4711}, 198.51.100.1`)), setting).toEqual(limited)
  }
  const { statuses, ipOf } = await serverBehind('1')
  expect(await ipOf('[2001:db8::1]:4711')).toBe('2001:db8::1')
  const others = ['[203.0.113.7]:1', '2001:db8::1]:1', '[2001:db8::1', '203.0.113.7:123456', '203.0.113.7:']
  expect(await statuses(others)).toEqual([200, 200, 429, 429, 429])
})

test('a peer that is no proxy names neither addresses nor ids', async () => {
  for (const setting of ['false', '0', '192.0.2.0/24,2001:db8::1']) {
    const { get, statuses } = await serverBehind(setting)
    const { headers, body } = await get({ 'x-request-id': 'given', 'x-forwarded-host': 'evil.example' })
    expect(headers['x-request-id'], setting).not.toBe('given')
    expect(body, setting).not.toMatch('evil')
    expect(await statuses(four.map((n) => `10.0.0.${n}`)), setting).toEqual([200, 429, 429, 429])
  }
  const { get } = await serverBehind('127.0.0.1')
  expect((await get({ 'x-request-id': 'given' })).headers['x-request-id']).toBe('given')
})

test('more addresses than there are proxies are warned of once', async () => {
  const { statuses, warnings } = await serverBehind('true')
  await statuses(['10.0.0.1', '10.0.0.1'])
  expect(warnings()).toEqual([])
  await statuses(['10.0.0.2, 10.0.0.3', '10.0.0.2, 10.0.0.3, 10.0.0.4'])
  expect(warnings()).toEqual([
    {
      msg: expect.stringMatching(/^X-Forwarded-For has more addresses than TRUST_PROXY says/),
      entries: 2,
      expected: 1,
    },
  ])
})

test('TRUST_PROXY that is neither is refused', () => {
  for (const value of [
    'yes',
    '10',
    '10.0.0.0/33',
    '10.0.0.0/x',
    '10.0.0.256',
    '1,2',
    '10.0.0.0/8/8',
    'fe80::1%a',
    '::1/129',
  ])
    expect(() => readSettings({ TRUST_PROXY: value }), value).toThrow(/TRUST_PROXY/)
  for (const value of ['10.0.0.0/8', '10.0.0.1 , ::1,fd00::/8', '3'])
    expect(readSettings({ TRUST_PROXY: value }).TRUST_PROXY).toBe(value)
})
