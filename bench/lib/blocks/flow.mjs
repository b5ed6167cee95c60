import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { loadavg, tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { makeSpread, median, percentile, record, round } from '../figures.mjs'
import { here, startNodeProcess } from '../node-process.mjs'
import { ledgerEntries } from '../rollup.mjs'
import {
  cleanUp,
  databaseUrl,
  defer,
  redisUrl,
  removeTraces,
  watchUsage,
  withDatabase,
} from '../services.mjs'
import { bareVerifications } from '../transfers.mjs'

// A closed loop of keep-alive connections that submit transactions to a node, each one once. HTTP by hand:
// whatever the load takes from the machine is missing to the node.

const endOfHead = '\r\n\r\n'

/** One connection; a request at a time. */
async function openConnection({ hostname, port, host }) {
  const socket = connect({ host: hostname, port: Number(port), noDelay: true })
  await once(socket, 'connect')
  let received = ''
  let waiting
  const fail = (error) => waiting?.reject(error)
  socket.on('error', fail)
  socket.on('close', () => fail(new Error('the node has closed a connection')))
  socket.setEncoding('latin1').on('data', (text) => {
    received += text
    const end = received.indexOf(endOfHead)
    if (end < 0) return
    const length = Number(/content-length: *(\d+)/i.exec(received)?.[1] ?? 0)
    if (received.length < end + endOfHead.length + length) return
    const answer = received
    received = ''
    waiting.resolve(answer)
  })
  return {
    submit(cbor) {
      const body = cbor.toString('hex')
      const answered = new Promise((resolve, reject) => {
        waiting = { resolve, reject }
      })
      socket.write(
        `POST /submit HTTP/1.1\r\nhost: ${host}\r\ncontent-type: text/plain\r\ncontent-length: ` +
          `${body.length}\r\n\r\n${body}`,
      )
      return answered
    },
    close: () => socket.destroy(),
  }
}

const now = () => performance.timeOrigin + performance.now()

/**
 * Submits for some seconds, or until there are no more transactions.
 *
 * @param {object} options
 * @param {string[]} options.urls of the processes that take submissions; each gets as many of the connections
 * @param {{ length: number, at(place: number): Buffer }} options.transactions an array, or what makes them
 *   when they are sent
 * @param {number} options.seconds
 * @param {number} options.rate submissions a second at most
 * @param {() => Promise<number>} options.accepted how many of them validation has accepted
 * @param {number} options.ahead how many may be submitted and not accepted: more would only wait in the queue
 * @param {number} options.connections
 * @returns {Promise<{ sentAt: Float64Array, answerMs: number[] }>} when each was sent, in POSIX milliseconds,
 *   and how long each answer took
 */
async function load({ urls, transactions, seconds, rate, accepted, ahead, connections }) {
  const sentAt = new Float64Array(transactions.length)
  const answerMs = []
  const opened = await Promise.all(
    Array.from({ length: connections }, (_, n) => openConnection(new URL(urls[n % urls.length]))),
  )
  const begun = now()
  let sent = 0
  let known = 0
  let over = false
  let failure

  async function watch() {
    try {
      while (!over) {
        known = await accepted()
        await pause(50)
      }
    } catch (error) {
      failure = error
      over = true
    }
  }

  const mayGoOn = () => sent < transactions.length && now() - begun < seconds * 1000 && !over
  const isAhead = () => sent - known >= ahead || sent >= ((now() - begun) * rate) / 1000

  async function submitAll(connection) {
    while (mayGoOn()) {
      if (isAhead()) {
        await pause(5)
        continue
      }
      const place = sent++
      const started = now()
      sentAt[place] = started
      const answer = await connection.submit(transactions.at(place))
      if (!answer.startsWith('HTTP/1.1 200')) throw new Error(`a submission was not taken: ${answer}`)
      answerMs.push(now() - started)
    }
  }

  const watching = watch()
  try {
    await Promise.all(opened.map(submitAll))
  } finally {
    over = true
    await watching
    for (const connection of opened) connection.close()
  }
  if (failure !== undefined) throw failure
  return { sentAt: sentAt.subarray(0, sent), answerMs }
}

function pause(ms) {
  return new Promise((resolve) => setTimeout(resolve, ms))
}

// The printed and kept results of runs of submissions.

/** Processor time per transaction of each third, in microseconds: `[role, [first, second, third]]`. */
function processorTimeByThirds({ thirds, samples }) {
  const secondsAt = (time, who) =>
    (samples.findLast(({ at }) => at <= time) ?? samples[0]).seconds.get(who) ?? 0
  return [...samples[0].seconds.keys()].map((who) => [
    who,
    thirds.map(
      ({ from, span, count }) => ((secondsAt(from + span, who) - secondsAt(from, who)) * 1e6) / count,
    ),
  ])
}

const offered = (rate) => (rate ? `${round(rate)}/s offered` : 'as many as are taken')

function microseconds({ seconds, count }) {
  return [...seconds].map(([who, each]) => [who, (each * 1e6) / count])
}

const sumOf = (figure) => microseconds(figure).reduce((sum, [, each]) => sum + each, 0)

/** The kept figures of a run for docs/performance.md. */
export function figuresOf(rate, figure) {
  const { count, blocks, perSecond, fromAcceptance, answerMs, ceiling, elapsed } = figure
  const halfAndMost = (values) => values && [percentile(values, 0.5), percentile(values, 0.95)]
  return {
    rate,
    perSecond,
    ceiling,
    load: figure.load,
    transactions: count,
    blocks,
    seconds: elapsed / 1000,
    answersMs: halfAndMost(answerMs),
    fromAcceptanceS: halfAndMost(fromAcceptance),
    microseconds: Object.fromEntries(microseconds(figure)),
    memoryMiB: Object.fromEntries([...figure.memory].map(([role, all]) => [role, Math.max(...all)])),
    diskBytes: Object.fromEntries([...figure.disk].map(([what, bytes]) => [what, bytes / count])),
  }
}

export function print(side, rate, figure) {
  const { count, early, blocks, thirds, perSecond, fromAcceptance, fromSubmission, answerMs, ceiling } =
    figure
  const halfAndMost = (values, unit) =>
    `p50 ${percentile(values, 0.5).toFixed(1)} ${unit}, p95 ${percentile(values, 0.95).toFixed(1)} ${unit}`
  const lines = [
    `submitted → committed, ${figure.setting}, ` +
      `${offered(rate)}: ${round(perSecond)} tx/s; ` +
      `bare libsodium verifications ${round(ceiling)}/s; ratio ${(perSecond / ceiling).toFixed(2)}`,
    `${round(count)} transactions, each in one block, after ${round(early)} to warm up; answers ` +
      `after ${halfAndMost(answerMs, 'ms')}; load ${figure.load.toFixed(1)}`,
    ...(blocks === undefined
      ? []
      : [
          `${blocks} blocks; by thirds ` +
            `${thirds.map(({ count, span }) => round((count * 1000) / span)).join(', ')} tx/s; from ` +
            `acceptance ${halfAndMost(fromAcceptance, 's')}; ` +
            `from submission ${halfAndMost(fromSubmission, 's')}`,
          `processor time per transaction, by thirds: ${processorTimeByThirds(figure)
            .map(([who, each]) => `${who} ${each.map(round).join(', ')} µs`)
            .join('; ')}`,
        ]),
    `processor time per transaction: ${microseconds(figure)
      .map(([who, each]) => `${who} ${round(each)} µs`)
      .join(', ')}; in all ${round(sumOf(figure))} µs`,
    `anonymous memory after each quarter: ${[...figure.memory]
      .map(([role, all]) => `${role} ${quarters(all).map(round).join(', ')} MiB`)
      .join('; ')}`,
    `disk per transaction: ` +
      `${[...figure.disk].map(([what, bytes]) => `${what} ${round(bytes / count)} B`).join(', ')}`,
    ...(figure.ranOut
      ? ['the transactions ran out before the time: raise BENCH_OUTPUTS and BENCH_MOST']
      : []),
  ]
  console.log(lines.map((line, n) => `${n === 0 ? side : ' '.repeat(side.length)}  ${line}`).join('\n'))
}

function quarters(values) {
  return [0.25, 0.5, 0.75, 1].map((share) => values[Math.max(0, Math.ceil(values.length * share) - 1)] ?? 0)
}

/** Prints medians of now and before, beside each other. */
function compare(rate, { before, now }) {
  const ratio = (of) => (median(now.map(of)) / median(before.map(of))).toFixed(2)
  const most = ({ fromAcceptance }) => percentile(fromAcceptance, 0.95)
  console.log(
    `now / before, ${offered(rate)}, ${now.length === 1 ? 'one turn' : `medians of ${now.length} turns`}: ` +
      `tx/s ${ratio(({ perSecond }) => perSecond)}, ` +
      `processor time per transaction ` +
      `${ratio(sumOf)}${now[0].fromAcceptance ? `, p95 from acceptance ${ratio(most)}` : ''}`,
  )
}

// Minutes of submissions by HTTP to the node's processes, until the last is in a block of the state queue.
// With BENCH_BEFORE, the same by turns on the node of an older checkout.

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
