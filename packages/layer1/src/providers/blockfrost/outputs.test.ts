import { CborWriter, fromHex, toHex } from '@ratatosk/cbor'
import { outputReferenceKey, scriptHash } from '@ratatosk/ledger'
import { afterEach, beforeEach, describe, expect, it, test, vi } from 'vitest'
import { type Devnet, emptyKeys, keys, limits, openDevnet, serveApis } from '../../test/devnet-harness.js'
import { type LocalServer, serve } from '../../test/http-server.js'
import type { Layer1 } from '../../types.js'
import { openWallet } from '../../wallet/open-wallet.js'
import { createDevnetLayer1 } from '../devnet/create-devnet-layer1.js'
import { createBlockfrostLayer1 } from './create-blockfrost-layer1.js'
import { createLists, createPolicyOutputs } from './output-lists.js'
import { readUtxo } from './outputs.js'

const policyId = 'ab'.repeat(28)
const rootUnit = policyId
const { signal } = new AbortController()

const block = (number: number) => policyId + (number + 1).toString(16).padStart(8, '0')

/** Blockfrost's view of one address, of which each test states the assets and outputs. */
function openServer() {
  /** Units in the order of their first mint; those without an output are burned. */
  const minted: string[] = []
  /** The unit of each output at the address, oldest first; undefined for an output without assets. */
  let outputs: (string | undefined)[] = []
  let tip = 0
  let requests = 0
  let whileReading: (path: string) => void = () => undefined

  const listOf = (path: string): readonly unknown[] => {
    const [, kind, name, , unit] = path.split('/')
    if (path === `/assets/policy/${policyId}`) {
      const left = new Set(outputs)
      return minted.map((asset) => ({ asset, quantity: left.has(asset) ? '1' : '0' }))
    }
    if (kind === 'assets') return outputs.includes(name) ? [{ address: keys.addressText, quantity: '1' }] : []
    const items = outputs.map((held, index) => ({
      tx_hash: (held ?? '').slice(56).padStart(64, '0'),
      output_index: held === undefined ? index % 65_536 : 0,
      address: keys.addressText,
      amount: [
        { unit: 'lovelace', quantity: '1000000' },
        ...(held === undefined ? [] : [{ unit: held, quantity: '1' }]),
      ],
      inline_datum: null,
      data_hash: null,
      reference_script_hash: held === undefined ? 'cd'.repeat(28) : null,
    }))
    return unit === undefined ? items : items.filter((_, index) => outputs[index] === unit)
  }

  async function find(text: string): Promise<unknown> {
    requests++
    const { pathname, searchParams } = new URL(text, 'http://localhost')
    whileReading(pathname)
    const all = [...listOf(pathname)]
    if (searchParams.get('order') === 'desc') all.reverse()
    const start = (Number(searchParams.get('page')) - 1) * 100
    return all.length === 0 ? undefined : all.slice(start, start + 100)
  }

  async function tipHash(): Promise<string> {
    requests++
    return String(tip)
  }

  const lists = createLists(find, tipHash)
  const read = createPolicyOutputs({
    lists,
    tipHash,
    holders: async (unit) =>
      (await lists.whole(`/assets/${unit}/addresses`, signal)).length > 0 ? ['a'] : [],
    outputsOf: (unit, holder) => lists.whole(`/addresses/${holder}/utxos/${unit}`, signal),
    readUtxos: async (items) => {
      const source = {
        scripts: () => Promise.reject(new Error('the script of an output without assets')),
        leaveOut: () => undefined,
      }
      const read = await Promise.all(items.map((item) => readUtxo(item, source, true, signal)))
      return read.filter((utxo) => utxo !== undefined)
    },
  })

  return {
    minted,
    put(next: readonly (string | undefined)[]) {
      outputs = [...next]
      tip++
    },
    onRequest(listener: (path: string) => void) {
      whileReading = listener
    },
    async read() {
      requests = 0
      const utxos = await read(policyId, signal)
      const units = utxos.flatMap(({ output }) =>
        [...(output.value.assets.get(policyId)?.keys() ?? [])].map((name) => policyId + name),
      )
      return { units: units.sort(), requests }
    },
  }
}

const dust = (count: number): undefined[] => Array.from({ length: count }, () => undefined)
const range = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, index) => block(from + index))

