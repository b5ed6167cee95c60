import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { openStore } from '@ratatosk/store'
import { databaseUrl, inDatabase, randomName, whyMissing } from '@ratatosk/test-kit'
import t from 'tap'
import { openIndex } from './open-index.js'
import { genesis, History, numbersOf } from './test/history.js'
import { dumpIndex, unspentOf } from './test/world.js'

/** Accepted transactions; the follower is killed every thousand, and at least three times. */
const transactions = Number(process.env.RATATOSK_INDEX_TRANSACTIONS ?? 300)
const kills = Math.max(3, Math.round(transactions / 1000))
t.setTimeout(120_000 + transactions * 100)
const missing = await whyMissing('PostgreSQL')

t.test(
  'an index whose process is killed again and again equals one built anew',
  {
    skip: missing ?? false,
  },
  async (t) => {
    const schema = randomName()
    const [live, anew] = [`${schema}_live`, `${schema}_anew`]
    const store = await openStore({ url: databaseUrl, schema, maxConnections: 4 })
    let follower: ChildProcess | undefined
    const kill = async () => {
      if (follower === undefined) return
      const ended = once(follower, 'exit')
      follower.kill('SIGKILL')
      await ended
      follower = undefined
    }
    t.teardown(async () => {
      await kill()
      await store.close()
      await inDatabase([schema, live, anew].map((name) => `DROP SCHEMA IF EXISTS ${name} CASCADE`).join(';'))
    })
    const follow = async () => {
      follower = fork(new URL('test/follow.js', import.meta.url), {
        env: { ...process.env, SCHEMA: schema, INDEX: live },
      })
      await once(follower, 'message')
    }
    const lease = await store.leases.acquire('sequencer', 'a test', 3_600_000)
    if (lease === undefined) throw new Error('The lease is held')
    const history = new History(store, lease, numbersOf(3))
    await history.begin()
    await follow()

    const batch = transactions < 5000 ? 8 : 200
    let killed = 0
    while (history.happened.accepted < transactions || history.happened.undone === 0) {
      await history.step(batch)
      if (killed < kills && history.happened.accepted > ((killed + 1) * transactions) / (kills + 1)) {
        await kill()
        killed += 1
        // Transactions accepted meanwhile wait for the next process.
        await history.step(batch)
        await follow()
      }
    }
    await kill()
    t.equal(killed, kills)
    for (const kind of ['blocks', 'removed', 'undone', 'dropped'] as const) {
      t.ok(history.happened[kind] > 0, `${kind}: ${history.happened[kind]}`)
    }

    const dumps = []
    for (const own of [live, anew]) {
      const options = { database: store.database, schema: own, source: store.changes, genesis }
      const index = await openIndex({ ...options, waitMs: 600_000 })
      await index.caughtUp()
      await index.close()
      dumps.push(await dumpIndex(store.database, own))
    }
    t.ok((dumps[0]?.outputs?.length ?? 0) > genesis.length)
    t.strictSame(dumps[0], dumps[1], 'byte for byte')
    const unspent = await unspentOf(store.database, live, schema)
    t.strictSame(unspent.index, unspent.ledger, 'the unspent outputs are those of validation')
  },
)
