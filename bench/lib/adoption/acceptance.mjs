// How many transactions a second one process accepts while it adopts blocks that it has never seen, at half
// of the highest rate of the same run: from the beginning of each adoption to its end, and in the seconds
// from the beginning on. What it accepts is in blocks of the other operator too, as with forwarding.
import { createSubmissionQueue, openQueueBackend } from '@ratatosk/queue'
import { createValidationWorker } from '@ratatosk/workers'
import { defer } from '../clean-up.mjs'
import { median, round } from '../figures.mjs'
import { record } from '../record.mjs'
import { redisUrl } from '../services.mjs'
import { makeTransfers } from '../transfers.mjs'
import { openPair } from './adopter.mjs'

const rounds = Number(process.env.BENCH_ROUNDS ?? 3)
const blockSize = Number(process.env.BENCH_BLOCK ?? 10_000)
/** Transactions of which the highest rate is measured. */
const burst = Number(process.env.BENCH_TRANSACTIONS ?? 10_000)
/** Seconds of acceptance without an adoption, and from the beginning of each one on. */
const seconds = Number(process.env.BENCH_SECONDS ?? 5)
const everyMs = 20
const aim = 0.9
/** Accepted transactions that the operator leaves for its next block. */
const newest = 1000

const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms))

export async function measureAcceptance() {
  const paced = Number(process.env.BENCH_OFFERED ?? 120_000)
  const { genesis, transactions } = makeTransfers(burst + paced + rounds * blockSize)
  const blocks = Array.from({ length: rounds }, (_, n) =>
    transactions.slice(n * blockSize, (n + 1) * blockSize),
  )
  const offered = transactions.slice(rounds * blockSize)
  const { adopter, commit } = await openPair(genesis, blockSize)
  const queue = await openQueueBackend({ kind: 'redis', url: redisUrl, prefix: adopter.name })
  defer(() => queue.close())
  const submissions = createSubmissionQueue(queue)
  /** Submitted, and not yet in a block of the operator. */
  const submitted = []
  function submit(count) {
    const next = offered.splice(0, count)
    submitted.push(...next)
    return Promise.all(next.map((cbor) => submissions.add(cbor)))
  }
  const worker = createValidationWorker({ queue, store: adopter.store, ...adopter.rules })
  defer(() => worker.close())
  await worker.ready()

  const started = performance.now()
  await submit(burst)
  while (worker.stats().accepted < burst) await sleep(5)
  const highest = (burst * 1000) / (performance.now() - started)

  let included = 0
  /** Has the operator commit what has been accepted, but for the newest, which batches may have reordered. */
  async function includeAccepted() {
    const count = Math.min(blockSize, worker.stats().accepted - included - newest)
    if (count <= 0) return
    included += count
    await commit(submitted.splice(0, count))
  }

  await includeAccepted()
  const samples = []
  let ended = false
  const rate = highest / 2
  const offering = (async () => {
    const begun = performance.now()
    let sent = 0
    while (!ended && offered.length > 0) {
      const now = performance.now()
      samples.push({ at: now, accepted: worker.stats().accepted })
      const due = Math.floor(((now - begun) * rate) / 1000) - sent
      sent += due
      await Promise.all([submit(due), sleep(everyMs)])
    }
  })()
  /** Accepted transactions a second. */
  function between(from, to) {
    const at = (time) => samples.findLast((sample) => sample.at <= time) ?? samples[0]
    return ((at(to).accepted - at(from).accepted) * 1000) / (at(to).at - at(from).at)
  }

  await sleep(1000)
  const from = performance.now()
  await sleep(seconds * 1000)
  const alone = between(from, performance.now())
  const figures = []
  for (const block of blocks) {
    await includeAccepted()
    const times = await commit(block)
    await sleep(Math.max(0, times.from + seconds * 1000 - performance.now()))
    figures.push({
      total: times.total,
      stored: times.stored,
      turn: times.turn,
      meanwhile: between(times.from, times.to) / alone,
      [`${seconds} s`]: between(times.from, times.from + seconds * 1000) / alone,
    })
  }
  if (offered.length === 0) throw new Error('BENCH_OFFERED is too small')
  ended = true
  await offering
  const { rejected } = worker.stats()
  if (rejected > 0) throw new Error(`${rejected} transfers of the benchmark were rejected`)
  const middle = Object.fromEntries(
    Object.keys(figures[0]).map((name) => [name, median(figures.map((each) => each[name]))]),
  )
  console.log(
    `acceptance beside adoptions of ${round(blockSize)}: alone ${round(alone)} tx/s, ` +
      `at most ${round(highest)}; ms, and shares of what is accepted alone (aim ${aim}):`,
  )
  console.table(
    Object.fromEntries(
      Object.entries(middle).map(([name, value]) => [name, value < 10 ? value.toFixed(2) : round(value)]),
    ),
  )
  record('adoption-acceptance', { blockSize, rounds, highest, alone, ...middle })
}
