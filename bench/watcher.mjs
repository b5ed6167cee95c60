// What honest blocks cost a watcher: its processor time for each transaction, and its lag behind layer 1,
// under half of the highest rate of the operator without it, while layer 1 is rolled back at random. It must
// send nothing. Two nodes on PostgreSQL and Redis, and a devnet in this process.
import { createDevnet, devnetApis, testWallets } from '@ratatosk/devnet'
import { createDevnetLayer1 } from '@ratatosk/layer1'
import { outputReferenceKey, slotToTime } from '@ratatosk/ledger'
import { keysFromSeedPhrase } from '@ratatosk/transaction'
import Fastify from 'fastify'
import { cleanUp, defer } from './lib/clean-up.mjs'
import { percentile, round } from './lib/figures.mjs'
import { pause, startNode, until } from './lib/flood/node.mjs'
import { load } from './lib/load.mjs'
import { record } from './lib/record.mjs'
import { withDatabase } from './lib/services.mjs'
import { makeTransfers } from './lib/transfers.mjs'
import { processorSeconds } from './lib/usage.mjs'

const blocks = Number(process.env.BENCH_BLOCKS ?? 1000)
const commitMs = Number(process.env.BENCH_COMMIT_MS ?? 500)
/** For the highest rate. */
const rateSeconds = Number(process.env.BENCH_SECONDS ?? 20)
const transfersMade = Number(process.env.BENCH_TRANSFERS ?? 150_000)
/** Milliseconds between two roll-backs at most, and the most blocks of layer 1 that each undoes. */
const rollBackMs = Number(process.env.BENCH_ROLL_BACK_MS ?? 20_000)
const deepest = 20
const connections = 64
const ahead = 4000
const blockMs = 200
/** The test wallet of a watcher. */
const watcherAccount = 4

try {
  await measure()
} finally {
  await cleanUp()
}

