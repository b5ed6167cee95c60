import fastify from 'fastify'
import { test } from 'tap'
import { createDevnet } from '../../create-devnet.js'
import { devnetFaces } from '../devnet-faces.js'

test('blocks, roll-backs and faults by HTTP', async (t) => {
  const devnet = await createDevnet({ blockEveryMs: 0 })
  const server = fastify()
  t.teardown(() => devnet.close())
  t.teardown(() => server.close())
  await server.register(devnetFaces, { devnet, prefix: '/layer-1', paths: { control: '/control' } })
  const post = (path: string, payload?: object) =>
    server.inject({ method: 'POST', url: `/layer-1/control${path}`, ...(payload && { payload }) })

  t.match((await post('/blocks')).json(), { height: 1 })
  t.match((await post('/blocks', { count: 4 })).json(), { height: 5 })
  t.match((await post('/roll-back', { blocks: 2 })).json(), { height: 3 })
  t.match((await server.inject('/layer-1/control')).json(), { tip: { height: 3 }, networkMagic: 42 })
  const tooDeep = await post('/roll-back', { blocks: 4 })
  t.match(tooDeep.json(), { code: 'DEVNET_ROLLBACK_TOO_DEEP' })
  t.equal(tooDeep.statusCode, 409)

  t.equal((await post('/faults', { kind: 'failure', face: 'kupo', times: 9 })).statusCode, 204)
  t.equal((await server.inject('/layer-1/kupo/health')).statusCode, 500)
  t.equal((await server.inject({ method: 'DELETE', url: '/layer-1/control/faults' })).statusCode, 204)
  t.equal((await server.inject('/layer-1/kupo/health')).statusCode, 200)
  t.equal((await post('/faults', { kind: 'mischief' })).statusCode, 400)

  const headers = { 'sec-fetch-site': 'cross-site' }
  const foreign = await server.inject({ method: 'POST', url: '/layer-1/control/blocks', headers })
  t.equal(foreign.statusCode, 403, 'not for a page of another site')
  t.equal(devnet.tip().height, 3)
})

test('two devnets in one server', async (t) => {
  const devnets = await Promise.all([createDevnet({ blockEveryMs: 0 }), createDevnet({ blockEveryMs: 0 })])
  const server = fastify()
  t.teardown(() => Promise.all(devnets.map((devnet) => devnet.close())))
  t.teardown(() => server.close())
  for (const [i, devnet] of devnets.entries()) {
    await server.register(devnetFaces, { devnet, prefix: `/${i}`, paths: { kupo: false } })
  }
  await devnets[1]?.produceBlock()
  for (const i of [0, 1]) {
    t.match((await server.inject(`/${i}/blockfrost/api/v0/blocks/latest`)).json(), { height: i })
    t.match((await server.inject(`/${i}/ogmios/health`)).json(), { connectionStatus: 'connected' })
    t.equal((await server.inject(`/${i}/kupo/health`)).statusCode, 404)
  }
})

test('is not served unless it is asked for', async (t) => {
  const devnet = await createDevnet({ blockEveryMs: 0 })
  const server = fastify()
  t.teardown(() => devnet.close())
  t.teardown(() => server.close())
  await server.register(devnetFaces, { devnet })
  t.equal((await server.inject({ method: 'POST', url: '/devnet/blocks' })).statusCode, 404)
})
