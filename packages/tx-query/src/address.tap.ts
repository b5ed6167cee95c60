import t from 'tap'
import {
  addressBytes,
  build,
  encode,
  foreign,
  keyAddresses,
  keylessAddresses,
  undecodable,
} from './test/build.js'

const type = 'application/json; charset=utf-8'
const paths = ['/utxos', '/txs']

t.test('accepts addresses of this network with a payment key, in lower and upper case', async (t) => {
  for (const [network, networkId, prefix] of [
    ['testnet', 0, 'addr_test'],
    ['mainnet', 1, 'addr'],
  ] as const) {
    const { ledger, get } = await build(t, { network })
    for (const [name, bytes] of Object.entries(keyAddresses(networkId))) {
      ledger.asked.length = 0
      const address = encode(prefix, bytes)
      t.equal((await get(`/utxos?address=${address}`)).status, 200, name)
      t.equal((await get(`/utxos?address=${address.toUpperCase()}`)).status, 200, name)
      t.equal((await get(`/txs?address=${address}`)).status, 200, name)
      const hex = bytes.toString('hex')
      t.same(ledger.asked, [`utxosAt ${hex}`, `utxosAt ${hex}`, `history ${hex} 100 0`])
    }
  }
})

t.test('answers Invalid address type if the address is not a string', async (t) => {
  const { ledger, get } = await build(t)
  const address = encode('addr_test', addressBytes(6, 0, Buffer.alloc(28)))
  for (const path of paths) {
    for (const [query, shown] of [
      ['', 'undefined'],
      ['?addr=x', 'undefined'],
      [`?address=${address}&address=${address}`, `${address},${address}`],
      ['?address=a&address=b', 'a,b'],
    ] as const) {
      t.same(
        await get(`${path}${query}`),
        { status: 400, body: `{"error":"Invalid address type: ${shown}"}`, type },
        `${path}${query}`,
      )
    }
  }
  t.same(ledger.asked, [], 'an invalid request does not reach the ledger')
})

t.test('answers Invalid address format without bech32 or a payment key', async (t) => {
  const { ledger, get } = await build(t)
  for (const path of paths) {
    for (const [name, address] of Object.entries({ ...undecodable, ...keylessAddresses })) {
      t.same(
        await get(`${path}?address=${encodeURIComponent(address)}`),
        { status: 400, body: `{"error":"Invalid address format: ${address}"}`, type },
        `${path} ${name}`,
      )
    }
  }
  t.same(ledger.asked, [], 'an invalid request does not reach the ledger')
})

t.test('answers Invalid address if it is not an address of this network', async (t) => {
  const { ledger, get } = await build(t)
  for (const path of paths) {
    for (const [name, address] of Object.entries(foreign)) {
      t.same(
        await get(`${path}?address=${address}`),
        { status: 400, body: `{"error":"Invalid address: ${address}"}`, type },
        `${path} ${name}`,
      )
    }
  }
  t.same(ledger.asked, [], 'an invalid request does not reach the ledger')
})

t.test('refuses testnet addresses on mainnet', async (t) => {
  const { get } = await build(t, { network: 'mainnet' })
  const testnet = encode('addr_test', addressBytes(6, 0, Buffer.alloc(28)))
  t.same(await get(`/utxos?address=${testnet}`), {
    status: 400,
    body: `{"error":"Invalid address: ${testnet}"}`,
    type,
  })
})

t.test('does not apply the limit of 90 characters of BIP-173', async (t) => {
  const { get } = await build(t)
  const base = encode('addr_test', addressBytes(0, 0, Buffer.alloc(56)))
  t.ok(base.length > 90)
  t.equal((await get(`/utxos?address=${base}`)).status, 200)
  const long = encode('addr_test', Buffer.alloc(2000))
  t.same(await get(`/utxos?address=${long}`), {
    status: 400,
    body: `{"error":"Invalid address: ${long}"}`,
    type,
  })
})

const bytes = addressBytes(6, 0, Buffer.alloc(28, 7))
const address = encode('addr_test', bytes)
const transactions = Array.from({ length: 600 }, (_, index) =>
  Buffer.from([0x82, 0x18, index & 255, index >> 8]),
)
const hexOf = (from: number, to: number) => transactions.slice(from, to).map((cbor) => cbor.toString('hex'))

t.test('GET /txs answers 100 transactions from the oldest by default', async (t) => {
  const { ledger, get } = await build(t)
  ledger.histories.set(bytes.toString('hex'), transactions)
  t.same(await get(`/txs?address=${address}`), {
    status: 200,
    body: JSON.stringify({ txs: hexOf(0, 100), limit: 100, offset: 0, hasMore: true }),
    type,
  })
  t.same(await get(`/txs?address=${address}&limit=2&offset=3`), {
    status: 200,
    body: JSON.stringify({ txs: hexOf(3, 5), limit: 2, offset: 3, hasMore: true }),
    type,
  })
})

