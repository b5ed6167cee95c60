// What the index costs validation, and how far it is behind: the same backlog of signed transfers validated without an index and
// with one in the same process, in turns. The figure is the ratio.
import { randomBytes } from 'node:crypto'
import { openIndex } from '@ratatosk/index'
import { createSubmissionQueue, openQueueBackend } from '@ratatosk/queue'
import { openStore } from '@ratatosk/store'
import { createValidationWorker } from '@ratatosk/workers'
import { ledgerEntries } from './lib/entries.mjs'
import { median, round } from './lib/figures.mjs'
import { parameters } from './lib/parameters.mjs'
import { databaseUrl, redisUrl, removeTraces } from './lib/services.mjs'
import { makeTransfers } from './lib/transfers.mjs'

const count = Number(process.env.BENCH_TRANSACTIONS ?? 20_000)
const rounds = Number(process.env.BENCH_ROUNDS ?? 3)

const { genesis, transactions } = makeTransfers(count)
const entries = ledgerEntries(genesis)

async function oneRound(indexed) {
  const schema = `bench_${randomBytes(4).toString('hex')}`
  const store = await openStore({ url: databaseUrl, schema })
  const queue = await openQueueBackend({ kind: 'redis', url: redisUrl, prefix: schema })
  const submissions = createSubmissionQueue(queue)
  let index
  try {
    await store.applyGenesis(entries)
    if (indexed) {
      index = await openIndex({
        database: store.database,
        schema: `${schema}_index`,
        source: store.changes,
        genesis: entries,
      })
      await index.caughtUp()
    }
    for (let start = 0; start < count; start += 1000) {
      await Promise.all(transactions.slice(start, start + 1000).map((cbor) => submissions.add(cbor)))
    }
    const started = performance.now()
    const worker = createValidationWorker({
      queue,
      store,
      parameters,
      networkId: 0,
      slots: { zeroTime: 0n, zeroSlot: 0n, slotLength: 1000 },
    })
    await worker.ready()
    while (worker.stats().accepted < count) {
      if (worker.stats().rejected > 0) throw new Error('a transfer of the benchmark was rejected')
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
    const perSecond = (count * 1000) / (performance.now() - started)
    const accepted = performance.now()
    await index?.caughtUp()
    const behindMs = performance.now() - accepted
    await worker.close()
    return { perSecond, behindMs }
  } finally {
    await index?.close()
    await queue.close()
    await store.close()
    await removeTraces(schema)
  }
}

const without = []
const withIndex = []
for (let i = 0; i < rounds; i++) {
  without.push(await oneRound(false))
  withIndex.push(await oneRound(true))
}
const rate = (figures) => median(figures.map(({ perSecond }) => perSecond))
console.log(`${count} transfers, ${rounds} rounds`)
console.log(`without index  ${round(rate(without))} tx/s`)
console.log(`with index     ${round(rate(withIndex))} tx/s`)
console.log(`ratio          ${(rate(withIndex) / rate(without)).toFixed(3)}`)
console.log(
  `behind         ${round(median(withIndex.map(({ behindMs }) => behindMs)))} ms after the last was accepted`,
)
