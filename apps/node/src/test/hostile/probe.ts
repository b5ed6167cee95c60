import { writeSync } from 'node:fs'
import { isMainThread } from 'node:worker_threads'
import { measure } from '../../../../../packages/follower/dist/test/hostile/figures.js'

// Loaded into a node by `--import`: at a signal it writes the figures of the main thread as a line of stderr;
// at SIGIO it collects garbage for them.
if (isMainThread) {
  const figures = measure()
  let asked = 0
  for (const signal of ['SIGUSR2', 'SIGIO'] as const)
    process.on(signal, () => {
      writeSync(2, `figures ${++asked} ${JSON.stringify(figures(signal === 'SIGIO'))}\n`)
    })
}
