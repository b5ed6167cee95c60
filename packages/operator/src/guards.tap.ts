import { ask, browserAttacks } from '@ratatosk/test-kit/http'
import t from 'tap'
import { build, logs, paths, requests } from './test/build.js'

t.test('answers HEAD and other methods on an operation like an unknown path, byte for byte', async (t) => {
  const { node, url } = await build(t)
  for (const method of ['HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
    const unknown = await ask(`${url}/nothing`, { method })
    t.equal(unknown.status, 404)
    t.equal(unknown.body, method === 'HEAD' ? '' : '{"error":"Not Found","code":"DISABLED"}')
    for (const request of requests) t.same(await ask(`${url}${request}`, { method }), unknown, request)
  }
  t.same(node.asked, [], 'nothing runs')
})

t.test('serves HEAD like GET where a route only writes to the log', async (t) => {
  const { get, head } = await build(t)
  for (const path of logs) t.same(await head(path), { ...(await get(path)), body: '' }, path)
})

t.test('keeps hostile web pages from every route, with and without a token', async (t) => {
  for (const options of [{}, { operatorToken: 'secret' }, { allowedHosts: ['node.example'] }]) {
    const { node, url, port } = await build(t, options)
    for (const { name, path = (route: string) => route, headers, ...question } of browserAttacks(port)) {
      for (const route of paths) {
        const answer = await ask(url + path(route), {
          ...question,
          headers: { ...headers, authorization: 'Bearer secret' },
        })
        t.equal(answer.status, question.method ? 404 : 403, `${name}: ${route}`)
        if (answer.status === 403) t.equal(answer.headers['cache-control'], 'no-store')
      }
    }
    t.same(node.asked, [], 'nothing runs')
  }
})

t.test('serves an own page, the address bar and allowed hosts', async (t) => {
  const { get, port } = await build(t, { allowedHosts: ['node.example'] })
  for (const headers of [
    { 'sec-fetch-site': 'same-origin', origin: `http://127.0.0.1:${port}` },
    { 'sec-fetch-site': 'none', 'user-agent': 'Mozilla/5.0' },
    { host: 'node.example', origin: 'https://node.example' },
  ] as Record<string, string>[]) {
    for (const path of paths) t.equal((await get(path, headers)).status, 200, path)
  }
})

t.test('asks for the token on every route', async (t) => {
  const { node, get } = await build(t, { operatorToken: 'secret' })
  for (const path of paths) {
    for (const authorization of ['', 'Bearer', 'Bearer wrong', 'Bearer secret2', 'Basic secret', 'secret']) {
      const answer = await get(path, authorization ? { authorization } : {})
      t.equal(answer.status, 401, `${path}: ${authorization}`)
      t.equal(answer.body, '{"error":"Unauthorized"}')
      t.equal(answer.headers['www-authenticate'], 'Bearer')
      t.equal(answer.headers['content-type'], 'application/json; charset=utf-8')
      t.equal(answer.headers['cache-control'], 'no-store')
    }
  }
  t.same(node.asked, [], 'nothing runs')
  for (const path of paths) {
    t.equal((await get(path, { authorization: 'Bearer secret' })).status, 200, path)
  }
})

t.test('is unauthenticated without a token', async (t) => {
  const { get } = await build(t)
  for (const path of paths) {
    t.equal((await get(path)).status, 200, path)
    t.equal((await get(path, { authorization: 'Bearer whatever' })).status, 200, path)
  }
})
