// Queue → mempool ledger on PostgreSQL + Redis: signed 1-in/2-out transfers that wait in the queue, taken by
// one validation worker, until the last of them is in the ledger. Beside it libsodium's bare verification of
// the same signatures, in the same run.
import { randomBytes } from 'node:crypto'
import { createSubmissionQueue, openQueueBackend } from '@ratatosk/queue'
import { openStore } from '@ratatosk/store'
import { createValidationWorker } from '@ratatosk/workers'
import { median, processorMicros, record, round } from './lib/figures.mjs'
import { ledgerEntries } from './lib/rollup.mjs'
import { databaseUrl, redisUrl, removeTraces } from './lib/services.mjs'
import { bareVerifications, makeTransfers, parameters } from './lib/transfers.mjs'

const count = Number(process.env.BENCH_TRANSACTIONS ?? 20_000)
const rounds = Number(process.env.BENCH_ROUNDS ?? 3)

const { genesis, transactions, signatures } = makeTransfers(count)

const entries = ledgerEntries(genesis)

async function oneRound(schema) {
  const store = await openStore({ url: databaseUrl, schema })
  const queue = await openQueueBackend({ kind: 'redis', url: redisUrl, prefix: schema })
  const submissions = createSubmissionQueue(queue)
  try {
    await store.applyGenesis(entries)
    for (let start = 0; start < count; start += 1000) {
      await Promise.all(transactions.slice(start, start + 1000).map((cbor) => submissions.add(cbor)))
    }
    const before = process.cpuUsage()
    const started = process.hrtime.bigint()
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
    const seconds = Number(process.hrtime.bigint() - started) / 1e9
    const cpu = processorMicros(before) / 1e6
    await worker.close()
    return { perSecond: count / seconds, cpu: cpu / seconds }
  } finally {
    await queue.close()
    await store.close()
    await removeTraces(schema)
  }
}

const figures = []
const bare = []
for (let i = 0; i < rounds; i++) {
  bare.push(bareVerifications(signatures))
  figures.push(await oneRound(`bench_${randomBytes(4).toString('hex')}`))
  const { perSecond, cpu } = figures.at(-1)
  console.log(
    `  round ${i + 1}: ${round(perSecond)} tx/s, the worker's process at ${Math.round(cpu * 100)} ` +
      `% of a core`,
  )
}
const perSecond = median(figures.map((figure) => figure.perSecond))
const ceiling = median(bare)
console.log(
  `queue → mempool ledger on PostgreSQL + Redis: ${round(perSecond)} tx/s (median of ${rounds} × ` +
    `${count}); ` +
    `bare libsodium verifications ${round(ceiling)}/s; ratio ${(perSecond / ceiling).toFixed(2)}`,
)
record('validate', { rounds, perSecond, ceiling, ratio: perSecond / ceiling })
