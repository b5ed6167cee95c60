import { ask, until } from '@ratatosk/test-kit/http'
import t from 'tap'
import { runNode, submit } from '../test/node.js'
import { transferFrom } from '../test/transfers.js'
import {
  restoreUpgrade,
  upgradeSettings as settings,
  upgradeCommits,
  upgradeGoesOn,
  upgradeSkip,
} from '../test/upgrade-fixtures.js'

// A node of another block version refuses them; migrate.tap.ts tests that.
const skip = upgradeGoesOn ? upgradeSkip : 'blocks of another version'

for (const commit of upgradeCommits) {
  t.test(`a deployment of ${commit} goes on`, { skip }, async (t) => {
    const place = await restoreUpgrade(t, commit)
    const { url, store } = await runNode(t, { ...place, ...settings })

    const merged = await store.blocks.range(1n, 2n)
    t.same(
      merged.map(({ state, transactions }) => [state, transactions]),
      [
        ['merged', 1],
        ['merged', 1],
      ],
    )
    const statusOf = async (id: string) =>
      JSON.parse((await ask(`${url}/tx/status?tx_hash=${id}`)).body).status
    const accepted = await Promise.all(
      merged.map(({ headerHash }) => store.blocks.transactionsOf(headerHash)),
    )
    for (const { id } of accepted.flat()) t.equal(await statusOf(Buffer.from(id).toString('hex')), 'merged')

    const { transfer } = await transferFrom(2, 0)
    t.equal((await submit(url, transfer.cborHex)).status, 200)
    await until(async () => (await statusOf(transfer.hash)) === 'merged', {
      what: 'what waited in the mempool and a new transaction are merged',
      timeoutMs: 240_000,
    })
    const all = await store.blocks.range(1n, 10n)
    t.equal(
      all.reduce((sum, { transactions }) => sum + transactions, 0),
      4,
    )
  })
}
