import { getSchemaForEndpoint } from '@blockfrost/openapi'
import document from '@blockfrost/openapi/json-schema.json' with { type: 'json' }
import fastify, { type FastifyInstance } from 'fastify'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openPeersScene } from '../../test/peers-scene.js'

/** Paths of the document that this API does not have. */
const unserved = [
  ...['/ipfs/pin/add/{IPFS_path}', '/ipfs/pin/list', '/nutlink/{address}/tickers'],
  ...['/nutlink/{address}/tickers/{ticker}', '/nutlink/tickers/{ticker}'],
]

/** A value of the scene for each part of a path. */
const parts: Readonly<Record<string, string>> = {
  address: '<address with outputs>',
  asset: '<asset held>',
  cc_id: 'cc_hot1qf5tkz6zwcpplq3kgpt2486d8za943vmymqkdjl249qgw3s2y5r9y',
  cert_index: '0',
  drep_id: 'drep1wcl0w4np7rxceraptxne67dlaru6w6rchk407uq9nrhquq6gltn',
  gov_action_id: 'gov_action14lefp8upwhhq92xph7t075txshf9huxxh9d2ey05ml2n5hqgvlxqqp92kfl',
  hash_or_number: '3',
  label: '674',
  number: '139',
  policy_id: '<policy>',
  pool_id: 'pool1pu5jlj4q9w9jlxeu370a3c9myx47md5j5m2str0naunn2q3lkdy',
  script_hash: '<policy>',
  stake_address: '<stake with outputs>',
  tx_hash: '<tx>',
}

const integers = ['x', '0', '1', '100', '101', '21474836', '21474837', '99999999999999', '-1', '1.5', '1e1']
const booleans = ['', 'true', 'TRUE', '1', 'null']
/** The values of each parameter, also of those that a path does not have. */
const values: Readonly<Record<string, readonly string[]>> = {
  page: [...integers, ...booleans, '%201', 'NaN', '[]', '1&page=2'],
  count: [...integers, ...booleans, '1&count=2'],
  order: ['a', 'asc', 'desc', 'DESC', '', 'null', 'asc&order=desc', 'asc&order=asc', 'a&count=x&page=0'],
  from: ['1&from=2'],
  to: ['1&to=2'],
  order_by: ['x', 'amount', '', 'amount&order_by=amount'],
  retired: ['x', ...booleans],
  expired: ['x', ...booleans],
}

const templates = Object.keys(document).filter((path) => {
  const isPost = path.startsWith('/utils/')
  return !isPost && !unserved.includes(path) && 'querystring' in getSchemaForEndpoint(path)
})

let scene: Awaited<ReturnType<typeof openPeersScene>>
let reference: FastifyInstance
beforeAll(async () => {
  scene = await openPeersScene()
  // As the real service validates queries: by the schemas of the document.
  reference = fastify()
  for (const path of templates) {
    const { querystring } = getSchemaForEndpoint(path)
    reference.get(path.replace(/\{(\w+)\}/g, ':$1'), { schema: { querystring } }, async () => [])
  }
})
afterAll(async () => {
  await reference.close()
  await scene.close()
})

it.each(templates)('%s refuses the queries that the document does not allow', async (template) => {
  const path = template.replace(/\{(\w+)\}/g, (_, name: string) => parts[name] ?? name)
  const wrong: string[] = []
  for (const [name, texts] of Object.entries(values)) {
    for (const text of texts) {
      const query = `?${name}=${text}`
      const expected = await reference.inject(template.replace(/[{}]/g, '') + query)
      const { statusCode, body } = await scene.server.inject(
        `/blockfrost/api/v0${scene.pathOf(path)}${query}`,
      )
      const { message } = JSON.parse(body)
      const isRefused = statusCode === 400 && !/is not a parameter/.test(message)
      const wanted = expected.statusCode === 400 ? expected.json().message : undefined
      if (isRefused ? message !== wanted : wanted !== undefined)
        wrong.push(`${query}: ${body}, not ${wanted}`)
    }
  }
  expect(wrong).toEqual([])
})

it.each(unserved)('%s is not served', async (template) => {
  const path = template.replace(/\{(\w+)\}/g, (_, name: string) => parts[name] ?? name)
  const { body } = await scene.server.inject(`/blockfrost/api/v0${scene.pathOf(path)}`)
  expect(JSON.parse(body).message).toBe('Invalid path. Please check https://docs.blockfrost.io/')
})
