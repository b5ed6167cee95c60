// Processes that write batches into the tables of one ledger.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { defer } from '../clean-up.mjs'

/** Starts `count` processes over a schema; {@link cleanUp} ends them. */
export async function startTableWorkers(count, url, schema) {
  const workers = Array.from({ length: count }, () =>
    fork(join(import.meta.dirname, 'table-worker.mjs'), [url, schema], { serialization: 'advanced' }),
  )
  const ends = workers.map((worker) => once(worker, 'exit'))
  defer(() => {
    for (const worker of workers) worker.kill()
    return Promise.all(ends)
  })
  const all = (work) => Promise.all(workers.map(work))
  const done = async (worker, place) => {
    const [outcome] = await Promise.race([once(worker, 'message'), ends[place]])
    if (outcome !== 'done') throw new Error('a process of the benchmark has ended')
  }
  const ask = (task, valueAt) =>
    all((worker, place) => {
      worker.send({ task, value: valueAt(place) })
      return done(worker, place)
    })
  await all(done)
  return {
    /**
     * Examines equal parts of the transactions, and writes them all in batches. Returns the milliseconds of
     * the writing.
     */
    async commit(transactions, size) {
      const part = Math.ceil(transactions.length / count)
      await ask('examine', (place) => transactions.slice(place * part, (place + 1) * part))
      const started = performance.now()
      await ask('commit', () => size)
      return performance.now() - started
    },
  }
}
