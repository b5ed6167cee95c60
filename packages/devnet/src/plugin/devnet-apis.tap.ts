import { once } from 'node:events'
import { Agent, request } from 'node:http'
import { text as readText } from 'node:stream/consumers'
import { exchange, listening } from '@ratatosk/test-kit/http'
import fastify from 'fastify'
import { test } from 'tap'
import { createDevnet } from '../create-devnet.js'
import { testWallets } from '../genesis.js'
import { devnetApis } from './devnet-apis.js'

test('the control API makes blocks, rolls back and injects faults', async (t) => {
  const devnet = await createDevnet({ blockEveryMs: 0 })
  const server = fastify()
  t.teardown(() => devnet.close())
  t.teardown(() => server.close())
  await server.register(devnetApis, { devnet, prefix: '/layer-1', paths: { control: '/control' } })
  const post = (path: string, payload?: object) =>
    server.inject({ method: 'POST', url: `/layer-1/control${path}`, ...(payload && { payload }) })

  t.match((await post('/blocks')).json(), { height: 1 })
  t.match((await post('/blocks', { count: 4 })).json(), { height: 5 })
  t.match((await post('/roll-back', { blocks: 2 })).json(), { height: 3 })
  t.match((await server.inject('/layer-1/control')).json(), { tip: { height: 3 }, networkMagic: 42 })
  const tooDeep = await post('/roll-back', { blocks: 4 })
  t.match(tooDeep.json(), { code: 'DEVNET_ROLLBACK_TOO_DEEP' })
  t.equal(tooDeep.statusCode, 409)

  t.equal((await post('/roll-back', { blocks: 1, transaction: 'ab'.repeat(32) })).statusCode, 400)
  const nowhere = await post('/roll-back', { transaction: 'ab'.repeat(32) })
  t.match([nowhere.statusCode, nowhere.json().code], [409, 'DEVNET_NOT_IN_A_BLOCK'])
  const wallets = (await server.inject('/layer-1/control/wallets')).json()
  t.equal(wallets.length, testWallets.wallets.length)
  t.match(wallets[3], { address: testWallets.wallets[3]?.address, lovelace: '50000000000' })

  const outputs = async (address?: string) =>
    (await server.inject({ url: '/layer-1/control/outputs', query: address ? { address } : {} })).json()
  const held = await outputs(testWallets.wallets[3]?.address)
  t.equal(held.length, 5)
  t.match(held[0], /^82825820[0-9a-f]{64}0fa200/)
  t.match(await outputs('addr_test1nonsense'), { error: /^The address is none: / })
  t.match(await outputs(), { error: /address/ })

  t.equal((await post('/faults', { kind: 'failure', target: 'kupo', times: 9 })).statusCode, 204)
  t.equal((await server.inject('/layer-1/kupo/health')).statusCode, 500)
  t.equal((await server.inject({ method: 'DELETE', url: '/layer-1/control/faults' })).statusCode, 204)
  t.equal((await server.inject('/layer-1/kupo/health')).statusCode, 200)
  t.equal((await post('/faults', { kind: 'mischief' })).statusCode, 400)

  t.equal(devnet.tip().height, 3)
})

test('web pages of other origins do not control the devnet', async (t) => {
  const devnet = await createDevnet({ blockEveryMs: 0 })
  const server = fastify()
  t.teardown(() => devnet.close())
  t.teardown(() => server.close())
  await server.register(devnetApis, { devnet, paths: { control: '/devnet' }, allowedHosts: ['devnet.test'] })
  const browser = { 'user-agent': 'Mozilla/5.0' }
  const own = { host: '127.0.0.1:1337', ...browser, 'sec-fetch-site': 'same-origin' }
  const status = async (headers: Record<string, string>) =>
    (await server.inject({ method: 'POST', url: '/devnet/blocks', headers })).statusCode
  for (const [what, headers] of [
    ['another site', { ...own, 'sec-fetch-site': 'cross-site' }],
    ['another port', { ...own, 'sec-fetch-site': 'same-site', origin: 'http://localhost:5173' }],
    ['a name that points here', { ...own, host: 'evil.example:1337' }],
    ['an origin without fetch metadata', { host: own.host, ...browser, origin: 'http://evil.example' }],
    ['a browser that says nothing', { host: own.host, ...browser }],
  ] as const)
    t.equal(await status(headers), 403, what)
  const topUp = { method: 'POST', url: '/local-cluster/api/addresses/topup' } as const
  t.equal((await server.inject({ ...topUp, headers: { ...own, host: 'evil.example' } })).statusCode, 403)
  t.equal(devnet.tip().height, 0)
  for (const headers of [own, { host: '[::1]:1337' }, { host: 'devnet.test' }])
    t.equal(await status(headers), 200, JSON.stringify(headers))
  t.equal(devnet.tip().height, 3)
})

