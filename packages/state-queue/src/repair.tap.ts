import t from 'tap'
import { ask } from './test/ask.js'
import { build, operations, reads } from './test/build.js'

const path = '/stateQueue/repair-root-units'
const done = '{"message":"State-queue root-unit repair completed successfully!"}'

t.test('repair: 200 once the duplicates are burned', async (t) => {
  const { chain, get } = await build(t)
  const answer = await get(path)
  t.equal(answer.status, 200)
  t.equal(answer.body, done)
  t.equal(answer.headers['cache-control'], 'no-store')
  t.same(chain.asked, ['repair'])
})

t.test('repair: 409 while another operation runs, always in the words of a reset', async (t) => {
  const { chain, get } = await build(t)
  for (const operation of operations) {
    chain.result = { kind: 'busy', operation }
    const answer = await get(path)
    t.equal(answer.status, 409, operation)
    t.equal(answer.body, '{"error":"Reset already in progress"}')
    t.equal(answer.headers['cache-control'], 'no-store')
  }
})

t.test('repair: the other ways not to be done', async (t) => {
  const { chain, get, log } = await build(t)
  chain.result = { kind: 'refused', code: 'not-active', message: 'Another sequencer is active: ask it' }
  t.match(await get(path), { status: 409, body: '{"error":"Another sequencer is active: ask it"}' })

  chain.result = { kind: 'layer1-failed', cause: 'rate limited', code: 'LAYER1_RATE_LIMITED' }
  t.match(await get(path), {
    status: 503,
    body: '{"status":"error","error":"The layer-1 provider failed: rate limited","cause":"rate limited"}',
  })

  chain.result = { kind: 'timed-out', message: 'No sequencer answered within 190 s' }
  t.match(await get(path), {
    status: 504,
    body: '{"error":"No sequencer answered within 190 s. Look at the state queue, then ask again"}',
  })

  chain.result = { kind: 'nothing-to-merge' }
  t.match(await get(path), { status: 500, body: '{"error":"Something went wrong"}' })
  t.match(log().at(-1), { level: 50, err: { message: /repair ended as nothing-to-merge/ } })
})

t.test('repair: HEAD and other methods are an unknown path, byte for byte', async (t) => {
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

t.test('repair: refused where a browser says that a page of another site asks', async (t) => {
  const { chain, get } = await build(t)
  const refused = await get(path, { 'sec-fetch-site': 'cross-site' })
  t.equal(refused.status, 403)
  t.equal(refused.body, '{"error":"Cross-site requests are refused"}')
  t.same(chain.asked, [])
  for (const site of ['same-origin', 'same-site', 'none']) {
    t.equal((await get(path, { 'sec-fetch-site': site })).status, 200, site)
  }
})

t.test('the reads are served to any page', async (t) => {
  const { get } = await build(t)
  for (const read of reads) {
    t.equal((await get(read, { 'sec-fetch-site': 'cross-site' })).status, 200, read)
  }
})

t.test('with a token, repair asks for it and the reads do not', async (t) => {
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

t.test('without a token nobody is asked', async (t) => {
  const { get } = await build(t)
  t.equal((await get(path, { authorization: 'Bearer whatever' })).status, 200)
})
