import t from 'tap'
import { build } from './test/build.js'

const id = 'c0ffee'.padEnd(64, '0')
const cbor = '84a0a0f5f6'

t.test('GET /tx: 200 with the CBOR of the transaction', async (t) => {
  const { ledger, get } = await build(t)
  ledger.transactions.set(id, Buffer.from(cbor, 'hex'))
  for (const hash of [id, id.toUpperCase(), `C0ffEE${id.slice(6)}`]) {
    t.same(await get(`/tx?tx_hash=${hash}`), {
      status: 200,
      body: `{"tx":"${cbor}"}`,
      type: 'application/json; charset=utf-8',
    })
  }
  t.same([...new Set(ledger.asked)], [`transaction ${id}`])
})

t.test('GET /tx: 404 when neither the mempool nor a block has it', async (t) => {
  const { get } = await build(t)
  for (const hash of [id, id.toUpperCase()]) {
    t.same(await get(`/tx?tx_hash=${hash}`), {
      status: 404,
      body: `{"error":"Transaction not found: ${id}"}`,
      type: 'application/json; charset=utf-8',
    })
  }
})

t.test('GET /tx: 400 when the hash is missing, not hex, or not 64 characters', async (t) => {
  const { ledger, get } = await build(t)
  for (const [query, shown] of [
    ['', 'undefined'],
    ['?', 'undefined'],
    ['?tx=1', 'undefined'],
    ['?TX_HASH=1', 'undefined'],
    ['?tx_hash', ''],
    ['?tx_hash=', ''],
    ['?tx_hash=abc', 'abc'],
    [`?tx_hash=${id.slice(1)}`, id.slice(1)],
    [`?tx_hash=${id}0`, `${id}0`],
    [`?tx_hash=0x${id.slice(2)}`, `0x${id.slice(2)}`],
    [`?tx_hash=${id.slice(1)}g`, `${id.slice(1)}g`],
    [`?tx_hash=${id.slice(1)}%C4%B0`, `${id.slice(1)}İ`],
    [`?tx_hash=%20${id.slice(1)}`, ` ${id.slice(1)}`],
    [`?tx_hash=${id}%0A`, `${id}\\n`],
    ['?tx_hash=%22%5C%3Cscript%3E', '\\"\\\\<script>'],
    [`?tx_hash=${id}&tx_hash=${id}`, `${id},${id}`],
    ['?tx_hash=a&tx_hash=&tx_hash=b', 'a,,b'],
    [`?tx_hash[]=${id}`, 'undefined'],
    ['?tx_hash=%zz', '%zz'],
  ] as const) {
    t.same(
      await get(`/tx${query}`),
      {
        status: 400,
        body: `{"error":"Invalid transaction hash: ${shown}"}`,
        type: 'application/json; charset=utf-8',
      },
      query,
    )
  }
  t.same(ledger.asked, [], 'the ledger is not asked')
})
