import { once } from 'node:events'
import { Agent } from 'node:http'
import { connect } from 'node:net'
import { toHex } from '@ratatosk/cbor'
import { addressText } from '@ratatosk/chain-apis'
import { decodeAddress } from '@ratatosk/ledger'
import { generator, hex, mutated, pick, type Random } from '@ratatosk/test-kit'
import { type Answer, ask, type Question } from '@ratatosk/test-kit/http'
import { alice, bob, draft, first, payment, second } from '@ratatosk/test-kit/ledger-apis'
import t from 'tap'
import { WebSocket } from 'ws'
import { finalities } from './finality.js'
import { serveLayer2 } from './test/served-layer2.js'

/** The values of requests: what the ledger knows, and much that is wrong. */
interface Material {
  readonly hashes: readonly string[]
  readonly addresses: readonly string[]
  readonly blocks: readonly string[]
}

const odd = [
  ...['', '0', '-1', '1e309', 'null', '*', '__proto__', '%00', '%ff%fe', '%F0%9F%98%80', '%27%22', '..%2f'],
  ...['%0d%0aX:1', '%E0%A4%A', 'a'.repeat(2000), '9'.repeat(400)],
]
const paths = {
  '/blockfrost/api/v0': [
    ...['/', '/genesis', '/blocks/latest', '/blocks/latest/txs', '/blocks/X', '/blocks/X/txs', '/mempool'],
    ...[
      '/txs/X',
      '/txs/X/utxos',
      '/txs/X/cbor',
      '/txs/X/metadata',
      '/txs/X/metadata/cbor',
      '/txs/X/redeemers',
    ],
    ...[
      '/addresses/X',
      '/addresses/X/utxos',
      '/addresses/X/utxos/X',
      '/addresses/X/total',
      '/epochs/X/parameters',
    ],
    ...['/network', '/network/eras', '/addresses/X/extended', '/assets', '/accounts/X/addresses/assets'],
    ...['/metadata/txs/labels', '/metadata/txs/labels/X', '/metadata/txs/labels/X/cbor'],
    ...['/txs/X/stakes', '/txs/X/withdrawals', '/txs/X/required_signers', '/mempool/X', '/pools/X'],
    ...['/assets/X/X', '/assets/X/history', '/assets/X/transactions', '/assets/X/utxos', '/scripts/X/utxos'],
    ...['/blocks/X/next', '/blocks/X/previous', '/blocks/X/txs/cbor', '/blocks/slot/X', '/epochs/X'],
    ...['/epochs/X/blocks', '/accounts/X/transactions', '/accounts/X/addresses/total', '/addresses/X/txs'],
    ...['/accounts/X/registrations', '/accounts/X/withdrawals', '/scripts/X/redeemers'],
    ...['/addresses/X/utxos/lovelace', '/governance/proposals/X/X', '/governance/dreps/X'],
    ...['/addresses/X/transactions', '/assets/X', '/assets/X/addresses', '/assets/policy/X', '/accounts/X'],
    ...[
      '/accounts/X/utxos',
      '/accounts/X/addresses',
      '/scripts/X',
      '/scripts/X/json',
      '/scripts/datum/X/cbor',
      '/scripts',
    ],
  ],
  '/kupo': [
    ...['/matches', '/matches/X', '/matches/X/X', '/matches/X@X', '/datums/X', '/scripts/X', '/checkpoints'],
    ...['/health', '/patterns', '/metrics', '/checkpoints/X', '/metadata/X', '/patterns/X', '/v1/matches/X'],
  ],
} as const
const parameters = {
  '/blockfrost/api/v0': ['count', 'page', 'order', 'from', 'to'],
  '/kupo': [
    'spent',
    'unspent',
    'order',
    'resolve_hashes',
    'policy_id',
    'asset_name',
    'transaction_id',
    'output_index',
    'created_after',
    'created_before',
    'spent_after',
    'spent_before',
    'strict',
  ],
} as const
const types = ['application/json', 'application/cbor', 'text/plain', 'application/xml', '']
const methods = [
  ...[
    'queryLedgerState/utxo',
    'queryLedgerState/tip',
    'queryLedgerState/protocolParameters',
    'queryNetwork/tip',
  ],
  ...['queryLedgerState/rewardAccountSummaries', 'queryNetwork/genesisConfiguration', 'evaluateTransaction'],
  ...['submitTransaction', 'acquireLedgerState', 'releaseLedgerState', 'hasTransaction', 'nextTransaction'],
  ...[
    'sizeOfMempool',
    'releaseMempool',
    'queryLedgerState/epoch',
    'queryLedgerState/eraSummaries',
    'nothing',
  ],
  ...['constructor', '__proto__', ''],
]
/** These may wait for the chain to change. */
const waiting = ['findIntersection', 'nextBlock', 'acquireMempool']
const names = [
  ...['outputReferences', 'addresses', 'keys', 'scripts', 'era', 'transaction', 'additionalUtxo', 'points'],
  ...['point', 'id', 'fields', '__proto__'],
]

