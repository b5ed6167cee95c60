import { setTimeout } from 'node:timers/promises'
import { until } from '@ratatosk/test-kit/http'
import t from 'tap'
import { serve } from './test/served-chain.js'

let long = ' '.repeat(512 * 1024)
const evaluate = '/blockfrost/api/v0/utils/txs/evaluate'
const transaction = { cbor: '84a0a0f5f6' }
const address = 'addr_test1vpu5vlrf4xkxv2qpwngf6cjhtw542ayty80v8dyr49rf5eg57c2qv'

t.test('refuses requests above 512 KiB', async (t) => {
  const { server, connect } = await serve(t)
  const post = async (url: string, type: string) =>
    (await server.inject({ method: 'POST', url, headers: { 'content-type': type }, payload: long }))
      .statusCode
  t.equal(await post('/ogmios', 'application/json'), 400, 'as long as that is read')
  long += ' '
  t.equal(await post('/ogmios', 'application/json'), 413)
  t.equal(await post(evaluate, 'application/cbor'), 413)
  t.equal(await post(`${evaluate}/utxos`, 'application/json'), 413)
  const { socket, closed } = await connect()
  const reason = new Promise((resolve) => socket.once('close', (_code, text) => resolve(String(text))))
  socket.send(long)
  t.equal(await closed, 1009)
  t.equal(await reason, 'A message may have at most 524288 bytes')
})

t.test('refuses more than 300 additional outputs', async (t) => {
  const { server } = await serve(t, { evaluate: async () => ({ kind: 'busy' }) })
  const post = (url: string, payload: object) => server.inject({ method: 'POST', url, payload })
  const id = '00'.repeat(32)
  for (const [count, status] of [
    [300, 503],
    [301, 400],
  ] as const) {
    const ogmios = Array.from({ length: count }, (_, index) => ({
      transaction: { id },
      index,
      address,
      value: { ada: { lovelace: 1 } },
    }))
    const params = { transaction, additionalUtxo: ogmios }
    const request = { jsonrpc: '2.0', method: 'evaluateTransaction', params }
    t.equal((await post('/ogmios', request)).statusCode, status)
    const pairs = Array.from({ length: count }, (_, index) => [
      { txId: id, index },
      { address, value: { coins: 1 } },
    ])
    const body = { ...transaction, additionalUtxoSet: pairs }
    t.equal((await post(`${evaluate}/utxos`, body)).statusCode, status)
  }
})

t.test('refuses lists that are too long', async (t) => {
  const { server } = await serve(t, { outputPages: async function* () {}, stakeDeposit: () => undefined })
  const key = '00'.repeat(28)
  const reference = { transaction: { id: '00'.repeat(32) }, index: 0 }
  for (const [method, name, entry, max, code] of [
    ['findIntersection', 'points', { slot: 1, id: '00'.repeat(32) }, 100, 1000],
    ['queryLedgerState/utxo', 'addresses', address, 100, undefined],
    ['queryLedgerState/utxo', 'outputReferences', reference, 1000, undefined],
    ['queryLedgerState/rewardAccountSummaries', 'keys', key, 100, undefined],
    ['queryLedgerState/rewardAccountSummaries', 'scripts', key, 100, undefined],
  ] as const) {
    const post = async (length: number) => {
      const params = { [name]: Array.from({ length }, () => entry) }
      const payload = { jsonrpc: '2.0', method, params }
      return (await server.inject({ method: 'POST', url: '/ogmios', payload })).json()
    }
    t.equal((await post(max)).error?.code, code, name)
    t.match((await post(max + 1)).error, {
      code: -32602,
      message: `Invalid parameters: ${name} may have at most ${max} entries.`,
    })
  }
})

t.test('refuses requests that nest deeper than 32 levels', async (t) => {
  const { server } = await serve(t)
  const post = (member: string, levels: number) => {
    const nested = '['.repeat(levels) + ']'.repeat(levels)
    const payload = `{"jsonrpc":"2.0","method":"queryNetwork/tip","${member}":${nested}}`
    return server.inject({ method: 'POST', url: '/ogmios', payload })
  }
  t.equal((await post('id', 31)).statusCode, 200)
  for (const [member, levels] of [
    ['id', 32],
    ['id', 100_000],
    ['params', 100_000],
  ] as const) {
    const { statusCode, body } = await post(member, levels)
    t.equal(statusCode, 400)
    t.match(JSON.parse(body), { error: { code: -32600 }, id: null })
  }
})

t.test('answers nothing more to a client that has left', async (t) => {
  let asked = 0
  let proceed = () => {}
  const { server, connect } = await serve(t, {
    async stakeDeposit() {
      asked++
      await new Promise<void>((resolve) => {
        proceed = resolve
      })
      return undefined
    },
  })
  const { socket, ask } = await connect()
  const keys = ['00'.repeat(28)]
  for (let count = 0; count < 10; count++) void ask('queryLedgerState/rewardAccountSummaries', { keys })
  await until(() => asked === 1)
  socket.terminate()
  const health = async () => (await server.inject('/ogmios/health')).json()
  await until(async () => (await health()).metrics.activeConnections === 0)
  proceed()
  await setTimeout(50)
  t.equal(asked, 1)
})

t.test('aborts an evaluation whose client leaves', async (t) => {
  const signals: (AbortSignal | undefined)[] = []
  const { url, connect } = await serve(t, {
    evaluate(_cbor, _additional, signal) {
      signals.push(signal)
      return new Promise((resolve) => {
        signal?.addEventListener('abort', () => resolve({ kind: 'busy' }))
      })
    },
  })
  const request = { jsonrpc: '2.0', method: 'evaluateTransaction', params: { transaction } }
  const leave = new AbortController()
  const post = (path: string, type: string, body: string) =>
    fetch(url + path, { method: 'POST', headers: { 'content-type': type }, body, signal: leave.signal })
  const left = [
    post('/ogmios', 'application/json', JSON.stringify(request)),
    post(evaluate, 'application/cbor', transaction.cbor),
    post(`${evaluate}/utxos`, 'application/json', JSON.stringify(transaction)),
  ].map((answer) => t.rejects(answer))
  const { socket } = await connect()
  socket.send(JSON.stringify(request))
  await until(() => signals.length === 4, { what: 'all have asked' })
  t.equal(signals.filter((signal) => signal?.aborted).length, 0)
  leave.abort()
  socket.terminate()
  await Promise.all(left)
  await until(() => signals.every((signal) => signal?.aborted), { what: 'all evaluations are aborted' })
})
