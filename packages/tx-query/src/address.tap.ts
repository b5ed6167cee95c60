import t from 'tap'
import {
  addressBytes,
  encode,
  foreign,
  keyAddresses,
  keylessAddresses,
  undecodable,
} from './test/addresses.js'
import { build } from './test/build.js'

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
