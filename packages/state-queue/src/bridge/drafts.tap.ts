import t from 'tap'
import { build, bytes, hex } from './test/build.js'

const wallet = { utxos: ['82aa'], changeAddress: 'addr_test1vchange' }
const deposit = { kind: 'deposit', ...wallet, to: 'addr_test1vto', lovelace: '100000000' }
const outref = `${hex(32, 5)}#3`

t.test('POST /bridge/draft drafts a deposit', async (t) => {
  const { ports, post } = await build(t)
  ports.drafted = {
    kind: 'drafted',
    transaction: Uint8Array.of(0x84, 1),
    transactionId: bytes(32, 4),
    fee: 220_000n,
    id: bytes(32, 6),
    creditedFrom: 1_767_225_600_000n,
  }
  t.same(await post('/bridge/draft', deposit), {
    status: 200,
    body: {
      transaction: '8401',
      txHash: hex(32, 4),
      fee: '220000',
      id: hex(32, 6),
      creditedFrom: '2026-01-01T00:00:00.000Z',
    },
  })
  t.same(ports.requests.at(-1), {
    kind: 'deposit',
    utxos: [Buffer.from('82aa', 'hex')],
    changeAddress: 'addr_test1vchange',
    to: 'addr_test1vto',
    lovelace: 100_000_000n,
    assets: new Map(),
  })
  const unit = `${hex(28, 0xab).toUpperCase()}ff`
  await post('/bridge/draft', { ...deposit, assets: { [unit]: '7' }, datum: { hash: hex(32, 9) } })
  t.match(ports.requests.at(-1), {
    assets: new Map([[unit.toLowerCase(), 7n]]),
    datum: { kind: 'hash', hash: Buffer.from(bytes(32, 9)) },
  })
  await post('/bridge/draft', { ...deposit, datum: { inline: 'd87980' } })
  t.match(ports.requests.at(-1), { datum: { kind: 'inline', data: Buffer.from('d87980', 'hex') } })
})

t.test('POST /bridge/draft drafts a payout', async (t) => {
  const { ports, post } = await build(t)
  const drafted = { transaction: Uint8Array.of(0x84), transactionId: bytes(32, 4), fee: 440_000n }
  ports.drafted = { kind: 'drafted', ...drafted }
  t.same(await post('/bridge/draft', { kind: 'payout', ...wallet, outrefs: [outref] }), {
    status: 200,
    body: { transaction: '84', txHash: hex(32, 4), fee: '440000' },
  })
  t.match(ports.requests.at(-1), { outrefs: [outref] })
  t.same(ports.asked, ['payout'])
})

t.test('POST /bridge/draft says why there is no draft', async (t) => {
  const { ports, post } = await build(t)
  for (const [outcome, status, error] of [
    [{ kind: 'refused', reason: 'A deposit goes elsewhere' }, 400, 'A deposit goes elsewhere'],
    [{ kind: 'not owed', reason: 'Nothing is owed' }, 409, 'Nothing is owed'],
    [{ kind: 'busy' }, 503, 'Too many requests to the bridge wait: retry later'],
  ] as const) {
    ports.drafted = outcome
    t.same(await post('/bridge/draft', deposit), { status, body: { error } })
  }
})

