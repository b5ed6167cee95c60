import { fromHex, toHex } from '@ratatosk/cbor'
import { addressText } from '@ratatosk/chain-apis'
import { decodeTransaction } from '@ratatosk/ledger'
import { ask } from '@ratatosk/test-kit/http'
import { alice, bob, genesisOf } from '@ratatosk/test-kit/ledger-apis'
import t from 'tap'
import { backends } from '../test/backends.js'
import { manyTransfers } from '../test/many-transfers.js'
import { runNode } from '../test/node.js'

/** Enough for several pages, the last of which is not full. */
const held = 1_000
/** One more than Blockfrost's sums may be made of. */
const tooMany = 10_001

for (const backend of await backends()) {
  t.test(`outputs of a busy address: ${backend.name}`, { skip: backend.skip }, async (t) => {
    const { utxos } = genesisOf(Array(held).fill(bob.addressBytes), 2_000_000n)
    const { genesisFile, transfers } = await manyTransfers(t, tooMany, utxos)
    const node = await runNode(t, {
      ...(await backend.place(t)),
      GENESIS_FILE: genesisFile,
      AUTO_COMMIT: 'false',
    })
    const get = async (path: string) => {
      const { status, headers, body } = await ask(`${node.url}/l2${path}`)
      return { status, headers, body: JSON.parse(body) }
    }
    const referencesOf = (outputs: { transaction_id: string; output_index: number }[]) =>
      outputs.map(({ transaction_id, output_index }) => `${transaction_id}#${output_index}`)
    const outrefs = utxos.map(({ outref }) => outref)

    await t.test('Kupo sends them all, in both orders, also by payment credential', async (t) => {
      for (const pattern of [bob.address, `${toHex(bob.hash)}/*`]) {
        const oldest = await get(`/kupo/matches/${pattern}?unspent&order=oldest_first`)
        t.equal(oldest.status, 200)
        t.equal(oldest.headers['content-type'], 'application/json;charset=utf-8')
        t.same(referencesOf(oldest.body), outrefs)
        const newest = await get(`/kupo/matches/${pattern}`)
        t.same(referencesOf(newest.body), [...outrefs].reverse())
      }
      t.same((await get(`/kupo/matches/${bob.address}?spent`)).body, [])
      t.same((await get(`/kupo/matches/${alice.address}`)).body, [])
    })

    await t.test('Blockfrost adds them up, and sends them by pages', async (t) => {
      const { body } = await get(`/blockfrost/api/v0/addresses/${bob.address}`)
      t.same(body.amount, [{ unit: 'lovelace', quantity: String(held * 2_000_000) }])
      const { body: last } = await get(`/blockfrost/api/v0/addresses/${bob.address}/utxos?page=10`)
      t.same(
        last.map(
          ({ tx_hash, output_index }: { tx_hash: string; output_index: number }) =>
            `${tx_hash}#${output_index}`,
        ),
        outrefs.slice(900),
      )
    })

    await t.test('those of an address that has more than 10,000 are sent, but not added up', async (t) => {
      const { body } = decodeTransaction(fromHex(transfers[0]?.cborHex ?? ''))
      const holder = addressText(body.outputs[0]!.address)
      t.equal((await get(`/kupo/matches/${holder}`)).body.length, tooMany)
      const params = { addresses: [holder] }
      const { status: answered, body: answer } = await ask(`${node.url}/l2/ogmios`, {
        method: 'POST',
        body: JSON.stringify({ jsonrpc: '2.0', method: 'queryLedgerState/utxo', params }),
      })
      t.equal(answered, 200)
      t.equal(JSON.parse(answer).result.length, tooMany)
      const { status, body: refusal } = await get(`/blockfrost/api/v0/addresses/${holder}`)
      t.equal(status, 400)
      t.match(refusal.message, /More than 10000 outputs match/)
    })
  })
}
