import { writeSync } from 'node:fs'
import { isMainThread } from 'node:worker_threads'
import { measure } from '../../../../../packages/follower/dist/test/hostile/figures.js'

// Loaded into a node by `--import`: at SIGUSR2 it writes the figures of the main thread as a line of stderr.
if (isMainThread) {
  const figures = measure()
  let asked = 0
  process.on('SIGUSR2', () => {
    writeSync(2, `figures ${++asked} ${JSON.stringify(figures())}\n`)
  })
}
