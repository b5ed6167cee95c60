import { Address } from '@dcspark/cardano-multiplatform-lib-nodejs'
import t, { type Test } from 'tap'
import { bothBackends } from '../test/backends.js'
import { keepAliveClient } from '../test/keep-alive-client.js'
import { allRejections, missing, wholeHistory } from '../test/ledger-checks.js'
import { midgardFiles, runMidgardNode } from '../test/midgard-node.js'
import { runNode } from '../test/node.js'
import { until } from '../test/until.js'
import { type MidgardTransaction, midgardAddressHex, midgardChain, vectorsMissing } from '../test/vectors.js'

t.setTimeout(600_000)

/** The same disorder in every run. */
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

for (const backend of await bothBackends()) {
  const skip = vectorsMissing || backend.skip
  const start = async (t: Test) => {
    const node = await runMidgardNode(t, await backend.place(t))
    const client = keepAliveClient(t, node.url)
    return { node, client }
  }

  t.test(`shuffled, on ${backend.name}: all arrive`, { skip }, async (t) => {
    const { node, client } = await start(t)
    const chain = midgardChain('txs_0')
    const cbors = chain.map(({ cborHex }) => cborHex)
    const history = () => wholeHistory(client, address, 500)
    const settled = async () => (await history()).length + (await allRejections(node.store)).length
    // A client submits again what became a dead letter because its input came too late.
    let rest: readonly MidgardTransaction[] = shuffled(chain, 1)
    while (rest.length > 0) {
      const before = await settled()
      await Promise.all(rest.map(({ cborHex }) => client.submit(cborHex)))
      await until(async () => (await settled()) - before >= rest.length)
      const lost = new Set(await missing(client, rest))
      rest = rest.filter(({ txId }) => lost.has(txId))
    }
    t.same(await history(), cbors, 'in the order of the chain')
  })

  t.test(`ten times at once, on ${backend.name}: each is applied once`, { skip }, async (t) => {
    const { client } = await start(t)
    // Ten thousand submissions take minutes where one thread is client, server and database.
    const chain = midgardChain('txs_0').slice(0, backend.name === 'embedded' ? 100 : 1000)
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
  })

  t.test(`with the fee of the document, on ${backend.name}: each is rejected`, { skip }, async (t) => {
    const { genesis } = await midgardFiles(t)
    const node = await runNode(t, { ...(await backend.place(t)), GENESIS_FILE: genesis })
    const client = keepAliveClient(t, node.url)
    const chain = midgardChain('txs_0')
    await Promise.all(chain.map(({ cborHex }) => client.submit(cborHex)))
    await until(async () => (await allRejections(node.store)).length === chain.length)
    const letters = await allRejections(node.store)
    t.same([...new Set(letters.map(({ code, attempts }) => `${code} ${attempts}`))], ['FeeTooSmallUTxO 1'])
    t.equal((await missing(client, chain)).length, chain.length)
  })
}
