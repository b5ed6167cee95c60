import { Address } from '@dcspark/cardano-multiplatform-lib-nodejs'
import { until } from '@ratatosk/test-kit/http'
import t from 'tap'
import { backends } from '../test/backends.js'
import {
  allRejections,
  midgardAddressHex,
  midgardChain,
  midgardLength,
  missing,
  runMidgardNode,
  skipMidgard,
  wholeHistory,
} from '../test/midgard.js'
import { keepAliveClient } from '../test/node.js'

// Real transactions, one after the other, on an embedded database and on services.
t.setTimeout(600_000)

for (const backend of await backends()) {
  const skip = skipMidgard || backend.skip
  const length = midgardLength(backend.name)
  t.test(`${length} chained transactions on ${backend.name}`, { skip }, async (t) => {
    const node = await runMidgardNode(t, await backend.place(t))
    const client = keepAliveClient(t, node.url)
    const address = Address.from_hex(midgardAddressHex).to_bech32()
    const chain = midgardChain('txs_0').slice(0, length)
    const rival = midgardChain('txs_1').slice(0, length)

    await t.test('are all in the mempool ledger if they are submitted in order', async (t) => {
      for (const { cborHex } of chain) await client.submit(cborHex)
      const last = chain.at(-1)!.txId
      await until(async () => (await client.get(`/tx?tx_hash=${last}`)).status === 200)

      t.same(await missing(client, chain), [], '/tx finds each under its hash')
      const { utxos } = JSON.parse((await client.get(`/utxos?address=${address}`)).body)
      t.same(
        utxos.map(({ outref }: { outref: string }) => outref),
        [`825820${last}00`],
        'the tip of the chain is all that is unspent',
      )
      const cbors = chain.map(({ cborHex }) => cborHex)
      t.same(await wholeHistory(client, address, 100), cbors, '/txs has them all, oldest first')
      t.same(await wholeHistory(client, address, 77), cbors)
      t.same(await allRejections(node.store), [])
    })

    await t.test('all become dead letters if their inputs are spent by another chain', async (t) => {
      const ids = await Promise.all(rival.map(({ cborHex }) => client.submit(cborHex)))
      await until(async () => (await allRejections(node.store)).length === rival.length)
      const letters = new Map(
        (await allRejections(node.store)).map((letter) => [letter.submissionId, letter]),
      )
      for (const [index, id] of ids.entries()) {
        const letter = letters.get(id)
        // The input of the first is spent; the others wait for outputs that never come.
        const attempts = index === 0 ? 1 : 5
        if (letter?.code !== 'BadInputsUTxO' || letter.attempts !== attempts)
          t.match(letter, { code: 'BadInputsUTxO', attempts })
        const hash = Buffer.from(letter?.transactionId ?? []).toString('hex')
        if (hash !== rival[index]!.txId) t.equal(hash, rival[index]!.txId)
      }
      t.equal((await missing(client, rival)).length, rival.length, 'none is applied')
      t.equal((await wholeHistory(client, address, 500)).length, chain.length)
    })
  })
}
