import t from 'tap'
import { formatFor } from './formats.js'
import { build } from './test/build.js'

const cbor = { accept: 'application/cbor' }
const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex')
const forGood = 'public, max-age=31536000, immutable'

t.test('responses by hash and of merged blocks are immutable', async (t) => {
  const { server, chain } = await build(t)
  const [merged, pending] = chain.blocks.map(({ headerHash }) => hex(headerHash))
  for (const end of ['', '/header', '/body']) {
    for (const [id, hash, control] of [
      [merged, merged, forGood],
      [pending, pending, forGood],
      ['1', merged, forGood],
      ['2', pending, 'no-cache'],
    ] as const) {
      const json = await server.inject(`/block/${id}${end}`)
      t.equal(json.headers['cache-control'], control)
      t.equal(json.headers.etag, `"${hash}"`)
      t.equal(json.headers.vary, 'accept')
      const binary = await server.inject({ url: `/block/${id}${end}`, headers: cbor })
      t.equal(binary.headers.etag, `"${hash}.cbor"`, 'other bytes, another tag')
      t.equal(binary.headers['cache-control'], control)
    }
  }
})

t.test('answers 304 when If-None-Match contains the entity tag', async (t) => {
  const { server, chain } = await build(t)
  const reads = chain.reads
  const hash = hex(chain.tip!.headerHash)
  for (const url of [`/block/${hash}`, `/block/${hash}/body`, '/block/3/header']) {
    for (const tag of [`"${hash}"`, `W/"${hash}"`, `"other", "${hash}"`, '*']) {
      const response = await server.inject({ url, headers: { 'if-none-match': tag } })
      t.equal(response.statusCode, 304, `${url} ${tag}`)
      t.equal(response.body, '')
      t.equal(response.headers.etag, `"${hash}"`)
      t.ok(response.headers['cache-control'])
      t.equal(response.headers.vary, 'accept')
    }
  }
  t.equal(chain.reads, reads, 'no body is read')
  const changed = await server.inject({ url: '/block/3', headers: { 'if-none-match': `"${hash}.cbor"` } })
  t.equal(changed.statusCode, 200, 'the tag of the other format')
  const absent = await server.inject({ url: '/block/4', headers: { 'if-none-match': '*' } })
  t.equal(absent.statusCode, 404)
})

t.test('a removed block is no longer found', async (t) => {
  const { server, chain } = await build(t)
  const hash = hex(chain.tip!.headerHash)
  t.equal((await server.inject(`/block/${hash}/body`)).statusCode, 200)
  chain.remove(1)
  for (const id of [hash, '3']) t.equal((await server.inject(`/block/${id}/body`)).statusCode, 404)
  await chain.commit(5)
  const other = (await server.inject('/block/3')).json()
  t.not(other.hash, hash)
  t.equal(other.body.transactions.length, 5)
})

t.test('Accept selects the format', async (t) => {
  const asked = (accept?: string) => formatFor(accept).contentType.replace(/^application\/(\w+).*/, '$1')
  for (const accept of [
    undefined,
    '',
    '*/*',
    'application/*',
    'application/json',
    'text/html',
    'application/json, application/cbor',
    'application/cbor;q=0',
    'application/cbor;q=0.5, application/json',
    'application/cbor;q=0.5, */*',
    'application/cbor-seq',
    'nonsense;;,',
  ])
    t.equal(asked(accept), 'json', String(accept))
  for (const accept of [
    'application/cbor',
    'Application/CBOR',
    'application/cbor, */*',
    'application/cbor, application/json;q=0.9',
    ' application/cbor ; q=0.8 , application/json;q=0.5',
    'text/html, application/cbor;q=0.1',
  ])
    t.equal(asked(accept), 'cbor', accept)
})
