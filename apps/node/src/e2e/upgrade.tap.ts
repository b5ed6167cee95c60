import { readFile } from 'node:fs/promises'
import { gunzipSync } from 'node:zlib'
import { inDatabase } from '@ratatosk/test-kit'
import { ask, until } from '@ratatosk/test-kit/http'
import t, { type Test } from 'tap'
import { readSettings, startNode } from '../index.js'
import { backends, type Placement } from '../test/backends.js'
import { runNode, submit } from '../test/node.js'
import { transferFrom } from '../test/transfers.js'

const postgres = (await backends()).find(({ name }) => name === 'PostgreSQL alone')

/**
 * What earlier commits left in PostgreSQL: a ledger, a queue, an index and a devnet, of a node with these
 * settings that accepted three transactions, merged two in blocks, and stopped with the third in its mempool.
 */
const settings = { MATURITY_WINDOW_MS: '500', VERDICT_POLICIES: 'none' }
const skip = postgres?.skip ?? 'no PostgreSQL'
const commits = ['71a9c27', '3592e6f']

t.test('contracts with other verdict policies are refused', { skip }, async (t) => {
  const environment = { ...(await restore(t, '3592e6f')), ...settings, VERDICT_POLICIES: 'ledger' }
  await t.rejects(startNode(readSettings({ ...environment, PORT: '0', LOG_LEVEL: 'silent' })), {
    code: 'NODE_DATABASE',
    message: /are not in the state queue of these contracts/,
  })
})

for (const commit of commits) {
  t.test(`a deployment of ${commit} goes on`, { skip }, async (t) => {
    const place = await restore(t, commit)
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

/** The settings of a place that has what a commit left. */
async function restore(t: Test, commit: string): Promise<Placement> {
  const place = (await postgres?.place(t)) ?? {}
  const file = new URL(`../../src/test/upgrades/${commit}.sql.gz`, import.meta.url)
  const dump = gunzipSync(await readFile(file)).toString()
  await inDatabase(dump.replaceAll('upgrade_fixture', place.DATABASE_SCHEMA ?? ''))
  return place
}
