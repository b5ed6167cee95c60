// What the index costs validation, and how far it is behind.
//
// ratio: the same backlog of signed transfers, validated without an index and with one in the same process,
// in turns. The figure is
// the median of the rounds' ratios. lag: transfers at a fixed rate. The lag of a transaction is the time from
// its acceptance until the index has it, both as another
//        connection to the database sees them.
import { randomBytes } from 'node:crypto'
import { loadavg } from 'node:os'
import { setTimeout as pause } from 'node:timers/promises'
import { openIndex } from '@ratatosk/ledger-index'
import { createSubmissionQueue, openQueueBackend } from '@ratatosk/queue'
import { openStore } from '@ratatosk/store'
import { createValidationWorker } from '@ratatosk/workers'
import { ledgerEntries } from './lib/entries.mjs'
import { median, percentile, processorMicros, round } from './lib/figures.mjs'
import { parameters } from './lib/parameters.mjs'
import { databaseUrl, redisUrl, removeTraces, withDatabase } from './lib/services.mjs'
import { makeTransfers } from './lib/transfers.mjs'

const count = Number(process.env.BENCH_TRANSACTIONS ?? 20_000)
const rounds = Number(process.env.BENCH_ROUNDS ?? 7)
const seconds = Number(process.env.BENCH_SECONDS ?? 20)
const rate = Number(process.env.BENCH_RATE ?? 1_000)
const parts = (process.env.BENCH_PARTS ?? 'ratio,lag').split(',')

/** Poll interval in milliseconds: the resolution of the lag. */
const lookEveryMs = 5

const { genesis, transactions } = makeTransfers(Math.max(count, seconds * rate))
const entries = ledgerEntries(genesis)
const load = () => `load ${loadavg()[0].toFixed(1)}`

/** Opens a ledger with an empty queue, and with an index if asked; runs the work; removes everything. */
async function inLedger(indexed, work) {
  const schema = `bench_${randomBytes(4).toString('hex')}`
  const store = await openStore({ url: databaseUrl, schema })
  const queue = await openQueueBackend({ kind: 'redis', url: redisUrl, prefix: schema })
  const submissions = createSubmissionQueue(queue)
  let index
  let worker
  try {
    await store.applyGenesis(entries)
    if (indexed) {
      index = await openIndex({
        database: store.database,
        schema: `${schema}_index`,
        source: store.changes,
        genesis: entries,
        busy: () => worker?.busy() ?? false,
      })
      await index.caughtUp()
    }
    const validate = async () => {
      worker = createValidationWorker({
        queue,
        store,
        parameters,
        networkId: 0,
        slots: { zeroTime: 0n, zeroSlot: 0n, slotLength: 1000 },
      })
      await worker.ready()
      return worker
    }
    return await work({ schema, submissions, index, validate })
  } finally {
    await worker?.close()
    await index?.close()
    await queue.close()
    await store.close()
    await removeTraces(schema)
  }
}

async function accepted(worker, wanted) {
  while (worker.stats().accepted < wanted) {
    if (worker.stats().rejected > 0) throw new Error('a transfer of the benchmark was rejected')
    await pause(20)
  }
}

const backlog = (indexed) =>
  inLedger(indexed, async ({ submissions, index, validate }) => {
    for (let start = 0; start < count; start += 1000) {
      const end = Math.min(start + 1000, count)
      await Promise.all(transactions.slice(start, end).map((cbor) => submissions.add(cbor)))
    }
    const before = process.cpuUsage()
    const started = performance.now()
    await accepted(await validate(), count)
    const last = performance.now()
    const processor = processorMicros(before) / 1000
    await index?.caughtUp()
    return {
      perSecond: (count * 1000) / (last - started),
      processor: processor / (last - started),
      behindMs: performance.now() - last,
    }
  })

