import type { Evidence, InvalidBlockReport } from '@ratatosk/block'
import fastify from 'fastify'
import t, { type Test } from 'tap'
import archivist, { archiveOfBlocks } from './index.js'
import { chainOf } from './test/build.js'

/** A server with an empty archive, and with the second block of a chain as evidence. */
async function build(t: Test) {
  const chain = await chainOf(2)
  const blocks = archiveOfBlocks(chain)
  const block = (await blocks.byHeight(2n))!
  const report: InvalidBlockReport = {
    ...block,
    reason: 'Transaction 0 spends an output that does not exist',
    position: 0,
    foundAt: new Date('2026-11-22T06:00:00Z'),
  }
  const asked: number[] = []
  const evidence: Evidence = {
    async list(limit) {
      asked.push(limit)
      return [report]
    },
    byHash: async (hash) => (Buffer.compare(hash, block.headerHash) === 0 ? report : undefined),
    body: (hash) => blocks.body(hash),
  }
  const server = fastify()
  t.teardown(() => server.close())
  await server.register(archivist, { archive: blocks, prefix: '/all' })
  await server.register(archivist, { archive: archiveOfBlocks(await chainOf(0)), evidence })
  return { server, hash: Buffer.from(block.headerHash).toString('hex'), asked }
}

t.test('invalid blocks are listed with what is wrong with them', async (t) => {
  const { server, hash, asked } = await build(t)
  const response = await server.inject('/invalid-blocks')
  t.equal(response.statusCode, 200)
  t.same(response.json(), {
    blocks: [
      {
        hash,
        height: 2,
        reason: 'Transaction 0 spends an output that does not exist',
        position: 0,
        foundAt: '2026-11-22T06:00:00.000Z',
      },
    ],
  })
  t.equal(response.headers['cache-control'], 'no-cache')
  t.same(asked, [100])
})

t.test('an invalid block is served as any other, in both formats, but only by hash', async (t) => {
  const { server, hash } = await build(t)
  for (const accept of ['application/json', 'application/cbor']) {
    const invalid = await server.inject({ url: `/invalid-blocks/${hash}`, headers: { accept } })
    const same = await server.inject({ url: `/all/block/${hash}`, headers: { accept } })
    t.equal(invalid.statusCode, 200)
    t.equal(invalid.headers['content-type'], same.headers['content-type'])
    t.equal(invalid.headers.etag, same.headers.etag)
    t.ok(invalid.rawPayload.equals(same.rawPayload))
  }
  t.equal((await server.inject(`/block/${hash}`)).statusCode, 404, 'it is not in the archive')
  const unknown = await server.inject(`/invalid-blocks/${'ab'.repeat(28)}`)
  t.equal(unknown.statusCode, 404)
  t.same(unknown.json().error, `Block not found: ${'ab'.repeat(28)}`)
  for (const id of ['2', 'x', hash.slice(2)]) {
    const response = await server.inject(`/invalid-blocks/${id}`)
    t.equal(response.statusCode, 400)
    t.equal(response.json().error, `Invalid block id: ${id}`)
  }
})

t.test('without evidence there is no such route', async (t) => {
  const { server } = await build(t)
  t.equal((await server.inject('/all/invalid-blocks')).statusCode, 404)
})