describe('outputs by policy at Blockfrost', () => {
  it('takes the same number of requests for 1,000 and for 100,000 outputs without assets', async () => {
    const counts: number[] = []
    for (const others of [1_000, 100_000]) {
      const server = openServer()
      server.minted.push(rootUnit, block(1), block(2))
      server.put([...dust(others), rootUnit, block(1), block(2)])
      const { units, requests } = await server.read()
      expect(units).toEqual([rootUnit, block(1), block(2)])
      counts.push(requests)
    }
    expect(counts[0]).toBe(counts[1])
    expect(counts[0]).toBeLessThanOrEqual(20)
  })

  it('reads many assets by pages, not one by one', async () => {
    const server = openServer()
    server.minted.push(rootUnit, ...range(0, 2000))
    server.put([rootUnit, ...range(0, 1000), ...dust(5000), ...range(1000, 2000)])
    const { units, requests } = await server.read()
    expect(units).toHaveLength(2001)
    expect(requests).toBeLessThan(110)
  })

  it('reads neither the whole list of burned assets nor anything twice at the same tip', async () => {
    const server = openServer()
    server.minted.push(rootUnit, ...range(0, 50_000))
    server.put([rootUnit, ...range(49_990, 50_000)])
    const first = await server.read()
    expect(first.units).toEqual([rootUnit, ...range(49_990, 50_000)])
    expect(first.requests).toBeLessThanOrEqual(20)
    expect(await server.read()).toEqual({ units: first.units, requests: 1 })

    server.minted.push(block(50_000))
    server.put([rootUnit, ...range(49_995, 50_001)])
    expect(await server.read()).toEqual({ units: [rootUnit, ...range(49_995, 50_001)], requests: 4 })
  })

  it('finds the root again when it is burned and minted again', async () => {
    const server = openServer()
    server.minted.push(rootUnit, ...range(0, 5000))
    server.put([rootUnit, ...range(4990, 5000)])
    await server.read()
    server.put([])
    expect((await server.read()).units).toEqual([])
    server.put([rootUnit])
    expect((await server.read()).units).toEqual([rootUnit])
  })

  it('finds an asset that it knows behind any number of burned ones', async () => {
    const server = openServer()
    server.minted.push(rootUnit, ...range(0, 300))
    server.put([rootUnit, block(200)])
    await server.read()
    server.minted.push(...range(300, 4000))
    server.put([rootUnit, block(200)])
    expect((await server.read()).units).toEqual([rootUnit, block(200)])
  })

  it('reads again if a block comes in between', async () => {
    const server = openServer()
    server.minted.push(rootUnit, block(1))
    server.put([rootUnit, ...dust(150), block(1)])
    let blocks = 0
    server.onRequest((path) => {
      if (!path.startsWith('/addresses/') || blocks++ > 0) return
      server.minted.push(block(2))
      server.put([rootUnit, ...dust(150), block(1), block(2)])
    })
    expect((await server.read()).units).toEqual([rootUnit, block(1), block(2)])
  })

  it('needs no pause between blocks if one page holds all outputs', async () => {
    const server = openServer()
    server.minted.push(rootUnit)
    server.put([rootUnit, ...dust(90)])
    server.onRequest(() => server.put([rootUnit, ...dust(90)]))
    expect((await server.read()).units).toEqual([rootUnit])
  })

  it('gives up if a block comes in between each time', async () => {
    const server = openServer()
    server.minted.push(rootUnit)
    server.put([...dust(100), rootUnit])
    server.onRequest(() => server.put([...dust(100), rootUnit]))
    await expect(server.read()).rejects.toMatchObject({ code: 'LAYER1_INVALID_ANSWER' })
  })
})

describe('address outputs', () => {
  /** Three pages of outputs. */
  const dust = 250
  const other = { address: emptyKeys.addressText, lovelace: 2_000_000n }

  let devnet: Devnet
  let apis: Awaited<ReturnType<typeof serveApis>>
  let layer1: Layer1
  let direct: Layer1
  let requests: string[]
  let whileReading: (path: string) => Promise<void> | void

  beforeEach(async () => {
    requests = []
    whileReading = () => undefined
    devnet = await openDevnet(dust)
    apis = await serveApis(devnet, async (path) => {
      requests.push(path)
      await whileReading(path)
    })
    layer1 = createBlockfrostLayer1({ ...limits, url: apis.blockfrost, networkMagic: 42 })
    direct = createDevnetLayer1(devnet)
    // A page of outputs is in the chain's transactions only if one of them was made there.
    await pay()
  })

  afterEach(async () => {
    await apis.close()
    await devnet.close()
  })

  async function pay(): Promise<void> {
    await openWallet({ layer1: direct, keys }).send({
      outputs: [other, { ...other, address: keys.addressText }],
    })
    await devnet.produceBlock()
  }

  async function sameAsChain(): Promise<void> {
    const keysOf = async (from: Layer1) =>
      (await from.utxosAt(keys.addressText)).map(({ reference }) => outputReferenceKey(reference)).sort()
    expect(await keysOf(layer1)).toEqual(await keysOf(direct))
  }

  const pagesRead = () => requests.filter((path) => path.includes('/utxos?')).length

  test('a list of many pages is read once, then what transactions changed', async () => {
    await sameAsChain()
    requests = []
    await sameAsChain()
    await pay()
    await sameAsChain()
    await pay()
    await pay()
    await sameAsChain()
    expect(pagesRead()).toBe(0)
    expect(requests.length).toBeLessThan(20)
    const read = requests.filter((path) => path.includes('/txs/'))
    expect(new Set(read).size).toBe(read.length)
  })

  test('a list is read anew after a roll-back', async () => {
    await pay()
    await sameAsChain()
    await devnet.rollBack(1)
    await pay()
    await sameAsChain()
    expect(pagesRead()).toBeGreaterThan(3)
  })

  test('an output that is spent while the pages are read hides no other', async () => {
    let spends = 1
    whileReading = async (path) => {
      if (path.includes('page=2') && spends-- > 0) await pay()
    }
    await sameAsChain()
    expect(spends).toBeLessThan(0)
  })

  test('a list that cannot be read whole again is followed', async () => {
    await sameAsChain()
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 600_000 })
    try {
      whileReading = async (path) => {
        if (path.includes('page=2')) await pay()
      }
      await expect(layer1.utxosAt(keys.addressText)).rejects.toMatchObject({ code: 'LAYER1_INVALID_ANSWER' })
      requests = []
      await sameAsChain()
      expect(pagesRead()).toBe(0)
      whileReading = () => undefined
      vi.advanceTimersByTime(600_000)
      await sameAsChain()
      expect(pagesRead()).toBeGreaterThan(2)
    } finally {
      vi.useRealTimers()
    }
  })
})

describe('remembered scripts', () => {
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
})
