import t from 'tap'
import { build } from './test/build.js'
import { cborOf, jsonOf } from './test/expected.js'

const cbor = { accept: 'application/cbor' }
const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex')

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
