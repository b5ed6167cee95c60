import { CborWriter } from '@ratatosk/cbor'
import { decodeTransaction, decodeTransactionOutput } from '@ratatosk/ledger'
import { until } from '@ratatosk/test-kit/http'
import { payment } from '@ratatosk/test-kit/ledger-apis'
import t from 'tap'
import { ChainUnavailableError } from './errors.js'
import { serve } from './test/served-chain.js'
import { addressText } from './view/address-text.js'
import type { ChainOutput, ChainView } from './view/chain-view.js'

const pageLength = 128
const address = new Uint8Array(29).fill(0x60, 0, 1)
const output = decodeTransactionOutput(new CborWriter().array(2).bytes(address).uint(2_000_000n).toBytes())
const policy = '11'.repeat(28)
const created = { block: { height: 0, slot: 0n, hash: '00'.repeat(32) }, position: 0 }

function outputsOf(page: number, length: number): ChainOutput[] {
  const transactionHash = page.toString(16).padStart(64, '0')
  return Array.from({ length }, (_, index) => {
    const key = `${transactionHash}#${index}`
    return { key, transactionHash, index, output, created, collateralReturn: false }
  })
}

/** Outputs in pages, and how many pages were read. */
function chainOf(pages: number) {
  const read = { pages: 0, ended: false }
  const outputPages: ChainView['outputPages'] = async function* () {
    try {
      for (let page = 0; page < pages; page++) {
        read.pages++
        yield outputsOf(page, pageLength)
      }
    } finally {
      read.ended = true
    }
  }
  return { read, outputPages }
}

const request = { jsonrpc: '2.0', method: 'queryLedgerState/utxo', params: {}, id: 7 }
const post = { method: 'POST', body: JSON.stringify(request) }

t.test('Kupo and Ogmios send any number of outputs', async (t) => {
  const pages = 3
  const { outputPages } = chainOf(pages)
  const { server, connect } = await serve(t, { outputPages }, { maxOutputs: 1 })
  const keyOf = (id: string, index: number) => `${Number.parseInt(id, 16)}#${index}`
  const all = Array.from(
    { length: pages * pageLength },
    (_, n) => `${Math.floor(n / pageLength)}#${n % pageLength}`,
  )
  const matches = (await server.inject('/kupo/matches')).json()
  t.same(
    matches.map((match: { transaction_id: string; output_index: number }) =>
      keyOf(match.transaction_id, match.output_index),
    ),
    all,
  )
  const utxo = (result: { transaction: { id: string }; index: number }[]) =>
    result.map(({ transaction, index }) => keyOf(transaction.id, index))
  const posted = (await server.inject({ method: 'POST', url: '/ogmios', payload: request })).json()
  t.match(posted, { method: request.method, id: 7 })
  t.same(utxo(posted.result), all, 'by POST')
  t.same(utxo((await (await connect()).ask(request.method)).result), all, 'by WebSocket')
})

t.test('answers with many assets are whole', async (t) => {
  const [count, assets] = [50, 1000]
  const names = new Map(Array.from({ length: assets }, (_, name) => [name.toString(16).padStart(4, '0'), 1n]))
  const rich = { ...output, value: { lovelace: 2_000_000n, assets: new Map([[policy, names]]) } }
  const outputs = outputsOf(0, count).map((found): ChainOutput => ({ ...found, output: rich }))
  const outputPages: ChainView['outputPages'] = async function* () {
    yield outputs
  }
  const { server, connect } = await serve(t, {
    outputs: () => outputs,
    outputPages,
    transaction: () => undefined,
  })
  const get = async (url: string) => (await server.inject(url)).json()
  const text = addressText(output.address)
  t.equal((await get(`/blockfrost/api/v0/addresses/${text}/utxos`))[count - 1].amount.length, assets + 1)
  t.equal((await get(`/blockfrost/api/v0/txs/${'0'.repeat(64)}/utxos`)).outputs[0].amount.length, assets + 1)
  t.equal(Object.keys((await get('/kupo/matches'))[count - 1].value.assets).length, assets)
  const { result } = await (await connect()).ask(request.method)
  t.equal(Object.keys(result[count - 1].value[policy]).length, assets)
})

t.test('without outputs, the answer is an empty list', async (t) => {
  const { server, connect } = await serve(t, { outputPages: chainOf(0).outputPages })
  t.equal((await server.inject('/kupo/matches')).body, '[]')
  t.same((await server.inject({ method: 'POST', url: '/ogmios', payload: request })).json().result, [])
  t.same((await (await connect()).ask(request.method)).result, [])
})

t.test('HEAD has the fields of GET and reads no output', async (t) => {
  const { read, outputPages } = chainOf(3)
  const { server } = await serve(t, { outputPages })
  const { statusCode, headers, body } = await server.inject({ method: 'HEAD', url: '/kupo/matches' })
  t.match({ statusCode, body }, { statusCode: 200, body: '' })
  t.match(headers, { 'content-type': 'application/json;charset=utf-8', etag: '00'.repeat(32) })
  t.equal(headers['content-length'], undefined)
  t.equal(read.pages, 0)
  t.equal((await server.inject({ method: 'HEAD', url: '/kupo/matches/no-pattern' })).statusCode, 400)
})

