import t from 'tap'
import { serve } from './test/served-chain.js'

let long = ' '.repeat(256 * 1024)
const evaluate = '/blockfrost/api/v0/utils/txs/evaluate'
const transaction = { cbor: '84a0a0f5f6' }
const address = 'addr_test1vpu5vlrf4xkxv2qpwngf6cjhtw542ayty80v8dyr49rf5eg57c2qv'

t.test('refuses requests above 256 KiB', async (t) => {
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
  socket.send(long)
  t.equal(await closed, 1009)
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
