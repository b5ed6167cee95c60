import fastify from 'fastify'
import { expect, onTestFinished, test } from 'vitest'
import { apis } from '../apis.js'
import { chainWith } from '../test/served-chain.js'
import type { ChainView } from '../view/chain-view.js'

async function serve(methods: Partial<ChainView>) {
  const server = fastify()
  await server.register(apis, { chain: chainWith(methods) })
  onTestFinished(() => server.close())
  return (path: string) => server.inject(path)
}

const behind = {
  tip: () => ({ height: 9, slot: 10_000n, hash: '11'.repeat(32) }),
  currentSlot: () => 10_002n,
}

test('says how far the index is behind the tip', async () => {
  let indexed = 5_000n
  const get = await serve({ ...behind, indexedSlot: () => indexed })
  const health = await get('/kupo/health')
  expect(health.statusCode, 'it synchronizes').toBe(202)
  expect(health.headers['x-most-recent-checkpoint']).toBe('5000')
  expect(health.json()).toMatchObject({
    connection_status: 'connected',
    most_recent_checkpoint: 5_000,
    most_recent_node_tip: 10_000,
    seconds_since_last_block: 5_002,
    network_synchronization: 0.5,
  })
  expect((await get('/kupo/metrics')).statusCode).toBe(200)
  expect((await get('/ogmios/health')).json()).toMatchObject({ networkSynchronization: 0.5 })
  indexed = 9_900n
  const nearly = await get('/kupo/health')
  expect([nearly.statusCode, nearly.json().network_synchronization]).toEqual([200, 1])
})

test('says that a chain cannot be read', async () => {
  const get = await serve({ ...behind, indexedSlot: () => Promise.reject(new Error('no database')) })
  const health = await get('/kupo/health')
  expect(health.statusCode).toBe(503)
  expect(health.json()).toMatchObject({ connection_status: 'disconnected', most_recent_checkpoint: null })
  const metrics = await get('/kupo/metrics')
  expect([metrics.statusCode, metrics.json().connection_status]).toEqual([200, 'disconnected'])
})

test('refuses metadata of a block that is undone meanwhile, or open and too long', async () => {
  const block = { ...behind.tip(), previous: '00'.repeat(32), time: 0n, size: 0, transactionCount: 1 }
  const blocks = { ...behind, blockTransactions: () => [] }
  const undone = await serve({ ...blocks, blockAfter: () => block })
  expect((await undone('/kupo/metadata/1')).statusCode).toBe(503)
  const open = await serve({
    ...blocks,
    blockAfter: () => ({ ...block, open: true, transactionCount: 10_001 }),
  })
  expect((await open('/kupo/metadata/1')).statusCode).toBe(400)
})