function word(random: Random, { hashes, addresses, blocks }: Material): string {
  if (random() < 0.4) return pick(random, odd)
  return pick(random, [
    pick(random, hashes),
    pick(random, addresses),
    pick(random, blocks),
    hex(random, 28),
    '1',
  ])
}

/** A transaction in hex: valid, changed, or none. */
function transaction(random: Random): string {
  const valid = toHex(payment().cbor)
  return pick(random, [
    valid,
    mutated(random, valid),
    valid.slice(0, 60),
    '80',
    '84a0a0f5f6',
    'x',
    hex(random, 30),
  ])
}

function json(random: Random, material: Material, depth = 0): unknown {
  const choice = random()
  if (choice < 0.2 && depth < 4)
    return Array.from({ length: Math.floor(random() * 4) }, () => json(random, material, depth + 1))
  if (choice < 0.35 && depth < 4) {
    const keys = [
      'id',
      'transaction',
      'index',
      'slot',
      'cbor',
      'address',
      'value',
      'ada',
      'lovelace',
      'datum',
    ]
    const members = keys.filter(() => random() < 0.4)
    return Object.fromEntries(members.map((key) => [key, json(random, material, depth + 1)]))
  }
  const id = pick(random, material.hashes)
  return pick(random, [
    ...[null, 0, -1, 1.5, 1e308, 2 ** 53, true, '', '\u0000', '\ud800', word(random, material)],
    [{ transaction: { id }, index: 0 }],
    { slot: 1, id: pick(random, material.blocks) },
    { cbor: transaction(random) },
    pick(random, material.addresses),
    new Array(random() < 0.05 ? 1001 : 2).fill({ transaction: { id }, index: 0 }),
  ])
}

/** A JSON-RPC request. @param mayWait whether its answer may wait for the chain to change */
function rpcText(random: Random, material: Material, mayWait: boolean): string {
  const choice = random()
  if (choice < 0.04) return ''.padEnd(Math.floor(random() * 1000), pick(random, ['{', '[', '\u0000', 'x']))
  if (choice < 0.06) return '['.repeat(50_000)
  const id = random() < 0.05 ? JSON.parse('['.repeat(40) + ']'.repeat(40)) : json(random, material)
  const method = pick(random, mayWait ? [...methods, ...waiting] : methods)
  const params = Object.fromEntries(
    names.filter(() => random() < 0.2).map((name) => [name, json(random, material)]),
  )
  if (/^(evaluate|submit)/.test(method) && random() < 0.8) params.transaction = { cbor: transaction(random) }
  const text = JSON.stringify({ jsonrpc: random() < 0.98 ? '2.0' : 2, method, params, id })
  return random() < 0.05 ? text.slice(0, Math.floor(random() * text.length)) : text
}