t.test('GET /txs sets hasMore if exactly limit transactions were returned', async (t) => {
  const { ledger, get } = await build(t)
  ledger.histories.set(bytes.toString('hex'), transactions.slice(0, 5))
  for (const [query, count, hasMore] of [
    ['&limit=4', 4, true],
    ['&limit=5', 5, true],
    ['&limit=6', 5, false],
    ['&limit=2&offset=3', 2, true],
    ['&limit=2&offset=4', 1, false],
    ['&limit=2&offset=5', 0, false],
    ['', 5, false],
  ] as const) {
    const { body } = await get(`/txs?address=${address}${query}`)
    const answer = JSON.parse(body)
    t.equal(answer.txs.length, count, query)
    t.equal(answer.hasMore, hasMore, query)
  }
})

t.test('GET /txs continues at offset + limit', async (t) => {
  const { ledger, get } = await build(t)
  ledger.histories.set(bytes.toString('hex'), transactions)
  const pages: string[] = []
  let offset = 0
  for (;;) {
    const { txs, limit, hasMore } = JSON.parse(
      (await get(`/txs?address=${address}&limit=250&offset=${offset}`)).body,
    )
    pages.push(...txs)
    if (!hasMore) break
    offset += limit
  }
  t.same(pages, hexOf(0, 600))
})

t.test('GET /txs answers an empty list for an unknown address', async (t) => {
  const { get } = await build(t)
  t.equal((await get(`/txs?address=${address}`)).body, '{"txs":[],"limit":100,"offset":0,"hasMore":false}')
})

t.test('GET /txs accepts a limit from 1 and clamps it to 500', async (t) => {
  const { ledger, get } = await build(t)
  ledger.histories.set(bytes.toString('hex'), transactions)
  for (const [given, limit] of [
    ['1', 1],
    ['007', 7],
    ['499', 499],
    ['500', 500],
    ['501', 500],
    ['9007199254740993', 500],
    ['9'.repeat(400), 500],
  ] as const) {
    const { status, body } = await get(`/txs?address=${address}&limit=${given}`)
    t.equal(status, 200, given)
    const answer = JSON.parse(body)
    t.equal(answer.limit, limit, given)
    t.equal(answer.txs.length, limit, given)
    t.equal(answer.hasMore, true, given)
  }
})

const noNumbers = [
  '',
  '-1',
  '%2B5',
  '5.0',
  '1.5',
  '1e2',
  '0x10',
  '1,000',
  '%205',
  '5%20',
  '5%0A',
  'abc',
  'NaN',
  'Infinity',
  '%D9%A3',
  '%EF%BC%91',
  'null',
  'true',
]

t.test('GET /txs refuses any other limit', async (t) => {
  const { ledger, get } = await build(t)
  for (const given of [...noNumbers, '0', '00', '-0']) {
    const shown = JSON.stringify(decodeURIComponent(given)).slice(1, -1)
    t.same(
      await get(`/txs?address=${address}&limit=${given}`),
      { status: 400, body: `{"error":"Invalid limit: ${shown}"}`, type },
      given,
    )
  }
  t.equal((await get(`/txs?address=${address}&limit=5&limit=6`)).body, '{"error":"Invalid limit: 5,6"}')
  t.equal((await get(`/txs?address=${address}&limit`)).body, '{"error":"Invalid limit: "}')
  t.same(ledger.asked, [], 'an invalid request does not reach the ledger')
})

t.test('GET /txs accepts an offset from 0 to 2^53 - 1', async (t) => {
  const { get } = await build(t)
  for (const [given, offset] of [
    ['0', 0],
    ['00', 0],
    ['010', 10],
    ['9007199254740991', Number.MAX_SAFE_INTEGER],
  ] as const) {
    const { status, body } = await get(`/txs?address=${address}&offset=${given}`)
    t.equal(status, 200, given)
    t.equal(JSON.parse(body).offset, offset)
  }
})

t.test('GET /txs refuses any other offset', async (t) => {
  const { ledger, get } = await build(t)
  for (const given of [...noNumbers, '9007199254740992', '9007199254740993', '9'.repeat(400)]) {
    const shown = JSON.stringify(decodeURIComponent(given)).slice(1, -1)
    t.same(
      await get(`/txs?address=${address}&offset=${given}`),
      { status: 400, body: `{"error":"Invalid offset: ${shown}"}`, type },
      given,
    )
  }
  t.equal((await get(`/txs?address=${address}&offset=5&offset=6`)).body, '{"error":"Invalid offset: 5,6"}')
  t.same(ledger.asked, [], 'an invalid request does not reach the ledger')
})

t.test('GET /txs checks the address first, then limit, then offset', async (t) => {
  const { get } = await build(t)
  t.match((await get('/txs?limit=x&offset=y')).body, 'Invalid address type: undefined')
  t.match((await get('/txs?address=z&limit=x&offset=y')).body, 'Invalid address format: z')
  t.match((await get(`/txs?address=${address}&limit=x&offset=y`)).body, 'Invalid limit: x')
  t.match((await get(`/txs?address=${address}&limit=1&offset=y`)).body, 'Invalid offset: y')
})
