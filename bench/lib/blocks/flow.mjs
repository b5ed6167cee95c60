// A minute of submissions by HTTP to the node's processes, until the last is in a block of the state queue.
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { cleanUp, defer } from '../clean-up.mjs'
import { percentile, round } from '../figures.mjs'
import { load } from '../load.mjs'
import { startNodeProcess } from '../node-process.mjs'
import { databaseUrl, redisUrl, removeTraces, withDatabase } from '../services.mjs'
import { bareVerifications, makeTransfers } from '../transfers.mjs'

const deployments = { all: ['all'], split: ['api', 'tx-processor', 'sequencer'] }
const deployment = process.env.BENCH_DEPLOYMENT ?? 'split'
const seconds = Number(process.env.BENCH_SECONDS ?? 60)
/** Before what is measured: fresh processes run unoptimised code. */
const warmUpSeconds = 5
/** Transactions a second that are offered; 0: as many as are taken. */
const rates = (process.env.BENCH_RATES ?? '2000,0').split(',').map(Number)
/** Then so many transactions are made for each second: more than are taken. */
const mostPerSecond = Number(process.env.BENCH_MOST ?? 5000)
const connections = 64
/** How many submissions may wait for validation: five times what it holds at a time. */
const ahead = 4000
const patienceMs = 120_000
const spanMs = 10_000

export async function measureFlow() {
  for (const rate of rates) {
    try {
      await oneFlow(rate)
    } finally {
      await cleanUp()
    }
  }
}

async function oneFlow(rate) {
  const { genesis, transactions, signatures } = makeTransfers(
    (warmUpSeconds + seconds) * (rate || mostPerSecond),
  )
  const ceiling = bareVerifications(signatures.slice(0, 20_000))
  const name = `bench_${randomBytes(4).toString('hex')}`
  const url = await startDeployment(name, genesis)
  await begunQueue(url)
  const { early, sentAt, answerMs } = await withDatabase(async (client) => {
    const sequence = async () => Number((await client.query(newestSequence(name))).rows[0].sequence)
    const submit = async (some, forSeconds) => {
      const before = await sequence()
      const accepted = async () => (await sequence()) - before
      return load({
        url,
        transactions: some,
        seconds: forSeconds,
        rate: rate || Infinity,
        accepted,
        ahead,
        connections,
      })
    }
    const early = (await submit(transactions, warmUpSeconds)).sentAt.length
    return { early, ...(await submit(transactions.slice(early), seconds)) }
  })
  const all = await committedRows(name, early + sentAt.length)
  const places = new Map(signatures.map(({ message }, place) => [message.toString('hex'), place]))
  const different = new Set(all.map(({ id }) => places.get(id)))
  if (all.length !== early + sentAt.length || different.size !== all.length || different.has(undefined)) {
    throw new Error(
      `${early + sentAt.length} transactions were submitted, ${all.length} are in blocks, ${different.size} different ones`,
    )
  }
  const rows = all.filter(({ id }) => places.get(id) >= early)
  const sent = rows.map(({ id }) => sentAt[places.get(id) - early])
  const perSecond = perSecondOf(rows, sentAt[0])
  const blocks = new Set(rows.map(({ height }) => height))
  const fromAcceptance = rows.map(({ accepted, committed }) => (committed - accepted) / 1000)
  const fromSubmission = rows.map(({ committed }, n) => (committed - sent[n]) / 1000)
  const offered = rate ? `${round(rate)}/s offered` : 'as many as are taken'
  console.log(
    `  ${round(rows.length)} transactions in ${blocks.size} blocks, each in one, after ${round(early)} to warm up; slowest ${spanMs / 1000} s ` +
      `${round(slowestSpan(rows))} tx/s; answers after ${halfAndMost(answerMs, 'ms')}`,
  )
  console.log(
    `submitted → committed, ${deployments[deployment].join(' + ')}, ${offered}: ${round(perSecond)} tx/s; ` +
      `from acceptance ${halfAndMost(fromAcceptance, 's')}; from submission ${halfAndMost(fromSubmission, 's')}; ` +
      `bare libsodium verifications ${round(ceiling)}/s; ratio ${(perSecond / ceiling).toFixed(2)}`,
  )
}

function halfAndMost(values, unit) {
  const [half, most] = [0.5, 0.95].map((share) => percentile(values, share).toFixed(1))
  return `p50 ${half} ${unit}, p95 ${most} ${unit}`
}

/** @returns where transactions are submitted */
async function startDeployment(name, genesis) {
  const folder = mkdtempSync(join(tmpdir(), 'ratatosk-bench-genesis-'))
  defer(() => rmSync(folder, { recursive: true, force: true }))
  defer(() => removeTraces(name))
  const file = join(folder, 'genesis.json')
  writeFileSync(file, JSON.stringify({ utxos: genesis }))
  const environment = {
    DATABASE_URL: databaseUrl,
    DATABASE_SCHEMA: name,
    REDIS_URL: redisUrl,
    QUEUE_PREFIX: name,
    GENESIS_FILE: file,
  }
  const nodes = []
  for (const role of deployments[deployment]) {
    nodes.push(await startNodeProcess({ ...environment, NODE_ROLE: role }))
  }
  return nodes[0].url
}

/** Waits until the sequencer has begun the state queue. */
async function begunQueue(url) {
  await until(async () => {
    const answer = await fetch(`${url}/stateQueue/root-unit-diagnostics`)
    return answer.ok && (await answer.json()).status === 'ok'
  }, 'no state queue was begun')
}

/** Waits until all transactions are in blocks of the state queue, and reads them with their times in POSIX milliseconds. */
async function committedRows(name, count) {
  return withDatabase(async (client) => {
    await until(async () => {
      const { rows } = await client.query(
        `SELECT sum(transactions)::integer AS count FROM ${name}.blocks WHERE state IN ('committed', 'mature', 'merged')`,
      )
      return rows[0].count >= count
    }, 'not every transaction was committed')
    const { rows } = await client.query(
      `SELECT encode(t.transaction_id, 'hex') AS id, b.height, extract(epoch FROM t.accepted_at)::float8 * 1000 AS accepted,
        extract(epoch FROM b.committed_at)::float8 * 1000 AS committed
      FROM ${name}.block_transactions AS t JOIN ${name}.blocks AS b ON b.id = t.block_id
      WHERE b.state IN ('committed', 'mature', 'merged') ORDER BY t.sequence`,
    )
    return rows
  })
}

async function until(holds, otherwise) {
  const deadline = Date.now() + patienceMs
  while (!(await holds())) {
    if (Date.now() > deadline) throw new Error(otherwise)
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
}

/** Grows by one with each transaction that validation accepts. */
const newestSequence = (name) => `SELECT last_value AS sequence FROM ${name}.accept_sequence`

/** From the first submission to the last commitment. */
function perSecondOf(rows, begun) {
  const ended = rows.reduce((latest, { committed }) => Math.max(latest, committed), 0)
  return (rows.length * 1000) / (ended - begun)
}

/** Of the spans of ten seconds, from the first commitment on, that with the fewest commitments. */
function slowestSpan(rows) {
  const times = [...rows.map(({ committed }) => committed)].sort((a, b) => a - b)
  const first = times[0]
  const spans = Math.max(1, Math.floor((times.at(-1) - first) / spanMs))
  const counts = new Array(spans).fill(0)
  for (const time of times) {
    const span = Math.floor((time - first) / spanMs)
    if (span < spans) counts[span]++
  }
  return (Math.min(...counts) * 1000) / spanMs
}
