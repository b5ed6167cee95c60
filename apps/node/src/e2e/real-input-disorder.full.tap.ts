import { Address } from '@dcspark/cardano-multiplatform-lib-nodejs'
import { until } from '@ratatosk/test-kit/http'
import t, { type Test } from 'tap'
import { backends } from '../test/backends.js'
import {
  allRejections,
  type MidgardTransaction,
  midgardAddressHex,
  midgardChain,
  midgardFiles,
  midgardLength,
  missing,
  runMidgardNode,
  skipMidgard,
  wholeHistory,
} from '../test/midgard.js'
import { keepAliveClient, runNode } from '../test/node.js'

// Real transactions, one after the other, on an embedded database and on services.
t.setTimeout(600_000)

/** The same order in every run. */
function shuffled<T>(items: readonly T[], seed: number): T[] {
  let state = seed
  const next = () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state
  }
  return items
    .map((item) => ({ item, place: next() }))
    .sort((a, b) => a.place - b.place)
    .map(({ item }) => item)
}

const address = Address.from_hex(midgardAddressHex).to_bech32()

for (const backend of await backends()) {
  const skip = skipMidgard || backend.skip
  const length = midgardLength(backend.name)
  const start = async (t: Test) => {
    const node = await runMidgardNode(t, await backend.place(t))
    const client = keepAliveClient(t, node.url)
    return { node, client }
  }

  t.test(`accepts every transaction of a shuffled chain on ${backend.name}`, { skip }, async (t) => {
    const { node, client } = await start(t)
    const chain = midgardChain('txs_0').slice(0, length)
    const cbors = chain.map(({ cborHex }) => cborHex)
    const history = () => wholeHistory(client, address, 500)
    const settled = async () => (await history()).length + (await allRejections(node.store)).length
    // Resubmits what became a dead letter because its input arrived too late.
    let rest: readonly MidgardTransaction[] = shuffled(chain, 1)
    for (let round = 0; rest.length > 0; round++) {
      if (round === 20) throw new Error(`${rest.length} transactions are still missing after ${round} rounds`)
      const before = await settled()
      await Promise.all(rest.map(({ cborHex }) => client.submit(cborHex)))
      await until(async () => (await settled()) - before >= rest.length)
      const lost = new Set(await missing(client, rest))
      rest = rest.filter(({ txId }) => lost.has(txId))
    }
    t.same(await history(), cbors, 'in the order of the chain')
  })

  t.test(
    `applies each transaction once if it is submitted ten times, on ${backend.name}`,
    { skip },
    async (t) => {
      const { client } = await start(t)
      const chain = midgardChain('txs_0').slice(0, length / 2)
      const cbors = chain.map(({ cborHex }) => cborHex)
      await Promise.all(
        Array.from({ length: 10 }, async () => {
          for (const cbor of cbors) await client.submit(cbor)
        }),
      )
      await until(async () => (await wholeHistory(client, address, 500)).length >= chain.length)
      t.same(await missing(client, chain), [])
      t.same(await wholeHistory(client, address, 500), cbors)
      const { utxos } = JSON.parse((await client.get(`/utxos?address=${address}`)).body)
      t.equal(utxos.length, 1)
    },
  )

  t.test(`rejects every transaction under the specified fee, on ${backend.name}`, { skip }, async (t) => {
    const { genesis } = await midgardFiles(t)
    const node = await runNode(t, { ...(await backend.place(t)), GENESIS_FILE: genesis })
    const client = keepAliveClient(t, node.url)
    const chain = midgardChain('txs_0').slice(0, length)
    await Promise.all(chain.map(({ cborHex }) => client.submit(cborHex)))
    await until(async () => (await allRejections(node.store)).length === chain.length)
    const letters = await allRejections(node.store)
    t.same([...new Set(letters.map(({ code, attempts }) => `${code} ${attempts}`))], ['FeeTooSmallUTxO 1'])
    t.equal((await missing(client, chain)).length, chain.length)
  })
}
