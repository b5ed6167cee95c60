import { CborWriter, fromHex, toHex } from '@ratatosk/cbor'
import { scriptHash } from '@ratatosk/ledger'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { keys, limits } from '../../test/devnet-harness.js'
import { type LocalServer, serve } from '../../test/http-server.js'
import type { Layer1 } from '../../types.js'
import { createBlockfrostLayer1 } from './create-blockfrost-layer1.js'

const address = keys.addressText
/** Requests that Blockfrost allows at once. */
const burst = 500
const transactionId = 'cc'.repeat(32)
const policy = 'ab'.repeat(28)

const scripts = Array.from({ length: 260 }, (_, slot) => ({
  json: { type: 'after', slot },
  hash: toHex(scriptHash('native', new CborWriter().array(2).uint(4).uint(slot).toBytes())),
}))
const items = scripts.map(({ hash }, index) => ({
  address,
  tx_hash: transactionId,
  output_index: index,
  amount: [
    { unit: 'lovelace', quantity: '1200000' },
    ...(index >= 250 ? [{ unit: `${policy}0${index}`, quantity: '1' }] : []),
  ],
  data_hash: null,
  inline_datum: null,
  reference_script_hash: hash,
}))

let server: LocalServer
let layer1: Layer1
let warnings: string[]

function bodyOf(path: string, page: number): unknown {
  const [, kind, name = '', part] = path.split('/')
  if (kind === 'genesis') return { network_magic: 42, system_start: 0 }
  if (kind === 'blocks') return { slot: 1000, hash: 'ab'.repeat(32), height: 7 }
  if (kind === 'txs') return { inputs: [], outputs: items }
  if (kind === 'addresses' && part === 'utxos') return items.slice(100 * (page - 1), 100 * page)
  const script = scripts.find(({ hash }) => hash === name)
  return script && (part === 'json' ? { json: script.json } : { type: 'timelock' })
}

beforeEach(async () => {
  vi.useFakeTimers({ toFake: ['Date'] })
  server = await serve((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://localhost')
    const body = bodyOf(pathname, Number(searchParams.get('page')))
    const status = server.requests.length > burst ? 429 : body === undefined ? 404 : 200
    response.writeHead(status).end(JSON.stringify(body ?? {}))
  })
  warnings = []
  const log = { warn: (fields: object) => warnings.push(Object.values(fields).join(' ')) }
  layer1 = createBlockfrostLayer1({ ...limits, url: server.url, networkMagic: 42, log })
})

afterEach(async () => {
  vi.useRealTimers()
  await server.close()
})

const indexesOf = (utxos: Awaited<ReturnType<Layer1['utxosAt']>>) =>
  utxos.map(({ reference }) => reference.index).sort((a, b) => a - b)
const range = (from: number, to: number) => Array.from({ length: to - from }, (_, index) => from + index)
const scriptRequests = () => server.requests.filter(({ url }) => url?.startsWith('/scripts/')).length

test('reads of an address with many reference scripts stay within the rate limit', async () => {
  expect(indexesOf(await layer1.utxosAt(address))).toEqual(range(0, 100))
  expect(indexesOf(await layer1.utxosAt(address))).toEqual(range(0, 100))
  expect(scriptRequests()).toBe(200)
  expect(warnings).toEqual([
    `Blockfrost ${address} too many outputs have a reference script; it is read later`,
  ])
  vi.advanceTimersByTime(20_000)
  expect(indexesOf(await layer1.utxosAt(address))).toEqual(range(0, 110))
  vi.advanceTimersByTime(86_400_000)
  expect(indexesOf(await layer1.utxosAt(address))).toEqual(range(0, 210))
  expect(scriptRequests()).toBe(420)
})

test('an output that is asked for is read', async () => {
  await layer1.utxosAt(address)
  const wanted = { transactionId: fromHex(transactionId), index: 249 }
  expect(indexesOf(await layer1.utxosByReferences([wanted]))).toEqual([249])
  const held = await layer1.utxosAt(address, { policy })
  expect(indexesOf(held)).toEqual(range(250, 260))
  expect(held.map(({ output }) => output.referenceScript?.language)).toEqual(Array(10).fill('native'))
})