test('a top-up pays an address from the test wallets', async (t) => {
  const devnet = await createDevnet({ blockEveryMs: 0 })
  const server = fastify()
  t.teardown(() => devnet.close())
  t.teardown(() => server.close())
  await server.register(devnetApis, { devnet, paths: { control: '/devnet' } })
  const topUp = (address: string, adaAmount: unknown, headers = {}) =>
    server.inject({
      method: 'POST',
      url: '/local-cluster/api/addresses/topup',
      payload: { address, adaAmount },
      headers,
    })
  const receiver = 'addr_test1vz2fxv2umyhttkxyxp8x0dlpdt3k6cwng5pxj3jhsydzerspjrlsz'
  const lovelace = () =>
    devnet.utxos({ address: receiver }).map(({ output }) => Number(output.value.lovelace) / 1e6)
  const operator = () => devnet.utxos({ address: testWallets.wallets[1]?.address ?? '' }).length

  // More than one output holds, and several at once.
  const answers = await Promise.all([topUp(receiver, 25_000), topUp(receiver, 2.5), topUp(receiver, 10_000)])
  for (const answer of answers) t.match(answer.json(), { status: true, txHash: /^[0-9a-f]{64}$/ })
  await devnet.produceBlock()
  t.same(lovelace().sort(), [10_000, 2.5, 25_000].sort())
  const [paid] = devnet.utxos({ address: receiver })
  const rollBack = (payload: object) => server.inject({ method: 'POST', url: '/devnet/roll-back', payload })
  await devnet.produceBlock()
  await rollBack({ transaction: paid?.transactionHash, resubmit: true })
  t.equal(devnet.tip().height, 0, 'undoes the block that contains the transaction')
  await devnet.produceBlock()
  t.same(lovelace().sort(), [10_000, 2.5, 25_000].sort())
  t.equal(operator(), 5, 'not from the wallets that a node uses')

  for (const [address, ada] of [
    ['addr_test1', 5],
    ['stake_test1uqevw2xnsc0pvn9t9r9c7qryfqfeerchgrlm3ea2nefr9hqp8n5xl', 5],
    ['addr1vx2fxv2umyhttkxyxp8x0dlpdt3k6cwng5pxj3jhsydzers66hrl8', 5],
    [receiver, 0],
    [receiver, 'all'],
  ] as const) {
    t.equal((await topUp(address, ada)).statusCode, 400, `${address} ${ada}`)
  }
  const tooMuch = await topUp(receiver, 1_000_000)
  t.equal(tooMuch.statusCode, 409)
  t.match(tooMuch.json(), { error: /hold too little/ })
  t.equal((await topUp(receiver, 5, { 'sec-fetch-site': 'cross-site' })).statusCode, 403)
  await devnet.produceBlock()
  t.equal(lovelace().length, 3)
})

test('one server serves two devnets', async (t) => {
  const devnets = await Promise.all([createDevnet({ blockEveryMs: 0 }), createDevnet({ blockEveryMs: 0 })])
  const server = fastify()
  t.teardown(() => Promise.all(devnets.map((devnet) => devnet.close())))
  t.teardown(() => server.close())
  for (const [i, devnet] of devnets.entries()) {
    await server.register(devnetApis, { devnet, prefix: `/${i}`, paths: { kupo: false } })
  }
  await devnets[1]?.produceBlock()
  for (const i of [0, 1]) {
    t.match((await server.inject(`/${i}/blockfrost/api/v0/blocks/latest`)).json(), { height: i })
    t.match((await server.inject(`/${i}/ogmios/health`)).json(), { connectionStatus: 'connected' })
    t.equal((await server.inject(`/${i}/kupo/health`)).statusCode, 404)
  }
})

