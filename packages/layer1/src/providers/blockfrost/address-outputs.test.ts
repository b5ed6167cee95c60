import { outputReferenceKey } from '@ratatosk/ledger'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { serveApis } from '../../test/devnet-apis.js'
import { type Devnet, emptyKeys, keys, limits, openDevnet } from '../../test/devnet-harness.js'
import type { Layer1 } from '../../types.js'
import { openWallet } from '../../wallet/open-wallet.js'
import { createDevnetLayer1 } from '../devnet/create-devnet-layer1.js'
import { createBlockfrostLayer1 } from './create-blockfrost-layer1.js'

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
