import { once } from 'node:events'
import { Agent } from 'node:http'
import { connect } from 'node:net'
import { addressText } from '@ratatosk/chain-apis'
import { decodeAddress } from '@ratatosk/ledger'
import { generator, pick, type Random } from '@ratatosk/test-kit'
import { type Answer, ask } from '@ratatosk/test-kit/http'
import { alice, bob, draft, first, second } from '@ratatosk/test-kit/ledger-apis'
import t from 'tap'
import { WebSocket } from 'ws'
import { finalities } from './finality.js'
import { type Material, oddRequest, rpcText } from './test/odd-requests.js'
import { serveLayer2 } from './test/served-layer2.js'

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
