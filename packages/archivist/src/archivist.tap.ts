import swagger from '@fastify/swagger'
import type { Archive } from '@ratatosk/block'
import txQuery from '@ratatosk/tx-query'
import fastify from 'fastify'
import t from 'tap'
import archivist, { type ArchivistOptions, archiveOfBlocks, archivist as named } from './index.js'
import { build, chainOf } from './test/build.js'

interface Operation {
  parameters: { name: string; in: string; required?: boolean }[]
  responses: Record<string, { content?: Record<string, unknown> }>
}

const hash = 'ab'.repeat(28)
const urls = ['/block/1', '/block/1/header', '/block/1/body', `/block/${hash}`, '/blocks?from=1&to=2']

t.test('the plugin is the default export and a named export, and has its npm name', async (t) => {
  t.equal(archivist, named)
  const { server } = await build(t)
  t.ok(server.hasPlugin('@ratatosk/archivist'))
})

t.test('a failing archive gets a plain 500 and logs the reason with the request id', async (t) => {
  const fail = () => {
    throw Object.assign(new Error('relation "archived_blocks" does not exist'), {
      statusCode: 404,
      code: '42P01',
    })
  }
  const archive = { byHash: fail, byHeight: fail, range: fail, body: fail } as unknown as Archive
  const { server, log } = await build(t, archive)
  for (const url of urls) {
    log.length = 0
    const response = await server.inject(url)
    t.equal(response.statusCode, 500, url)
    t.equal(response.body, '{"error":"Something went wrong"}')
    t.equal(response.headers.etag, undefined)
    t.equal(response.headers['cache-control'], undefined)
    t.match(
      log.filter(({ level }) => level === 50),
      [{ reqId: /^req-/, err: { message: /archived_blocks/ } }],
    )
  }
})

t.test('HEAD returns the headers of GET without reading a body', async (t) => {
  const { server, chain } = await build(t)
  const known = Buffer.from(chain.tip!.headerHash).toString('hex')
  for (const url of [...urls, `/block/${known}/body`, '/block/x', '/blocks', '/block/9']) {
    const get = await server.inject({ method: 'GET', url })
    const reads = chain.reads
    const head = await server.inject({ method: 'HEAD', url })
    t.equal(chain.reads, reads, url)
    t.equal(head.statusCode, get.statusCode, url)
    t.equal(head.body, '')
    for (const name of ['content-type', 'etag', 'cache-control', 'vary'])
      t.equal(head.headers[name], get.headers[name], `${url} ${name}`)
  }
})

t.test('coexists with GET /block?header_hash= of tx-query and with instances under prefixes', async (t) => {
  const server = fastify()
  t.teardown(() => server.close())
  const [one, two] = [await chainOf(1), await chainOf(2)]
  const ledger = {
    transaction: async () => undefined,
    history: async () => [],
    utxosAt: async () => [],
    blockTransactions: async () => [Buffer.alloc(32, 7)],
  }
  await server.register(txQuery, { ledger, network: 'testnet' })
  await server.register(archivist, { archive: archiveOfBlocks(one) })
  await server.register(archivist, { archive: archiveOfBlocks(one), prefix: '/archivist' })
  await server.register(archivist, { archive: archiveOfBlocks(two), prefix: '/other' })
  t.same((await server.inject(`/block?header_hash=${hash}`)).json(), { hashes: ['07'.repeat(32)] })
  t.equal((await server.inject('/block')).body, '{"error":"Invalid block hash: undefined"}')
  t.equal((await server.inject('/block/1')).json().height, 1)
  t.equal((await server.inject('/archivist/block/1')).json().height, 1)
  t.equal((await server.inject('/other/block/2/header')).json().height, 2)
  t.equal((await server.inject('/archivist/block/2')).statusCode, 404)
  t.equal((await server.inject('/other/blocks?from=1&to=2')).json().blocks.length, 2)
  t.equal((await server.inject('/archivist/block?header_hash=')).statusCode, 404)
})

t.test('does not change the error handler or the validation of its server', async (t) => {
  const { server } = await build(t)
  server.setErrorHandler((_error, _request, reply) => reply.code(418).send('mine'))
  const querystring = { type: 'object', properties: { n: { type: 'integer' } } }
  server.get('/own', { schema: { querystring } }, async (request) => request.query)
  t.same((await server.inject('/own?n=5')).json(), { n: 5 })
  t.equal((await server.inject('/own?n=x')).statusCode, 418)
})

t.test('registration fails without an archive', async (t) => {
  const server = fastify()
  const registering = async () => server.register(archivist, {} as ArchivistOptions)
  await t.rejects(registering, {
    message: /archive must be an object with the methods byHash, byHeight, range, body/,
  })
  await server.close()
})

t.test('the OpenAPI document describes every route, parameter, status and format', async (t) => {
  const server = fastify()
  t.teardown(() => server.close())
  await server.register(swagger, { openapi: {} })
  await server.register(archivist, { archive: archiveOfBlocks(await chainOf(0)) })
  await server.ready()
  const paths = server.swagger().paths as Record<string, { get: Operation }>
  const shapes = Object.entries(paths).map(([path, { get }]) => [
    path,
    get.parameters.map(({ name }) => name),
    Object.keys(get.responses),
    Object.keys(get.responses['200']?.content ?? {}),
  ])
  const formats = ['application/json', 'application/cbor']
  const oneBlock = ['200', '304', '400', '404', '408', '414', '429', '431', '500', '503']
  t.same(shapes, [
    ['/block/{id}', ['id'], oneBlock, formats],
    ['/block/{id}/header', ['id'], oneBlock, formats],
    ['/block/{id}/body', ['id'], oneBlock, formats],
    ['/blocks', ['from', 'to'], ['200', '400', '408', '429', '431', '500', '503'], formats],
  ])
})
