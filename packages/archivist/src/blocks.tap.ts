import { SourceChain } from '@ratatosk/test-kit'
import t from 'tap'
import { formatFor } from './formats.js'
import { archiveOfBlocks } from './index.js'
import { build, cborOf, jsonOf } from './test/build.js'

const cbor = { accept: 'application/cbor' }
const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex')
const forGood = 'public, max-age=31536000, immutable'

async function longChain(blocks: number): Promise<SourceChain> {
  const chain = new SourceChain(2)
  for (let n = 0; n < blocks; n++) await chain.commit(n % 3)
  return chain
}

t.test('serves every part of a block as JSON, by height and by hash', async (t) => {
  const { server, chain } = await build(t)
  for (const block of chain.blocks) {
    const { identity, header, body } = jsonOf(block)
    const hash = hex(block.headerHash)
    for (const id of [String(block.height), `0${block.height}`, hash, hash.toUpperCase()]) {
      for (const [path, expected] of [
        [`/block/${id}`, { ...identity, header, body }],
        [`/block/${id}/header`, { ...identity, header }],
        [`/block/${id}/body`, { ...identity, body }],
      ] as const) {
        const response = await server.inject(path)
        t.equal(response.statusCode, 200, path)
        t.equal(response.headers['content-type'], 'application/json; charset=utf-8')
        t.equal(response.body, JSON.stringify(expected), `${path}, to the byte`)
      }
    }
  }
})

t.test('serves every part of a block as CBOR, by height and by hash', async (t) => {
  const { server, chain } = await build(t)
  for (const block of chain.blocks) {
    for (const id of [String(block.height), hex(block.headerHash)]) {
      for (const [path, parts] of [
        [`/block/${id}`, { header: true, body: true }],
        [`/block/${id}/header`, { header: true, body: false }],
        [`/block/${id}/body`, { header: false, body: true }],
      ] as const) {
        const response = await server.inject({ url: path, headers: cbor })
        t.equal(response.statusCode, 200, path)
        t.equal(response.headers['content-type'], 'application/cbor')
        t.ok(response.rawPayload.equals(cborOf(block, parts)), path)
      }
    }
  }
})

t.test('answers 404 for every part of an unknown block', async (t) => {
  const { server } = await build(t)
  const hash = 'AB'.repeat(28)
  for (const [id, shown] of [
    ['0', '0'],
    ['4', '4'],
    ['0099', '0099'],
    ['9223372036854775807', '9223372036854775807'],
    ['9223372036854775808', '9223372036854775808'],
    ['9'.repeat(90), '9'.repeat(90)],
    [hash, hash.toLowerCase()],
    ['1'.repeat(56), '1'.repeat(56)],
  ] as const) {
    for (const end of ['', '/header', '/body']) {
      for (const headers of [{}, cbor]) {
        const response = await server.inject({ url: `/block/${id}${end}`, headers })
        t.equal(response.statusCode, 404, id)
        t.equal(response.body, `{"error":"Block not found: ${shown}"}`)
        t.equal(response.headers['content-type'], 'application/json; charset=utf-8')
        t.equal(response.headers['cache-control'], undefined)
      }
    }
  }
})

t.test('answers 400 for an id that is neither a height nor a hash', async (t) => {
  const { server, chain } = await build(t)
  const hash = hex(chain.tip!.headerHash)
  for (const [id, shown] of [
    ['-1', '-1'],
    ['+1', '+1'],
    ['1.0', '1.0'],
    ['1e2', '1e2'],
    ['0x1', '0x1'],
    ['latest', 'latest'],
    ['%201', ' 1'],
    ['%D9%A3', '٣'],
    [hash.slice(1), hash.slice(1)],
    [`${hash}0`, `${hash}0`],
    [`${hash.slice(1)}g`, `${hash.slice(1)}g`],
    ['ab'.repeat(32), 'ab'.repeat(32)],
  ] as const) {
    for (const end of ['', '/header', '/body']) {
      const response = await server.inject(`/block/${id}${end}`)
      t.equal(response.statusCode, 400, id)
      t.equal(response.body, JSON.stringify({ error: `Invalid block id: ${shown}` }))
    }
  }
})

t.test('serves the exact bytes of a range in both formats', async (t) => {
  const { server, chain } = await build(t)
  const all = chain.blocks.map((block) => {
    const { identity, header, body } = jsonOf(block)
    return { ...identity, header, body }
  })
  const json = await server.inject('/blocks?from=1&to=3')
  t.equal(json.body, JSON.stringify({ blocks: all }))
  t.equal(json.headers['content-type'], 'application/json; charset=utf-8')
  t.equal(json.headers['cache-control'], 'no-cache')
  t.equal(json.headers.vary, 'accept')

  const cbor = await server.inject({ url: '/blocks?from=1&to=3', headers: { accept: 'application/cbor' } })
  const parts = { header: true, body: true }
  const opening = Buffer.from('a166626c6f636b7383', 'hex')
  t.ok(cbor.rawPayload.equals(Buffer.concat([opening, ...chain.blocks.map((block) => cborOf(block, parts))])))
  t.equal(cbor.headers['content-type'], 'application/cbor')

  const none = await server.inject({ url: '/blocks?from=9&to=9', headers: { accept: 'application/cbor' } })
  t.equal(none.rawPayload.toString('hex'), 'a166626c6f636b7380')
})

t.test('accepts and refuses the bounds of a range', async (t) => {
  const chain = await longChain(105)
  const { server } = await build(t, archiveOfBlocks(chain))
  const heights = async (query: string) => {
    const response = await server.inject(`/blocks?${query}`)
    t.equal(response.statusCode, 200, query)
    return response.json().blocks.map(({ height }: { height: number }) => height)
  }
  const span = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, n) => from + n)
  t.same(await heights('from=1&to=1'), [1])
  t.same(await heights('from=105&to=105'), [105])
  t.same(await heights('from=1&to=100'), span(1, 100), 'a hundred')
  t.same(await heights('from=6&to=105'), span(6, 105))
  t.same(await heights('from=100&to=199'), span(100, 105), 'beyond the newest')
  t.same(await heights('from=0&to=2'), [1, 2], 'from before the first')
  t.same(await heights('from=0&to=0'), [])
  t.same(await heights('from=106&to=106'), [])
  t.same(await heights('to=3&from=002'), [2, 3])
  t.same(await heights('from=9223372036854775807&to=9223372036854775807'), [])
  t.same(await heights(`from=${'9'.repeat(100)}&to=${'9'.repeat(100)}`), [])

  for (const [query, from, to] of [
    ['', 'nothing', 'nothing'],
    ['?from=1', '1', 'nothing'],
    ['?to=1', 'nothing', '1'],
    ['?from=2&to=1', '2', '1'],
    ['?from=1&to=101', '1', '101'],
    ['?from=0&to=100', '0', '100'],
    ['?from=1&to=99999999999999999999999', '1', '99999999999999999999999'],
    ['?from=-1&to=1', '-1', '1'],
    ['?from=1&to=x', '1', 'x'],
    ['?from=&to=1', '', '1'],
    ['?from=1.5&to=2', '1.5', '2'],
    ['?from=1&from=2&to=3', '1,2', '3'],
  ] as const) {
    const response = await server.inject(`/blocks${query}`)
    t.equal(response.statusCode, 400, query)
    const rule = 'Send from and to, the heights of the first and the last of at most 100 blocks'
    t.equal(response.body, JSON.stringify({ error: `Invalid range: from ${from} to ${to}. ${rule}` }))
  }
})

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