/** A request to one of the APIs, below the path of a finality. */
function oddRequest(random: Random, material: Material): Question & { readonly path: string } {
  const headers: Record<string, string> = {}
  const type = pick(random, types)
  if (type !== '' && random() < 0.9) headers['content-type'] = type
  if (random() < 0.1) headers.accept = pick(random, ['text/html', 'x', '*/*'])
  if (random() < 0.02) headers['x-long'] = 'a'.repeat(20_000)
  if (random() < 0.35)
    return { path: '/ogmios', method: 'POST', headers, body: rpcText(random, material, false) }
  if (random() < 0.3) {
    const end = pick(random, ['/tx/submit', '/utils/txs/evaluate', '/utils/txs/evaluate/utxos'])
    const body = pick(random, [
      transaction(random),
      Buffer.from(transaction(random), 'hex'),
      JSON.stringify({ cbor: transaction(random), additionalUtxoSet: json(random, material) }),
      JSON.stringify(json(random, material)),
      'f'.repeat(random() < 0.1 ? 300_000 : 1000),
    ])
    return { path: `/blockfrost/api/v0${end}`, method: 'POST', headers, body }
  }
  const api = pick(random, ['/blockfrost/api/v0', '/kupo'] as const)
  const path = pick<string>(random, paths[api]).replaceAll('X', () => word(random, material))
  const query = parameters[api]
    .filter(() => random() < 0.2)
    .map((name) => `${name}=${word(random, material)}`)
  if (query.length > 0 && random() < 0.1) query.push(...query)
  const method = pick(random, ['GET', 'GET', 'GET', 'GET', 'HEAD', 'PUT', 'OPTIONS'])
  return { path: api + path + (query.length > 0 ? `?${query.join('&')}` : ''), method, headers: {} }
}

/** Requests and messages; `RATATOSK_LAYER2_FUZZ=100000` is the long run. */
const fuzzed = Number(process.env.RATATOSK_LAYER2_FUZZ ?? 1000)
const seed = Number(process.env.RATATOSK_LAYER2_SEED ?? Date.now() % 1_000_000)
const concurrency = 16
type CutOff = { readonly status: 'cut off'; readonly headers: Answer['headers']; readonly body: '' }
const messagesEach = 20
const lastOnes = ['queryNetwork/tip', 'evaluateTransaction']
t.setTimeout(60_000 + 40 * fuzzed)

