import swagger from '@fastify/swagger'
import fastify from 'fastify'
import t from 'tap'
import network, { type NetworkInfo, network as named } from './index.js'

const paths = (api: string) => ({
  accepted: `/l2/${api}`,
  committed: `/l2/committed/${api}`,
  merged: `/l2/merged/${api}`,
})
const info: NetworkInfo = {
  network: 'devnet',
  networkId: 0,
  networkMagic: 42,
  slotClock: { zeroTime: 1_735_689_600_000, zeroSlot: 0, slotLength: 1000 },
  protocolParameters: { min_fee_a: 44, cost_models_raw: { PlutusV3: [1, 2, 3] } },
  maturityWindow: 30_000,
  versions: { node: '0.1.0', protocol: 2 },
  apis: { blockfrost: paths('blockfrost/api/v0'), kupo: paths('kupo'), ogmios: paths('ogmios') },
}

t.test('answers with everything it was given', async (t) => {
  t.equal(network, named)
  const server = fastify()
  t.teardown(() => server.close())
  await server.register(network, { info })
  t.ok(server.hasPlugin('@ratatosk/tx-query/network'))
  const response = await server.inject('/network')
  t.equal(response.statusCode, 200)
  t.equal(response.headers['cache-control'], 'public, max-age=60')
  t.same(response.json(), info)
})

t.test('describes its responses', async (t) => {
  const server = fastify()
  t.teardown(() => server.close())
  await server.register(swagger, { openapi: {} })
  await server.register(network, { info })
  await server.ready()
  const { paths } = server.swagger() as { paths: Record<string, { get: { responses: object } }> }
  t.same(Object.keys(paths['/network']?.get.responses ?? {}), ['200', '408', '429', '431', '500', '503'])
})

t.test('refuses an answer that does not fit its schema', async (t) => {
  const server = fastify()
  t.teardown(() => server.close())
  await t.rejects(
    async () => server.register(network, { info: { ...info, networkId: 7 } }),
    /@ratatosk\/tx-query\/network: info\/networkId/,
  )
})