t.test('an error of the first page is an answer', async (t) => {
  const outputPages: ChainView['outputPages'] = async function* () {
    yield* []
    throw Object.assign(new Error('The index is behind'), { name: 'ChainUnavailableError', statusCode: 503 })
  }
  const { server } = await serve(t, { outputPages })
  for (const asked of ['/kupo/matches', { method: 'POST', url: '/ogmios', payload: request } as const]) {
    const { statusCode, headers } = await server.inject(asked)
    t.same([statusCode, headers['retry-after']], [503, '1'])
  }
})

t.test('an error of a later page closes the WebSocket', async (t) => {
  const { outputPages } = chainOf(2)
  const failing: ChainView['outputPages'] = async function* (...query) {
    yield* outputPages(...query)
    throw new Error('lost')
  }
  const { connect } = await serve(t, { outputPages: failing })
  const { ask, closed } = await connect()
  void ask(request.method)
  t.equal(await closed, 1006)
})

t.test('an error of a later page breaks an answer by HTTP', async (t) => {
  const { outputPages } = chainOf(20)
  const failing: ChainView['outputPages'] = async function* (...query) {
    yield* outputPages(...query)
    throw new ChainUnavailableError('The ledger has undone transactions')
  }
  const { url } = await serve(t, { outputPages: failing })
  for (const answer of [await fetch(`${url}/kupo/matches`), await fetch(`${url}/ogmios`, post)]) {
    t.equal(answer.status, 200)
    await t.rejects(answer.text(), { message: 'terminated' })
  }
})

t.test('reads eight pages at a time, of which both APIs have their share', async (t) => {
  let reading = 0
  let most = 0
  let proceed = () => {}
  const proceeds = new Promise<void>((resolve) => {
    proceed = resolve
  })
  const outputPages: ChainView['outputPages'] = async function* () {
    most = Math.max(most, ++reading)
    await proceeds
    reading--
    yield outputsOf(0, 1)
  }
  const { url } = await serve(t, { outputPages })
  const status = async (path: string, init?: RequestInit) => {
    const answer = await fetch(url + path, init)
    await answer.text()
    return answer.status
  }
  const lists = Array.from({ length: 20 }, (_, number) =>
    number % 2 === 0 ? status('/kupo/matches') : status('/ogmios', post),
  )
  await until(() => reading === 8)
  // Requests before it were taken, so none of them is read beyond the limit.
  t.equal(await status('/kupo/health'), 200)
  t.equal(most, 8)
  proceed()
  t.same(new Set(await Promise.all(lists)), new Set([200]))
})

t.test('resolves the hashes of a page by one question', async (t) => {
  const asked = { datums: 0, transactions: 0 }
  const hash = new Uint8Array(32).fill(7)
  const datum = Uint8Array.of(0x18, 0x2a)
  const outputPages: ChainView['outputPages'] = async function* () {
    yield outputsOf(0, pageLength).map(
      (found): ChainOutput => ({
        ...found,
        output: { ...output, datum: { kind: 'hash', hash } },
        spent: { ...created, transactionHash: 'ff'.repeat(32), by: 'inputs' },
      }),
    )
  }
  const { server } = await serve(t, {
    outputPages,
    datums(hashes) {
      asked.datums++
      return new Map(hashes.map((each) => [each, datum]))
    },
    transactions(hashes) {
      asked.transactions++
      const spender = decodeTransaction(payment().cbor)
      return new Map(hashes.map((each) => [each, spender]))
    },
  })
  const matches = (await server.inject('/kupo/matches?resolve_hashes')).json()
  t.equal(matches.length, pageLength)
  for (const match of matches) t.match(match, { datum: '182a', spent_at: { redeemer: null } })
  t.same(asked, { datums: 1, transactions: 1 })
})

t.test('the search ends when the client leaves, whether it finds anything or not', async (t) => {
  const { read, outputPages } = chainOf(Number.POSITIVE_INFINITY)
  const { connect, url } = await serve(t, { outputPages })
  for (const path of ['/kupo/matches', `/kupo/matches/${policy}.*`, '/ogmios']) {
    Object.assign(read, { pages: 0, ended: false })
    const leaving = new AbortController()
    const answer = fetch(url + path, { signal: leaving.signal, ...(path === '/ogmios' && post) })
    const { body } = await answer
    await until(() => read.pages > 2, { what: `${path} is searched` })
    leaving.abort()
    await body?.cancel().catch(() => {})
    await until(() => read.ended, { what: `the search for ${path} ends` })
  }
  Object.assign(read, { pages: 0, ended: false })
  const { socket, ask } = await connect()
  void ask(request.method)
  await until(() => read.pages > 2)
  socket.terminate()
  await until(() => read.ended, { what: 'the search by WebSocket ends' })
})