async function measureRatio() {
  const without = []
  const beside = []
  // The first pair warms up.
  for (let turn = 0; turn <= rounds; turn++) {
    // Each is first in every other round.
    for (const indexed of turn % 2 === 0 ? [false, true] : [true, false]) {
      const figures = await backlog(indexed)
      if (turn > 0) (indexed ? beside : without).push(figures)
    }
    if (turn === 0) continue
    const [one, other] = [without.at(-1), beside.at(-1)]
    console.log(
      `  round ${turn}: ${round(one.perSecond)} tx/s without, ${round(other.perSecond)} with, ` +
        `ratio ${(other.perSecond / one.perSecond).toFixed(3)}; the process at ` +
        `${Math.round(one.processor * 100)} and ` +
        `${Math.round(other.processor * 100)} % of a core; behind by ${round(other.behindMs)} ms; ${load()}`,
    )
  }
  const ratios = beside.map(({ perSecond }, position) => perSecond / without[position].perSecond)
  const of = (figures) => round(median(figures.map(({ perSecond }) => perSecond)))
  console.log(
    `validation of ${count} waiting transfers, medians of ${rounds}: ${of(without)} tx/s without ` +
      `index, ${of(beside)} with; ` +
      `ratio ${median(ratios).toFixed(3)} (${Math.min(...ratios).toFixed(3)} to ` +
      `${Math.max(...ratios).toFixed(3)}); ` +
      `the index was behind by ${round(median(beside.map(({ behindMs }) => behindMs)))} ms at the end`,
  )
}

/** Polls what is accepted and indexed until `done`. */
async function watch(schema, done) {
  const looks = []
  await withDatabase(async (client) => {
    const query = {
      name: 'look',
      text: `SELECT (SELECT max(sequence) FROM ${schema}.mempool_transactions) AS accepted,
          sequence AS indexed
        FROM ${schema}_index.progress`,
    }
    for (let last = false; ; ) {
      const { rows } = await client.query(query)
      looks.push({
        at: performance.now(),
        accepted: Number(rows[0].accepted),
        indexed: Number(rows[0].indexed),
      })
      if (last) return
      last = done()
      await pause(lookEveryMs)
    }
  })
  return looks
}

/** The lag of each of the newest transactions, in milliseconds. The genesis took sequences before them. */
function lagsOf(looks, total) {
  const lags = []
  let indexed = 0
  let known = looks.at(-1).accepted - total
  for (const { at, accepted } of looks) {
    for (; known < accepted; known++) {
      while (looks[indexed] !== undefined && looks[indexed].indexed <= known) indexed++
      if (looks[indexed] === undefined) throw new Error('the index has not followed')
      lags.push(looks[indexed].at - at)
    }
  }
  return lags
}

async function measureLag() {
  const total = seconds * rate
  const { looks, took } = await inLedger(true, async ({ schema, submissions, index, validate }) => {
    const worker = await validate()
    let over = false
    const watching = watch(schema, () => over)
    const started = performance.now()
    const added = []
    while (added.length < total) {
      const due = Math.min(total, Math.floor(((performance.now() - started) * rate) / 1000))
      while (added.length < due) added.push(submissions.add(transactions[added.length]))
      await pause(5)
    }
    await Promise.all(added)
    await accepted(worker, total)
    const took = performance.now() - started
    await index.caughtUp()
    over = true
    return { looks: await watching, took }
  })
  const lags = lagsOf(looks, total)
  console.log(
    `index behind acceptance at ${round((total * 1000) / took)} tx/s for ${seconds} s: p50 ` +
      `${round(percentile(lags, 0.5))} ms, ` +
      `p95 ${round(percentile(lags, 0.95))} ms, p99 ${round(percentile(lags, 0.99))} ms, ` +
      `at most ${round(percentile(lags, 1))} ms (resolution ${lookEveryMs} ms, ${looks.length} ` +
      `looks); ${load()}`,
  )
}

console.log(`at the start: ${load()}`)
if (parts.includes('ratio')) await measureRatio()
if (parts.includes('lag')) await measureLag()