async function measure() {
  const devnet = await createDevnet({ blockEveryMs: blockMs, slotLengthMs: blockMs })
  defer(() => devnet.close())
  const server = Fastify({ forceCloseConnections: true })
  defer(() => server.close())
  await server.register(devnetApis, { devnet, paths: { kupo: false, ogmios: false } })
  const served = await server.listen({ host: '127.0.0.1', port: 0 })
  const layer1 = createDevnetLayer1(devnet)
  const environment = {
    LAYER1_PROVIDER: 'blockfrost',
    BLOCKFROST_URL: `${served}/blockfrost/api/v0`,
    COMMIT_INTERVAL_MS: String(commitMs),
    BLOCK_VALIDITY_MS: '5000',
    MATURITY_WINDOW_MS: '120000',
  }
  const { genesis, transactions } = makeTransfers(transfersMade)
  const operator = await startNode(genesis, environment)
  const number = (text) => withDatabase(async (client) => Number((await client.query(text)).rows[0].number))
  const accepted = () => number(`SELECT last_value AS number FROM ${operator.name}.accept_sequence`)
  const ofCommitted = (figure) =>
    number(
      `SELECT coalesce(${figure}, 0) AS number FROM ${operator.name}.blocks
        WHERE state IN ('committed', 'mature', 'merged')`,
    )
  const committed = () => ofCommitted('count(*)')
  await until(async () => (await fetch(`${operator.url}/health/ready`)).ok, 'the operator is not ready')

  let sent = 0
  async function submit(seconds, rate) {
    const already = await accepted()
    const { sentAt } = await load({
      urls: [operator.url],
      transactions: transactions.slice(sent),
      seconds,
      rate,
      accepted: async () => (await accepted()) - already,
      ahead,
      connections,
    })
    sent += sentAt.length
    return sentAt.length
  }

  const began = performance.now()
  await submit(rateSeconds, Infinity)
  await until(async () => (await accepted()) >= sent, 'not all is accepted')
  const highest = (sent * 1000) / (performance.now() - began)
  console.log(`alone: ${round(highest)} transactions a second`)

  const watcher = await startNode(genesis, {
    ...environment,
    NODE_ROLE: 'watcher',
    ARCHIVIST_PEERS: `${operator.url}/archivist`,
  })
  const { addressText } = keysFromSeedPhrase(testWallets.mnemonic, { networkId: 0, account: watcherAccount })
  const funds = async () =>
    new Set((await layer1.utxosAt(addressText)).map(({ reference }) => outputReferenceKey(reference)))
  const before = await funds()
  const archived = () =>
    number(`SELECT coalesce(max(height), 0) AS number FROM ${watcher.name}.archived_blocks`)
  const newest = () => number(`SELECT coalesce(max(height), 0) AS number FROM ${operator.name}.blocks`)
  const hasCaughtUp = async () => (await archived()) >= (await newest())
  await until(hasCaughtUp, 'the watcher does not catch up')

  const first = (await archived()) + 1
  const wanted = (await committed()) + blocks
  const secondsBefore = processorSeconds(watcher.pid)
  const sentBefore = sent
  let isOver = false
  let rollBacks = 0
  const rollingBack = (async () => {
    for (let next = performance.now() + Math.random() * rollBackMs; !isOver; await pause(100)) {
      if (performance.now() < next) continue
      const undone = 1 + Math.floor(Math.random() * deepest)
      await devnet.rollBack(undone, { resubmit: Math.random() < 0.5 })
      rollBacks++
      next = performance.now() + Math.random() * rollBackMs
    }
  })()
  const started = performance.now()
  while ((await committed()) < wanted && sent < transactions.length) await submit(5, highest / 2)
  if (sent === transactions.length) console.log('BENCH_TRANSFERS are used up: fewer blocks than BENCH_BLOCKS')
  isOver = true
  await rollingBack
  const rate = ((sent - sentBefore) * 1000) / (performance.now() - started)
  await until(async () => (await accepted()) >= sent, 'not all is accepted')
  await until(
    async () => (await ofCommitted('sum(transactions)')) === sent && (await hasCaughtUp()),
    'the watcher does not catch up',
  )
  const perTransaction = ((processorSeconds(watcher.pid) - secondsBefore) * 1e6) / (sent - sentBefore)

  const lags = await lagsFrom(first)
  const verdicts = await number(`SELECT count(*) AS number FROM ${watcher.name}.verdicts`)
  const after = await funds()
  if (verdicts > 0 || after.size !== before.size || [...after].some((key) => !before.has(key)))
    throw new Error(`The watcher has ${verdicts} verdicts about honest blocks, or has paid`)
  const [p50, p95] = [0.5, 0.95].map((share) => percentile(lags, share))
  const judged = (await archived()) - first + 1
  console.log(
    `${round(judged)} blocks, ${round(rate)} transactions a second, ${rollBacks} roll-backs: ` +
      'no verdict, nothing sent',
  )
  console.log(
    `  ${round(perTransaction)} µs of the watcher's processor time a transaction; lag of ` +
      `${round(lags.length)} blocks: p50 ${round(p50)} ms, p95 ${round(p95)} ms`,
  )
  record('watcher', { blocks: judged, lags: lags.length, highest, rate, rollBacks, perTransaction, p50, p95 })

  /** Milliseconds from the inclusion of each commitment until the watcher has judged and stored the block. */
  async function lagsFrom(height) {
    const { rows } = await withDatabase((client) =>
      client.query(
        `SELECT b.commit_transaction_id AS id,
          extract(epoch FROM a.archived_at)::float8 * 1000 AS at
        FROM ${watcher.name}.archived_blocks AS a JOIN ${operator.name}.blocks AS b USING (header_hash)
        WHERE a.height >= $1 AND b.commit_transaction_id IS NOT NULL`,
        [height],
      ),
    )
    const slots = await layer1.slots()
    const lags = []
    for (const { id, at } of rows) {
      const status = await layer1.status(id)
      // A roll-back has moved the commitment since, or lost it.
      const lag = status.kind === 'confirmed' ? at - Number(slotToTime(slots, status.slot)) : -1
      if (lag >= 0) lags.push(lag)
    }
    return lags
  }
}