t.test(`${fuzzed} odd requests and messages to the APIs of layer 2`, async (t) => {
  const layer2 = await serveLayer2()
  t.teardown(() => layer2.close())
  const ledger = await layer2.openLedger('accepted')(t)
  const url = new URL(ledger.ogmios).origin
  const paid = draft({
    inputs: [first],
    outputs: [alice, bob].map(({ addressBytes }) => ({ address: addressBytes, lovelace: 49_900_000n })),
    fee: 200_000n,
    signers: [alice],
  })
  await ledger.submit(paid.cbor)
  const { hash } = await ledger.produceBlock()
  const material: Material = {
    hashes: [paid.hash, second.slice(0, 64), 'ab'.repeat(32)],
    addresses: [alice, bob].map(({ addressBytes }) => addressText(decodeAddress(addressBytes))),
    blocks: [hash, ledger.genesisHash, 'cd'.repeat(32)],
  }

  const random = generator(seed)
  const agent = new Agent({ keepAlive: true, maxSockets: concurrency })
  t.teardown(() => agent.destroy())
  const statuses = new Map<string, number>()
  const count = (status: string) => statuses.set(status, (statuses.get(status) ?? 0) + 1)
  const wrong = new Set<string>()

  async function askOnce(): Promise<void> {
    const { path, ...question } = oddRequest(random, material)
    const target = `/${pick(random, finalities)}${path}`
    // The server closes the connection of a request that is too long, maybe before all of it is sent.
    const isLong = (question.body?.length ?? 0) > 200_000 || question.headers?.['x-long'] !== undefined
    const answer = ask(url + target, { ...question, ...(!isLong && { agent }) })
    const { status, headers, body } = await answer.catch((error): Awaited<typeof answer> | CutOff => {
      if (!isLong) throw error
      return { status: 'cut off', headers: {}, body: '' }
    })
    count(String(status))
    const what = `${question.method} ${target.slice(0, 120)} ${question.body?.toString().slice(0, 200)}: `
    if (Number(status) >= 500 && status !== 503) wrong.add(`${what}${status} ${body.slice(0, 200)}`)
    if (status === 503 && headers['retry-after'] === undefined) wrong.add(`${what}no Retry-After`)
    if (body !== '' && !isJson(body)) wrong.add(`${what}not JSON: ${body.slice(0, 100)}`)
    if (body.includes('-32603')) wrong.add(`${what}${body.slice(0, 200)}`)
  }

  async function converse(): Promise<void> {
    const socket = new WebSocket(`${url.replace('http', 'ws')}/${pick(random, finalities)}/ogmios`)
    await once(socket, 'open')
    socket.on('error', (error) => count(error.message))
    // The server ends a connection on which a message, or all that wait, are too long.
    let [longest, all, last] = [0, 0, lastOnes.length]
    const over = new Promise<void>((resolve) => {
      socket.on('close', (code) => {
        count(`closed ${code}`)
        if (code === 1006 && longest < 200_000 && all < 900_000)
          wrong.add(`a WebSocket was ended without a reason after ${all} characters`)
        resolve()
      })
      socket.on('message', (data) => {
        const text = String(data)
        const { id, error } = JSON.parse(text)
        count(error === undefined ? 'result' : `error ${error.code}`)
        if (error?.code === -32_603) wrong.add(text.slice(0, 300))
        if (id === 'the last one' && --last === 0) resolve()
      })
    })
    for (let sent = 0; sent < messagesEach; sent++) {
      const odd = rpcText(random, material, true)
      const text = random() < 0.005 ? odd.padEnd(300_000) : odd
      longest = Math.max(longest, text.length)
      all += text.length
      socket.send(random() < 0.05 ? Buffer.from(text) : text)
    }
    // Answers of each come in order.
    for (const method of lastOnes) socket.send(JSON.stringify({ jsonrpc: '2.0', method, id: 'the last one' }))
    await over
    socket.removeAllListeners('close').terminate()
  }

  let left = fuzzed
  const worker = async () => {
    while (left > 0) {
      const isLong = random() < 1 / messagesEach
      left -= isLong ? messagesEach : 1
      await (isLong ? converse() : random() < 0.01 ? cutOff(random, url) : askOnce())
    }
  }
  const start = performance.now()
  await Promise.all(Array.from({ length: concurrency }, worker))
  t.same([...wrong].slice(0, 20), [], `seed ${seed}`)
  t.comment(`${Math.round(performance.now() - start)} ms, seed ${seed}`)
  t.comment(
    [...statuses]
      .sort()
      .map(([status, times]) => `${status}: ${times}`)
      .join(', '),
  )
  for (const status of ['200', '400', '404', 'result', 'error -32600', 'error -32602'])
    t.ok(statuses.has(status), `${status} was answered`)
  t.equal((await ask(`${url}/accepted/kupo/health`)).status, 200)
})

/** A WebSocket whose frames are wrong, or end in the middle. */
async function cutOff(random: Random, url: string): Promise<void> {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  socket.on('error', () => {})
  const lines = ['GET /accepted/ogmios HTTP/1.1', 'Host: x', 'Upgrade: websocket', 'Connection: Upgrade']
  const key = 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=='
  socket.write(`${[...lines, key, 'Sec-WebSocket-Version: 13'].join('\r\n')}\r\n\r\n`)
  await once(socket, 'data')
  const length = Math.floor(random() * 200)
  socket.write(Buffer.from(Array.from({ length }, () => Math.floor(random() * 256))))
  socket.end(Buffer.from([0x81, 0xfe, 0xff, 0xff, 1, 2, 3, 4, 5]))
  await once(socket, 'close')
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