test('registration without a devnet fails', async (t) => {
  const server = fastify()
  t.teardown(() => server.close())
  await t.rejects(Promise.resolve(server.register(devnetApis, {} as never)), { code: 'DEVNET_CONFIGURATION' })
})

test('the control API is off by default', async (t) => {
  const devnet = await createDevnet({ blockEveryMs: 0 })
  const server = fastify()
  t.teardown(() => devnet.close())
  t.teardown(() => server.close())
  await server.register(devnetApis, { devnet })
  t.equal((await server.inject({ method: 'POST', url: '/devnet/blocks' })).statusCode, 404)
  const topUp = { method: 'POST', url: '/local-cluster/api/addresses/topup' } as const
  t.equal((await server.inject(topUp)).statusCode, 404)
  t.equal((await server.inject('/dev-wallet.js')).statusCode, 404)
})

test('a server with default options serves addresses of 108 characters', async (t) => {
  const address =
    'addr_test1qz2fxv2umyhttkxyxp8x0dlpdt3k6cwng5pxj3jhsydzer3' +
    'n0d3vllmyqwsx5wktcd8cc3sq835lu7drv2xwl2wywfgs68faae'
  t.equal(address.length, 108)
  const devnet = await createDevnet({ blockEveryMs: 0 })
  const server = fastify()
  t.teardown(() => devnet.close())
  t.teardown(() => server.close())
  await server.register(devnetApis, { devnet })
  for (const path of [`/addresses/${address}`, `/addresses/${address}/utxos`]) {
    const { statusCode, body } = await server.inject(`/blockfrost/api/v0${path}`)
    t.equal(statusCode, 404, path)
    t.match(JSON.parse(body), { message: 'The requested component has not been found.' }, 'never used')
  }
  const { statusCode, body } = await server.inject(`/kupo/matches/${address}?unspent`)
  t.same([statusCode, body], [200, '[]'])
})

test('requests with Upgrade are answered on routes that were registered before', async (t) => {
  const devnet = await createDevnet({ blockEveryMs: 0 })
  const server = fastify({ forceCloseConnections: true })
  t.teardown(() => devnet.close())
  t.teardown(() => server.close())
  await server.register(async (scope) => {
    scope.get('/before', async () => 'before')
    scope.post('/echo', async ({ body }) => body)
  })
  await server.register(devnetApis, { devnet })
  server.get('/after', async () => 'after')
  const { port, url } = await listening(server)
  const text = (line: string, ...fields: string[]) =>
    [`${line} HTTP/1.1`, 'Host: localhost', ...fields, '', ''].join('\r\n')

  const webSocket = {
    connection: 'Upgrade',
    upgrade: 'websocket',
    'sec-websocket-version': '13',
    'sec-websocket-key': Buffer.alloc(16).toString('base64'),
  }
  const fields = Object.entries(webSocket).map(([name, value]) => `${name}: ${value}`)
  for (const path of ['/before', '/kupo/health', '/nothing']) {
    const { status, head } = await exchange(port, text(`GET ${path}`, ...fields))
    t.equal(status, path === '/nothing' ? 404 : 200, `${path} is answered, and the connection closed`)
    t.match(head, /\r\nconnection: close\r\n/i, path)
  }
  const asking = request(`${url}/ogmios`, { headers: webSocket, agent: false }).end()
  const [{ statusCode }, socket] = await once(asking, 'upgrade')
  socket.destroy()
  t.equal(statusCode, 101)

  // As Java's HTTP client asks, with a body of several packets.
  const json = JSON.stringify({ text: 'x'.repeat(500_000) })
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  t.teardown(() => agent.destroy())
  const h2c = { connection: 'Upgrade, HTTP2-Settings', upgrade: 'h2c', 'http2-settings': 'AAEAAEAA' }
  const headers = { ...h2c, 'content-type': 'application/json' }
  const posting = request(`${url}/echo`, { method: 'POST', headers, agent }).end(json)
  const [answer] = await once(posting, 'response')
  t.equal(answer.statusCode, 200, 'a request to upgrade to anything else is an ordinary one')
  t.equal(await readText(answer), json)
  const next = request(`${url}/after`, { agent }).end()
  const [served] = await once(next, 'response')
  t.equal(await readText(served), 'after')
  t.equal(next.reusedSocket, true, 'and the connection serves the next')
})
