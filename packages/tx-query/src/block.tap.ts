import t from 'tap'
import { build } from './test/build.js'

const headerHash = 'ab'.repeat(28)
const type = 'application/json; charset=utf-8'

t.test('GET /block: 200 with the hashes in block order', async (t) => {
  const { ledger, get } = await build(t)
  const hashes = ['ff'.repeat(32), '00'.repeat(32), '7f'.repeat(32)]
  ledger.blocks.set(
    headerHash,
    hashes.map((hash) => Buffer.from(hash, 'hex')),
  )
  for (const hash of [headerHash, headerHash.toUpperCase()]) {
    t.same(await get(`/block?header_hash=${hash}`), { status: 200, body: JSON.stringify({ hashes }), type })
  }
})

t.test('GET /block: an empty array for a block without transactions and for an unknown one', async (t) => {
  const { ledger, get } = await build(t)
  ledger.blocks.set(headerHash, [])
  for (const hash of [headerHash, '00'.repeat(28)]) {
    t.same(await get(`/block?header_hash=${hash}`), { status: 200, body: '{"hashes":[]}', type })
  }
})

t.test('GET /block: 400 when the hash is missing, not hex, or not 56 characters', async (t) => {
  const { ledger, get } = await build(t)
  for (const [query, shown] of [
    ['', 'undefined'],
    ['?header_hash=', ''],
    ['?header_hash=xyz', 'xyz'],
    [`?header_hash=${headerHash.slice(2)}`, headerHash.slice(2)],
    [`?header_hash=${'ab'.repeat(32)}`, 'ab'.repeat(32)],
    [`?header_hash=${headerHash.slice(1)}g`, `${headerHash.slice(1)}g`],
    [`?header_hash=${headerHash}&header_hash=${headerHash}`, `${headerHash},${headerHash}`],
  ] as const) {
    t.same(
      await get(`/block${query}`),
      { status: 400, body: `{"error":"Invalid block hash: ${shown}"}`, type },
      query,
    )
  }
  t.same(ledger.asked, [], 'the ledger is not asked')
})
