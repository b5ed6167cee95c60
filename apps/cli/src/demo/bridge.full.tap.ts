import { blake2b256, decodeTransaction } from '@ratatosk/ledger'
import t from 'tap'
import { run } from '../test/run.js'

// A node of its own, where many tests share the processor.
t.setTimeout(600_000)

t.test('100 ada come from layer 1, and 60 of them return', async (t) => {
  const { status, out, error } = await run(['demo', 'bridge', '--json'])
  t.equal(status, 0, error)
  const report = JSON.parse(out)
  t.match(report, {
    deposit: { id: /^[0-9a-f]{64}$/, outref: `${report.deposit?.id}#0` },
    payment: { txHash: /^[0-9a-f]{64}$/ },
    withdrawal: { outref: `${report.withdrawal?.txHash}#0`, headerHash: /^[0-9a-f]{56}$/ },
    arrived: '59700000',
    layer1: [{ what: 'deposit' }, { what: 'commit' }, { what: 'merge' }, { what: 'payout' }],
    slots: { zeroTime: Number, slotLength: Number },
    tookMs: Number,
  })
  for (const { what, txHash, cbor } of report.layer1) {
    const { body } = decodeTransaction(Buffer.from(cbor, 'hex'))
    t.equal(Buffer.from(blake2b256(body.bytes)).toString('hex'), txHash, what)
  }
  if (process.env.RATATOSK_TESTS !== 'full') t.ok(report.tookMs < 90_000, `${report.tookMs} ms`)
})

t.test('starts nodes of its own', async (t) => {
  const refused = await run(['demo', 'bridge', '--url', 'http://127.0.0.1:3000'])
  t.match(refused, { status: 2, error: /`demo bridge` starts nodes of its own: leave out --url/ })
})
