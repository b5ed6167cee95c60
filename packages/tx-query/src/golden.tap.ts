import { golden } from '@ratatosk/test-kit/http'
import t from 'tap'
import { build } from './test/build.js'

interface Golden {
  readonly ledger: {
    readonly transactions: Readonly<Record<string, string>>
    readonly histories: Readonly<Record<string, readonly string[]>>
    readonly utxos: Readonly<
      Record<string, readonly { transactionId: string; index: number; output: string }[]>
    >
    readonly blocks: Readonly<Record<string, readonly string[]>>
  }
  readonly cases: readonly { readonly request: string; readonly status: number; readonly body: object }[]
}

const bytes = (hex: string) => Buffer.from(hex, 'hex')

t.test('answers as in the golden file', async (t) => {
  const { ledger: given, cases } = golden<Golden>(import.meta.url, 'test/golden.json')
  const { ledger, get } = await build(t)
  for (const [id, cbor] of Object.entries(given.transactions)) ledger.transactions.set(id, bytes(cbor))
  for (const [address, cbor] of Object.entries(given.histories))
    ledger.histories.set(address, cbor.map(bytes))
  for (const [hash, ids] of Object.entries(given.blocks)) ledger.blocks.set(hash, ids.map(bytes))
  for (const [address, utxos] of Object.entries(given.utxos)) {
    ledger.utxos.set(
      address,
      utxos.map(({ transactionId, index, output }) => ({
        reference: { transactionId: bytes(transactionId), index },
        output: bytes(output),
      })),
    )
  }
  for (const { request, status, body } of cases) {
    ledger.asked.length = 0
    t.same(
      await get(request.replace('GET ', '')),
      { status, body: JSON.stringify(body), type: 'application/json; charset=utf-8' },
      request,
    )
    t.equal(ledger.asked.length, status === 400 ? 0 : 1, 'an invalid request does not reach the ledger')
  }
})

t.test('GET /utxos encodes bytes that are a view of a larger buffer', async (t) => {
  const { ledger, get } = await build(t)
  const page = Buffer.alloc(100, 0xee)
  page.fill(0x11, 10, 42)
  ledger.utxos.set(`60${'11'.repeat(28)}`, [
    {
      reference: { transactionId: page.subarray(10, 42), index: 1 },
      output: new Uint8Array(page.buffer, page.byteOffset + 10, 2),
    },
  ])
  const { body } = await get('/utxos?address=addr_test1vqg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zygxrcya6')
  t.equal(body, JSON.stringify({ utxos: [{ outref: `825820${'11'.repeat(32)}01`, value: '1111' }] }))
})
