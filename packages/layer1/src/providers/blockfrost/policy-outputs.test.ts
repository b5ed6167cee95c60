import { describe, expect, it } from 'vitest'
import { keys } from '../../test/devnet-harness.js'
import { createLists } from './lists.js'
import { readUtxo } from './outputs.js'
import { createPolicyOutputs } from './policy-outputs.js'

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
