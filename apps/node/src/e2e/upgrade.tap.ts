import { readFile } from 'node:fs/promises'
import { gunzipSync } from 'node:zlib'
import { inDatabase } from '@ratatosk/test-kit'
import { ask, until } from '@ratatosk/test-kit/http'
import t from 'tap'
import { backends } from '../test/backends.js'
import { runNode, submit } from '../test/node.js'
import { transferFrom } from '../test/transfers.js'

const postgres = (await backends()).find(({ name }) => name === 'PostgreSQL alone')

/**
 * What earlier commits left in PostgreSQL: a ledger, a queue, an index and a devnet, of a node with these
 * settings that accepted three transactions, merged two in blocks, and stopped with the third in its mempool.
 */
const settings = { MATURITY_WINDOW_MS: '500' }
const commits = ['71a9c27', '3592e6f']

for (const commit of commits) {
  t.test(`a deployment of ${commit} goes on`, { skip: postgres?.skip ?? 'no PostgreSQL' }, async (t) => {
    const place = await postgres?.place(t)
    const schema = place?.DATABASE_SCHEMA ?? ''
    const file = new URL(`../../src/test/upgrades/${commit}.sql.gz`, import.meta.url)
    const dump = gunzipSync(await readFile(file)).toString()
    await inDatabase(dump.replaceAll('upgrade_fixture', schema))
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
