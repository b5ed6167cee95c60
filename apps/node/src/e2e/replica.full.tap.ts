import { setTimeout as sleep } from 'node:timers/promises'
import { openPostgres } from '@ratatosk/database'
import { ownPostgres, ownRedis } from '@ratatosk/test-kit'
import { ask, until } from '@ratatosk/test-kit/http'
import t from 'tap'
import { checkEnvironment, readSettings } from '../index.js'
import { temporaryDirectory } from '../test/backends.js'
import { refusalOf, runNode, submit } from '../test/node.js'
import { transferFrom } from '../test/transfer.js'

const maxLagMs = 2000
/** For how long the replica is stopped. */
const stopMs = Number(process.env.RATATOSK_REPLICA_STOP_MS ?? 5000)

t.test('a reader reads from a replica, and is not ready while that is too far behind', async (t) => {
  const [primary, redis] = [await ownPostgres(), await ownRedis('noeviction')]
  if (primary === undefined || redis === undefined) throw new Error('A server is not installed')
  t.teardown(() => Promise.all([primary.close(), redis.close()]))
  const replica = await primary.replica()
  t.teardown(() => replica.close())
  const control = openPostgres({ url: replica.url, maxConnections: 1 })
  t.teardown(() => control.close())

  const place = { DATABASE_URL: primary.url, REDIS_URL: redis.url }
  const node = await runNode(t, { ...place, DATA_DIR: await temporaryDirectory(t) })
  const forReader = {
    ...place,
    NODE_ROLE: 'reader',
    REPLICA_MAX_LAG_MS: String(maxLagMs),
    SERVE_METRICS: 'true',
  }
  t.match(
    await refusalOf({ ...forReader, DATABASE_READ_URL: primary.url }),
    /The replica of DATABASE_READ_URL, .* cannot be used: .* is no replica: it takes writes/,
  )
  const own = await checkEnvironment(
    readSettings({ ...forReader, PORT: '0', DATABASE_READ_URL: primary.url }),
  )
  t.match(
    own.find(({ subject }) => subject === 'replica'),
    { status: 'failed', message: /is no replica/ },
  )
  const checked = await checkEnvironment(
    readSettings({ ...forReader, PORT: '0', DATABASE_READ_URL: replica.url }),
  )
  t.same(
    checked.filter(({ subject, status }) => subject === 'replica' && status !== 'ok'),
    [],
  )
  const reader = await runNode(t, { ...forReader, DATABASE_READ_URL: replica.url })
  const blockfrost = `${reader.url}/l2/blockfrost/api/v0`
  const ready = async () => JSON.parse((await ask(`${reader.url}/health/ready`)).body)
  const shown = async (address: string) =>
    JSON.parse((await ask(`${reader.url}/utxos?address=${address}`)).body).utxos.length

  const first = await transferFrom(2, 0)
  const submitted = await ask(`${blockfrost}/tx/submit`, {
    method: 'POST',
    headers: { 'content-type': 'application/cbor' },
    body: Buffer.from(first.transfer.cborHex, 'hex'),
  })
  t.equal(submitted.status, 200, 'a submission goes to the queue, and its result comes from the replica')
  t.equal(await shown(first.receiver), 1)
  const outputs = `${blockfrost}/addresses/${first.receiver}/utxos`
  t.equal(JSON.parse((await ask(outputs)).body).length, 1)
  await until(async () => (await ready()).status === 'ready')
  t.match((await ask(`${reader.url}/metrics`)).body, /^ratatosk_replica_lag_seconds [\d.]+$/m)
  t.ok((await ready()).replicaLagMs < maxLagMs, 'health says how far the replica is behind at most')

  // The fee output of its block is one more step for the index, without which a stopped replica answers 503.
  const firstStatus = `${reader.url}/tx/status?tx_hash=${first.transfer.hash}`
  await until(async () => JSON.parse((await ask(firstStatus)).body).status === 'committed')
  await until(async () => (await ask(outputs)).status === 200)
  await control.run('SELECT pg_wal_replay_pause()', [])
  const paused = "SELECT 1 WHERE pg_get_wal_replay_pause_state() = 'paused'"
  await until(async () => (await control.run(paused, [])).rows.length === 1, { what: 'the replica stands' })
  const second = await transferFrom(2, 1)
  t.equal((await submit(node.url, second.transfer.cborHex)).status, 200)
  const status = `${reader.url}/tx/status?tx_hash=${second.transfer.hash}`
  await until(async () => JSON.parse((await ask(status)).body).status !== 'queued')
  t.not(JSON.parse((await ask(status)).body).status, 'unknown', 'what has left the queue is never unknown')
  t.equal(await shown(second.receiver), 0, 'the replica shows the past')
  t.match(await ask(outputs), { status: 200 }, 'and so do the APIs for SDKs')
  await until(async () => (await ready()).status === 'not_ready')
  t.match(await ready(), {
    failing: ['database'],
    reasons: { database: /^the replica of DATABASE_READ_URL is up to \d+ s behind$/ },
    replicaLagMs: Number,
  })

  await control.run('SELECT pg_wal_replay_resume()', [])
  await until(async () => (await ready()).status === 'ready', { what: 'the reader is ready again' })
  t.equal(await shown(second.receiver), 1)
  t.equal(JSON.parse((await ask(`${blockfrost}/addresses/${second.receiver}/utxos`)).body).length, 1)

  await replica.stop()
  await until(async () => (await ready()).status === 'not_ready', { what: 'the reader is not ready' })
  const noReplica = 'The replica does not answer: start PostgreSQL, or correct DATABASE_READ_URL'
  t.match(await ready(), { reasons: { database: noReplica } })
  const third = await transferFrom(2, 2)
  t.equal((await submit(node.url, third.transfer.cborHex)).status, 200, 'the primary goes on')
  for (const path of [`${reader.url}/utxos?address=${third.receiver}`, outputs]) {
    const { status, body } = await ask(path)
    t.equal(status, 500, `refused, as without any database: ${body}`)
  }
  t.equal((await ask(`${reader.url}/health/live`)).status, 200)
  await sleep(stopMs)
  t.match(await ready(), { status: 'not_ready', failing: ['database'] })
  await replica.start()
  await until(async () => (await ready()).status === 'ready', { what: 'the reader is ready again by itself' })
  t.equal(await shown(third.receiver), 1, 'and shows what was accepted meanwhile')

  await primary.stop()
  await until(async () => (await ready()).status === 'not_ready', { what: 'the reader is not ready' })
  const reason = 'The database does not answer: start PostgreSQL, or correct DATABASE_URL'
  t.match(await ready(), {
    failing: ['database', 'layer1'],
    reasons: { database: reason, layer1: /DATABASE_URL|No process hosts the devnet|does not answer in time/ },
  })
  await primary.start()
  await until(async () => (await ready()).status === 'ready', { what: 'the reader is ready once more' })
})
