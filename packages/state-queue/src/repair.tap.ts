import { ask, browserAttacks } from '@ratatosk/test-kit/http'
import t from 'tap'
import { build, reads } from './test/build.js'

const path = '/stateQueue/repair-root-units'
const done = '{"message":"State-queue root-unit repair completed successfully!"}'

t.test('runs one repair per request', async (t) => {
  const { chain, get } = await build(t)
  t.equal((await get(path)).body, done)
  t.same(chain.asked, ['repair'])
})

t.test('logs the result of another operation as a defect', async (t) => {
  const { chain, get, log } = await build(t)
  chain.result = { kind: 'nothing-to-merge' }
  t.equal((await get(path)).status, 500)
  t.match(log().at(-1), {
    level: 50,
    err: { message: 'Operation repair ended with the result of another operation: nothing-to-merge' },
  })
})

t.test('answers HEAD and other methods on the repair like an unknown path, byte for byte', async (t) => {
  const { chain, url, head } = await build(t)
  const unknown = await head('/nothing')
  t.equal(unknown.status, 404)
  t.same(await head(path), unknown)
  for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS']) {
    const answer = await ask(url + path, { method })
    t.same(answer, await ask(`${url}/nothing`, { method }), method)
    t.equal(answer.body, '{"error":"Not Found","code":"DISABLED"}')
  }
  t.same(chain.asked, [], 'nothing is burned')
})

t.test('keeps hostile web pages from the repair, with and without a token', async (t) => {
  for (const options of [{}, { operatorToken: 'secret' }, { allowedHosts: ['node.example'] }]) {
    const { chain, url, port } = await build(t, options)
    for (const { name, path: at = (route: string) => route, headers, ...question } of browserAttacks(port)) {
      const answer = await ask(url + at(path), {
        ...question,
        headers: { ...headers, authorization: 'Bearer secret' },
      })
      t.equal(answer.status, question.method ? 404 : 403, name)
    }
    t.same(chain.asked, [], 'nothing is burned')
  }
})

t.test('serves the repair to an own page, the address bar and allowed hosts', async (t) => {
  const { get, port } = await build(t, { allowedHosts: ['node.example'] })
  for (const headers of [
    { 'sec-fetch-site': 'same-origin', origin: `http://127.0.0.1:${port}` },
    { 'sec-fetch-site': 'none', 'user-agent': 'Mozilla/5.0' },
    { host: 'node.example', origin: 'https://node.example' },
  ] as Record<string, string>[]) {
    t.equal((await get(path, headers)).status, 200, JSON.stringify(headers))
  }
})

t.test('serves the reads to any page and under any host name', async (t) => {
  const { get } = await build(t)
  for (const read of reads) {
    t.equal((await get(read, { 'sec-fetch-site': 'cross-site', host: 'any.example' })).status, 200, read)
  }
})

t.test('asks for the token on the repair and not on the reads', async (t) => {
  const { chain, get } = await build(t, { operatorToken: 'secret' })
  for (const authorization of ['', 'Bearer', 'Bearer wrong', 'Bearer secret2', 'Basic secret', 'secret']) {
    const answer = await get(path, authorization ? { authorization } : {})
    t.equal(answer.status, 401, authorization)
    t.equal(answer.body, '{"error":"Unauthorized"}')
    t.equal(answer.headers['www-authenticate'], 'Bearer')
    t.equal(answer.headers['cache-control'], 'no-store')
  }
  t.same(chain.asked, [])
  t.equal((await get(path, { authorization: 'Bearer secret' })).body, done)
  for (const read of reads) t.equal((await get(read)).status, 200, read)
})

t.test('is unauthenticated without a token', async (t) => {
  const { get } = await build(t)
  t.equal((await get(path, { authorization: 'Bearer whatever' })).status, 200)
})
