import { SourceChain } from '@ratatosk/test-kit'
import t from 'tap'
import { archiveOfBlocks } from './index.js'
import { build } from './test/build.js'
import { cborOf, jsonOf } from './test/expected.js'

async function longChain(blocks: number): Promise<SourceChain> {
  const chain = new SourceChain(2)
  for (let n = 0; n < blocks; n++) await chain.commit(n % 3)
  return chain
}

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