t.test('POST /bridge/draft refuses malformed bodies, naming what is wrong', async (t) => {
  const { ports, post } = await build(t)
  const many = Array.from({ length: 501 }, () => '82')
  const assets = Object.fromEntries(Array.from({ length: 201 }, (_, n) => [`${hex(28, 1)}${hex(2, n)}`, '1']))
  const digits = 'Send a positive amount as decimal digits in a string'
  for (const [body, error] of [
    [[], 'Invalid body: list. Send a JSON object'],
    ['null', 'Invalid body: object. Send a JSON object'],
    [{}, 'Invalid kind: nothing. Send one of deposit, payout'],
    [{ kind: 'exit' }, 'Invalid kind: exit. Send one of deposit, payout'],
    [{ ...deposit, memo: 1 }, /^Invalid field: memo\. Send only kind, utxos, changeAddress, to, lovelace/],
    [{ ...deposit, utxos: [] }, /^Invalid utxos: \[\]\. Send a list of 1 to 500 outputs/],
    [{ ...deposit, utxos: many }, /^Invalid utxos: /],
    [{ ...deposit, utxos: ['8'] }, /^Invalid utxos: 8\. /],
    [{ ...deposit, utxos: ['zz'] }, /^Invalid utxos: zz\. /],
    [{ ...deposit, utxos: [7] }, /^Invalid utxos: 7\. /],
    [{ ...deposit, changeAddress: undefined }, 'Invalid changeAddress: nothing. Send an address'],
    [{ ...deposit, to: 'a'.repeat(201) }, /^Invalid to: a{200}…\. Send an address/],
    [{ ...deposit, lovelace: 5 }, `Invalid lovelace: 5. ${digits}`],
    [{ ...deposit, lovelace: '0' }, `Invalid lovelace: 0. ${digits}`],
    [{ ...deposit, lovelace: '45000000000000001' }, /^Invalid lovelace: /],
    [{ ...deposit, assets: [] }, /^Invalid assets: \[\]\. /],
    [{ ...deposit, assets }, /^Invalid assets: 201 units\. A deposit has at most 100 policies and assets/],
    [{ ...deposit, assets: { ada: '1' } }, /^Invalid assets: ada\. Send amounts by unit/],
    [{ ...deposit, assets: { [hex(28, 1)]: '-1' } }, /^Invalid assets\.(01)+: -1\. /],
    [{ ...deposit, datum: {} }, /^Invalid datum: \{\}\. Send \{ "inline"/],
    [{ ...deposit, datum: { hash: 'ab' } }, /^Invalid datum: /],
    [{ ...deposit, datum: { inline: '' } }, /^Invalid datum: /],
    [{ ...deposit, datum: { inline: '00', hash: hex(32, 1) } }, /^Invalid datum: /],
    [{ kind: 'payout', ...wallet, outrefs: [] }, /^Invalid outrefs: \[\]\. Send a list of 1 to 36/],
    [{ kind: 'payout', ...wallet, outrefs: ['x'] }, /^Invalid outrefs: x\. /],
    [{ kind: 'payout', ...wallet, outrefs: [outref, outref] }, `Invalid outrefs: ${outref}. Send each once`],
    [{ kind: 'payout', ...wallet, outrefs: [outref], to: 'a' }, /^Invalid field: to\. /],
  ] as const) {
    const answer = await post('/bridge/draft', body)
    t.equal(answer.status, 400, JSON.stringify(body).slice(0, 80))
    t.match(answer.body, { error })
  }
  t.same(ports.asked, [])
  t.equal((await post('/bridge/draft', '{"kind":')).status, 400)
  t.equal((await post('/bridge/draft', deposit, { 'content-type': 'text/plain' })).status, 415)
  t.equal((await post('/bridge/draft', { ...deposit, to: 'a'.repeat(600_000) })).status, 413)
})

t.test('POST /bridge/submit sends transactions of the bridge only', async (t) => {
  const { ports, post } = await build(t)
  const submit = () => post('/bridge/submit', { transaction: '84AA' })
  t.same(await submit(), { status: 400, body: { error: 'Not a transaction of the bridge' } })
  ports.submitted = { kind: 'sent', transactionId: bytes(32, 4) }
  t.same(await submit(), { status: 200, body: { txHash: hex(32, 4) } })
  t.same(ports.sent.at(-1), Buffer.from('84aa', 'hex'))
  ports.submitted = { kind: 'spent' }
  t.match(await submit(), { status: 409, body: { error: /^An input of the transaction is spent/ } })
  ports.submitted = { kind: 'refused', reason: 'Layer 1 refuses the transaction: too late' }
  t.match(await submit(), { status: 400, body: { error: 'Layer 1 refuses the transaction: too late' } })
  ports.submitted = { kind: 'busy' }
  t.equal((await submit()).status, 503)
  const sent = ports.sent.length
  for (const body of [
    {},
    { transaction: '' },
    { transaction: '8' },
    { transaction: 'zz' },
    { transaction: 5 },
  ])
    t.match(await post('/bridge/submit', body), { status: 400, body: { error: /^Invalid transaction: / } })
  const large = { transaction: '00'.repeat(16_385) }
  t.match(await post('/bridge/submit', large), { status: 400, body: { error: /at most 16384 bytes/ } })
  t.match(await post('/bridge/submit', { transaction: '84', sign: true }), { status: 400 })
  t.equal((await post('/bridge/submit', { transaction: '00'.repeat(30_000) })).status, 413)
  t.equal(ports.sent.length, sent)
})

t.test('POST /payout pays, for operators only', async (t) => {
  const { ports, post } = await build(t, { operatorToken: 'secret' })
  t.equal((await post('/payout', {})).status, 401)
  t.equal((await post('/payout', {}, { origin: 'https://page.example' })).status, 403)
  const authorization = 'Bearer secret'
  t.same(await post('/payout', {}, { authorization }), { status: 409, body: { error: 'Nothing is owed' } })
  ports.paid = { kind: 'paid', transactionIds: [bytes(32, 1), bytes(32, 2)], paid: 20, remaining: 3 }
  const request = { headerHash: hex(28, 9), limit: 20 }
  t.same(await post('/payout', request, { authorization }), {
    status: 200,
    body: { txHashes: [hex(32, 1), hex(32, 2)], paid: 20, remaining: 3 },
  })
  t.same(ports.requests.at(-1), { headerHash: bytes(28, 9), limit: 20 })
  const asked = ports.asked.length
  for (const [body, error] of [
    [{ limit: 0 }, 'Invalid limit: 0. Send a whole number from 1 to 10000'],
    [{ limit: '5' }, /^Invalid limit: 5\. /],
    [{ headerHash: 'ab' }, /^Invalid headerHash: ab\. /],
    [{ all: true }, 'Invalid field: all. Send only headerHash, limit'],
  ] as const)
    t.match(await post('/payout', body, { authorization }), { status: 400, body: { error } })
  t.equal(ports.asked.length, asked)
})
