import t from 'tap'
import { addressBytes, encode } from './test/addresses.js'
import { build } from './test/build.js'

const type = 'application/json; charset=utf-8'
const bytes = addressBytes(6, 0, Buffer.alloc(28, 7))
const address = encode('addr_test', bytes)

t.test('GET /utxos: output references and outputs, in CBOR', async (t) => {
  const { ledger, get } = await build(t)
  const transactionId = Buffer.alloc(32, 0xab)
  const output = Buffer.from('a200581d60', 'hex')
  ledger.utxos.set(
    bytes.toString('hex'),
    [0, 23, 24, 255, 256, 65_535].map((index) => ({ reference: { transactionId, index }, output })),
  )
  const outref = (index: string) => `825820${'ab'.repeat(32)}${index}`
  t.same(await get(`/utxos?address=${address}`), {
    status: 200,
    body: JSON.stringify({
      utxos: ['00', '17', '1818', '18ff', '190100', '19ffff'].map((index) => ({
        outref: outref(index),
        value: 'a200581d60',
      })),
    }),
    type,
  })
})

t.test('GET /utxos: an address without spendable outputs gives an empty array', async (t) => {
  const { get } = await build(t)
  t.same(await get(`/utxos?address=${address}`), { status: 200, body: '{"utxos":[]}', type })
})

t.test('GET /utxos: bytes that are a window on something larger stay inside it', async (t) => {
  const { ledger, get } = await build(t)
  const page = Buffer.alloc(100, 0xee)
  page.fill(0x11, 10, 42)
  ledger.utxos.set(bytes.toString('hex'), [
    {
      reference: { transactionId: page.subarray(10, 42), index: 1 },
      output: new Uint8Array(page.buffer, page.byteOffset + 10, 2),
    },
  ])
  const { body } = await get(`/utxos?address=${address}`)
  t.equal(body, JSON.stringify({ utxos: [{ outref: `825820${'11'.repeat(32)}01`, value: '1111' }] }))
})
