import { setTimeout as pause } from 'node:timers/promises'
import { toHex } from '@ratatosk/cbor'
import { blake2b256, outputReferenceKey } from '@ratatosk/ledger'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { keys, limits } from '../../test/devnet-harness.js'
import { type LocalServer, serve } from '../../test/http-server.js'
import type { Layer1 } from '../../types.js'
import { createKupmiosLayer1 } from './create-kupmios-layer1.js'

const policy = 'ab'.repeat(28)
const address = keys.addressText
const mebibyte = 1024 * 1024

let server: LocalServer
let outputs: ReturnType<typeof outputAt>[]
/** Whether Kupo resolves hashes. */
let resolves: boolean
/** Of an output that does not hold the policy's assets. */
let otherDatum: string | undefined
let answersDatum: (hash: string) => boolean
let pauseMs: number
let open: (options?: { readonly maxListBytes?: number; readonly requestTimeoutMs?: number }) => Layer1

/** An output with an inline datum of its own, 100 in a block. */
function outputAt(index: number) {
  const datum = `19${(index + 256).toString(16).padStart(4, '0')}`
  const name = toHex(blake2b256(Buffer.from(datum, 'hex')))
  return {
    transaction_id: index.toString(16).padStart(64, '0'),
    output_index: index % 3,
    address,
    value: { coins: 2_000_000, assets: { [`${policy}.${name}`]: 1 } },
    datum_hash: name,
    datum_type: 'inline',
    script_hash: null,
    created_at: { slot_no: Math.floor(index / 100), header_hash: 'ab'.repeat(32) },
    spent_at: null,
    datum,
  }
}

const range = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, index) => outputAt(from + index)).reverse()

function matchesBy(query: URLSearchParams) {
  const [after, before] = [
    Number(query.get('created_after') ?? 0),
    Number(query.get('created_before') ?? 1e9),
  ]
  const isResolved = resolves && query.has('resolve_hashes')
  const found = outputs
    .filter(({ created_at: { slot_no: slot } }) => slot >= after && slot <= before)
    .map(({ datum, ...match }) => (isResolved ? { ...match, datum, script: null } : match))
  const other = { ...found[0], value: { coins: 1, assets: {} }, datum_type: 'hash', datum: otherDatum }
  return isResolved && otherDatum !== undefined ? [other, ...found] : found
}

beforeEach(async () => {
  outputs = []
  resolves = true
  otherDatum = undefined
  answersDatum = () => true
  pauseMs = 0
  server = await serve(async (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://localhost')
    if (request.method === 'POST') {
      response.end(JSON.stringify({ jsonrpc: '2.0', result: { networkMagic: 42 } }))
      return
    }
    const [, kind, name = ''] = pathname.split('/')
    if (kind === 'datums') {
      const found = outputs.find(({ datum_hash: hash }) => hash === name)
      response.writeHead(answersDatum(name) ? 200 : 404).end(JSON.stringify({ datum: found?.datum }))
      return
    }
    const text = JSON.stringify(matchesBy(searchParams))
    for (let at = 0; at < text.length; at += text.length / 8) {
      if (pauseMs > 0) await pause(pauseMs)
      response.write(text.slice(at, at + text.length / 8))
    }
    response.end()
  })
  open = (options) =>
    createKupmiosLayer1({
      ...limits,
      ...options,
      kupoUrl: server.url,
      ogmiosUrl: server.url,
      networkMagic: 42,
    })
})

afterEach(() => server.close())

const requestsOf = (part: string) => server.requests.filter(({ url }) => url?.includes(part) === true)
const datumRequests = () => requestsOf('/datums/').length
const listRequests = () => requestsOf('/matches/').length

async function readAll(layer1: Layer1): Promise<void> {
  const read = await layer1.utxosAt(address, { policy })
  const datums = new Map(
    read.map(({ reference, output: { datum } }) => [
      outputReferenceKey(reference),
      datum.kind === 'inline' && toHex(datum.data),
    ]),
  )
  const wanted = outputs.map(({ transaction_id: id, output_index: index, datum }) => [
    `${id}#${index}`,
    datum,
  ])
  expect(datums).toEqual(new Map(wanted as [string, string][]))
}

test('reads the datums of many outputs in few answers, and none again', async () => {
  outputs = range(0, 5000)
  const layer1 = open()
  await readAll(layer1)
  expect([listRequests(), datumRequests()]).toEqual([3, 0])
  await readAll(layer1)
  expect([listRequests(), datumRequests()]).toEqual([4, 0])
  outputs = range(10, 5003)
  await readAll(layer1)
  expect([listRequests(), datumRequests()]).toEqual([5, 3])
  outputs = range(4000, 5100)
  await readAll(layer1)
  expect([listRequests(), datumRequests()]).toEqual([7, 3])
  const resolved = requestsOf('resolve_hashes').map(({ url }) => url?.split('&').slice(-2))
  expect(resolved.at(-1)).toEqual(['created_after=50', 'created_before=50'])
})

test('asks for the outputs of a policy only', async () => {
  outputs = range(0, 10)
  const layer1 = open()
  await readAll(layer1)
  expect(requestsOf(`/matches/${address}?unspent&policy_id=${policy}`)).toHaveLength(1)
  // As a version answers that does not know the parameter.
  expect(await layer1.utxosAt(address, { policy: 'cd'.repeat(28) })).toEqual([])
})

test('reads each datum once where Kupo does not resolve hashes', async () => {
  resolves = false
  outputs = range(0, 700)
  const layer1 = open()
  await readAll(layer1)
  await readAll(layer1)
  expect(datumRequests()).toBe(700)
  outputs = range(0, 800)
  await readAll(layer1)
  expect(datumRequests()).toBe(800)
  expect(requestsOf('resolve_hashes'), 'it is asked once').toHaveLength(1)
})

test('a read that fails is continued by the next', async () => {
  resolves = false
  outputs = range(0, 1200)
  const layer1 = open()
  const last = outputs[0]?.datum_hash
  answersDatum = (hash) => hash !== last
  await expect(layer1.utxosAt(address, { policy })).rejects.toMatchObject({ code: 'LAYER1_PROVIDER_ERROR' })
  const before = datumRequests()
  expect(before).toBeGreaterThan(1000)
  answersDatum = () => true
  await readAll(layer1)
  expect(datumRequests() - before).toBeLessThan(200)
})

test('asks for datums one by one where an answer has too much that is not wanted', async () => {
  outputs = range(0, 30)
  otherDatum = '00'.repeat(17 * mebibyte)
  await readAll(open())
  expect(datumRequests()).toBe(30)
})

test('a list that is too long is not read again and again', async () => {
  outputs = range(0, 100)
  await expect(open({ maxListBytes: 10_000 }).utxosAt(address)).rejects.toMatchObject({
    code: 'LAYER1_INVALID_ANSWER',
    message: 'Kupo has more than 10000 bytes of outputs in a list: raise maxListBytes, and the memory',
  })
  expect(listRequests()).toBe(1)
})

test('the time of a request is that of each part of a list', async () => {
  outputs = range(0, 5)
  pauseMs = 300
  await readAll(open({ requestTimeoutMs: 1500 }))
  expect(listRequests()).toBe(1)
})
