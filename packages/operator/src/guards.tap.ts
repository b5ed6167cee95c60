import t from 'tap'
import { ask } from './test/ask.js'
import { build, logs, operations, paths } from './test/build.js'

t.test('HEAD and other methods on an operation are an unknown path, byte for byte', async (t) => {
  const { node, url } = await build(t)
  for (const method of ['HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
    const unknown = await ask(`${url}/nothing`, { method })
    t.equal(unknown.status, 404)
    t.equal(unknown.body, method === 'HEAD' ? '' : '{"error":"Not Found","code":"DISABLED"}')
    for (const operation of operations)
      t.same(await ask(`${url}/${operation}`, { method }), unknown, operation)
  }
  t.same(node.asked, [], 'nothing is run')
})

t.test('HEAD follows GET on what only writes to the log', async (t) => {
  const { get, head } = await build(t)
  for (const path of logs) t.same(await head(path), { ...(await get(path)), body: '' }, path)
})

t.test('an operation is refused where a browser says that a page of another site asks', async (t) => {
  const { node, get } = await build(t)
  for (const operation of operations) {
    const answer = await get(`/${operation}`, { 'sec-fetch-site': 'cross-site' })
    t.equal(answer.status, 403, operation)
    t.equal(answer.body, '{"error":"Cross-site requests are refused"}')
    t.equal(answer.headers['cache-control'], 'no-store')
  }
  t.same(node.asked, [], 'nothing is run')
  for (const site of ['same-origin', 'same-site', 'none']) {
    for (const operation of operations) {
      t.equal((await get(`/${operation}`, { 'sec-fetch-site': site })).status, 200, `${operation}: ${site}`)
    }
  }
})

t.test('with a token, every route asks for it', async (t) => {
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
  t.same(node.asked, [], 'nothing is run')
  for (const path of paths) {
    t.equal((await get(path, { authorization: 'Bearer secret' })).status, 200, path)
  }
  t.equal(
    (await get('/reset', { authorization: 'Bearer secret', 'sec-fetch-site': 'cross-site' })).status,
    403,
    'the token does not make another site ours',
  )
})

t.test('without a token nobody is asked', async (t) => {
  const { get } = await build(t)
  for (const path of paths) {
    t.equal((await get(path)).status, 200, path)
    t.equal((await get(path, { authorization: 'Bearer whatever' })).status, 200, path)
  }
})
