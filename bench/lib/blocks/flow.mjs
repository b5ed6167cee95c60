// Minutes of submissions by HTTP to the node's processes, until the last is in a block of the state queue.
// With BENCH_BEFORE, the same by turns on the node of an older checkout.
import { createHash, randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { loadavg, tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { cleanUp, defer } from '../clean-up.mjs'
import { ledgerEntries } from '../entries.mjs'
import { load } from '../load.mjs'
import { here, startNodeProcess } from '../node-process.mjs'
import { record } from '../record.mjs'
import { databaseUrl, redisUrl, removeTraces, withDatabase } from '../services.mjs'
import { makeSpread } from '../spread.mjs'
import { bareVerifications } from '../transfers.mjs'
import { watchUsage } from '../usage.mjs'
import { compare, figuresOf, print } from './flow-report.mjs'

const deployments = {
  all: { roles: ['all'] },
  split: { roles: ['api', 'tx-processor', 'sequencer'] },
  embedded: { roles: ['all'], embedded: true },
}
const deployment = process.env.BENCH_DEPLOYMENT ?? 'split'
const { roles, embedded = false } = deployments[deployment]
const seconds = Number(process.env.BENCH_SECONDS ?? 180)
/** Before what is measured: fresh processes run unoptimised code, and free nothing before block 129. */
const warmUpSeconds = Number(process.env.BENCH_WARM_UP ?? 5)
/** Transactions a second that are offered; 0: as many as are taken. */
const rates = (process.env.BENCH_RATES ?? '1000,2000,0').split(',').map(Number)
/** Then so many transactions are made for each second: more than are taken. */
const mostPerSecond = Number(process.env.BENCH_MOST ?? (embedded ? 2500 : 5000))
const outputs = Number(process.env.BENCH_OUTPUTS ?? 1_000_000)
const addresses = Number(process.env.BENCH_ADDRESSES ?? 10_000)
const turns = Number(process.env.BENCH_TURNS ?? 1)
const before = process.env.BENCH_BEFORE
const connections = 64
/** How many submissions may wait for validation: five times what it holds at a time. */
const ahead = 4000
const patienceMs = 120_000
const pageSize = 20_000

/** Parts of the measured time that are compared with each other. */
const parts = 3

export async function measureFlow() {
  const sides = [
    ...(before === undefined ? [] : [{ name: 'before', checkout: resolve(before) }]),
    { name: 'now', checkout: here },
  ]
  const count = Math.min(
    outputs,
    (warmUpSeconds + seconds) * Math.max(...rates.map((rate) => rate || mostPerSecond)),
  )
  const transfers = makeSpread({ count, outputs, addresses })
  const recorded = []
  for (const rate of rates) {
    const figures = Object.fromEntries(sides.map(({ name }) => [name, []]))
    for (let turn = 0; turn < turns; turn++) {
      for (const { name, checkout } of turn % 2 === 0 ? sides : sides.toReversed()) {
        try {
          const figure = await oneFlow(rate, transfers, checkout)
          figures[name].push(figure)
          print(name, rate, figure)
        } finally {
          await cleanUp()
        }
      }
    }
    if (before !== undefined) compare(rate, figures)
    recorded.push(...figures.now.map((figure) => figuresOf(rate, figure)))
  }
  record(`flow-${deployment}`, { seconds, outputs, addresses, flows: recorded })
}

/** @param {Record<string, number>} processes how many of a role are started, where it is not one */
export async function oneFlow(rate, transfers, checkout, processes = {}) {
  const ceiling = bareVerifications(transfers.signatures)
  const { urls, nodes, name, accepted, committed } = embedded
    ? await startEmbedded(transfers, checkout, rate)
    : await startOnServices(transfers, checkout, processes)
  await begunQueue(urls[0])
  const submit = async (first, forSeconds) => {
    const already = await accepted()
    return load({
      urls,
      transactions: transfers.from(first),
      seconds: forSeconds,
      rate: rate || Infinity,
      accepted: async () => (await accepted()) - already,
      ahead,
      connections,
    })
  }
  const early = (await submit(0, warmUpSeconds)).sentAt.length
  const usage = await watchUsage(nodes, name)
  const { sentAt, answerMs } = await submit(early, seconds)
  const sentAll = performance.timeOrigin + performance.now()
  const total = early + sentAt.length
  await until(async () => (await committed()) >= total, 'not every transaction was committed')
  const committedAll = performance.timeOrigin + performance.now()
  const used = await usage.stop()
  const rows = embedded
    ? { blocks: undefined, elapsed: committedAll - sentAt[0] }
    : await committedRows(name, transfers.ids, early, sentAt)
  return {
    ...used,
    ...rows,
    setting: `${roles.join(' + ')}${embedded ? ', embedded' : ''}`,
    ceiling,
    early,
    count: sentAt.length,
    ranOut: total === transfers.count && sentAll - sentAt[0] < seconds * 950,
    perSecond: (sentAt.length * 1000) / rows.elapsed,
    answerMs,
    load: loadavg()[0],
  }
}

/** A ledger filled by SQL, and the node's processes over it. */
async function startOnServices(transfers, checkout, processes) {
  const name = `bench_${randomBytes(4).toString('hex')}`
  defer(() => removeTraces(name))
  const id = createHash('sha256').update('bench genesis').digest('hex')
  const { output } = transfers.genesis(1)[0]
  const genesis = [{ outref: `${id}#0`, output }]
  const { openStore } = await import(pathToFileURL(join(checkout, 'packages/store/dist/index.js')))
  const store = await openStore({ url: databaseUrl, schema: name })
  await store.applyGenesis(ledgerEntries(genesis))
  await store.close()
  await withDatabase((client) => transfers.fill(client, name))
  const url = new URL(databaseUrl)
  url.searchParams.set('application_name', name)
  const environment = {
    DATABASE_URL: url.href,
    DATABASE_SCHEMA: name,
    REDIS_URL: redisUrl,
    QUEUE_PREFIX: name,
    GENESIS_FILE: genesisFile(genesis),
    // The index begins with the genesis outputs: it cannot follow a ledger that SQL has filled.
    [checkout === here ? 'SERVE_LAYER2_APIS' : 'LAYER2_APIS']: 'false',
  }
  const nodes = []
  for (const role of roles) {
    for (let n = 0; n < (processes[role] ?? 1); n++)
      nodes.push(await startNodeProcess({ ...environment, NODE_ROLE: role }, checkout))
  }
  const number = (text) => withDatabase(async (client) => Number((await client.query(text)).rows[0].number))
  return {
    urls: nodes.filter(({ role }) => role === roles[0]).map(({ url }) => url),
    nodes,
    name,
    // Grows by one with each transaction that validation accepts.
    accepted: () => number(`SELECT last_value AS number FROM ${name}.accept_sequence`),
    committed: () =>
      number(
        `SELECT sum(transactions) AS number FROM ${name}.blocks
          WHERE state IN ('committed', 'mature', 'merged')`,
      ),
  }
}

/** A node as `npm start` starts it, with as many outputs as it will spend. Its log says what it has done. */
async function startEmbedded(transfers, checkout, rate) {
  const genesis = transfers.genesis((warmUpSeconds + seconds) * (rate || mostPerSecond))
  const environment = { GENESIS_FILE: genesisFile(genesis), NODE_ROLE: 'all', LOG_LEVEL: 'info' }
  let [accepted, committed] = [0, 0]
  const node = await startNodeProcess(environment, checkout, (line) => {
    if (typeof line.accepted === 'number') accepted += line.accepted
    committed += Number(/committed: (\d+) transactions/.exec(line.msg ?? '')?.[1] ?? 0)
  })
  return { urls: [node.url], nodes: [node], accepted: async () => accepted, committed: async () => committed }
}

function genesisFile(utxos) {
  const folder = mkdtempSync(join(tmpdir(), 'ratatosk-bench-genesis-'))
  defer(() => rmSync(folder, { recursive: true, force: true }))
  const file = join(folder, 'genesis.json')
  writeFileSync(file, JSON.stringify({ utxos }))
  return file
}

/** Waits until the sequencer has begun the state queue. */
async function begunQueue(url) {
  await until(async () => {
    const answer = await fetch(`${url}/stateQueue/root-unit-diagnostics`)
    return answer.ok && (await answer.json()).status === 'ok'
  }, 'no state queue was begun')
}

/** Reads what is in blocks of the state queue: each transaction must be in one of them, once. */
async function committedRows(name, ids, early, sentAt) {
  const places = new Map()
  for (let n = 0; n < early + sentAt.length; n++) places.set(ids[n], n)
  const fromAcceptance = []
  const fromSubmission = []
  const times = []
  const blocks = new Set()
  await withDatabase(async (client) => {
    for (let last = 0; ; ) {
      const { rows } = await client.query(
        `SELECT t.sequence, encode(substr(t.transaction_id, 1, 8), 'hex') AS id, b.height,
          extract(epoch FROM t.accepted_at)::float8 * 1000 AS accepted,
          extract(epoch FROM b.committed_at)::float8 * 1000 AS committed
        FROM "${name}".block_transactions AS t JOIN "${name}".blocks AS b ON b.id = t.block_id
        WHERE b.state IN ('committed', 'mature', 'merged') AND t.sequence > $1
        ORDER BY t.sequence LIMIT ${pageSize}`,
        [last],
      )
      for (const { id, height, accepted, committed } of rows) {
        const place = places.get(id)
        if (place === undefined) throw new Error(`${id} was not submitted, or is in two blocks`)
        places.delete(id)
        if (place < early) continue
        fromAcceptance.push((committed - accepted) / 1000)
        fromSubmission.push((committed - sentAt[place - early]) / 1000)
        times.push(committed)
        blocks.add(height)
      }
      if (rows.length < pageSize) break
      last = rows.at(-1).sequence
    }
  })
  if (places.size > 0) throw new Error(`${places.size} transactions are in no block`)
  times.sort((a, b) => a - b)
  const elapsed = times.at(-1) - sentAt[0]
  return { fromAcceptance, fromSubmission, blocks: blocks.size, elapsed, thirds: thirdsOf(times) }
}

/** Commitments in each third of the time from the first commitment to the last. */
function thirdsOf(times) {
  const span = (times.at(-1) - times[0]) / parts
  const thirds = Array.from({ length: parts }, (_, n) => ({ from: times[0] + n * span, span, count: 0 }))
  for (const time of times) thirds[Math.min(parts - 1, Math.floor((time - times[0]) / span))].count++
  return thirds
}

async function until(holds, otherwise) {
  const deadline = Date.now() + patienceMs
  while (!(await holds())) {
    if (Date.now() > deadline) throw new Error(otherwise)
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
}
