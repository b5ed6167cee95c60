import { measureBacklog } from './lib/blocks/backlog.mjs'
import { measureDisk } from './lib/blocks/disk.mjs'
import { measureFlow } from './lib/blocks/flow.mjs'
import { measureBlocks } from './lib/blocks/full-blocks.mjs'
import { measureLongRun } from './lib/blocks/long-run.mjs'
import { measurePairs } from './lib/blocks/pairs.mjs'
import { measureScale } from './lib/blocks/scale.mjs'
import { cleanUp } from './lib/services.mjs'

// From a submission to the block that commits it, on PostgreSQL + Redis and a devnet: a minute of load on the
// node's processes, the same with several processes of a role, blocks of 10,000 step by step, a long run of
// them over ledgers of several sizes, a backlog, and what a transaction takes of the disk.

const parts = {
  flow: measureFlow,
  scale: measureScale,
  blocks: measureBlocks,
  long: measureLongRun,
  backlog: measureBacklog,
  disk: measureDisk,
}
// Only with a folder to compare with.
if (process.env.BENCH_BEFORE) parts.pairs = measurePairs

await measureParts(parts, 'BENCH_PARTS')

/** Measures the parts that a variable names, separated by commas; by default all. Cleans up after each. */
async function measureParts(parts, variable) {
  try {
    for (const name of (process.env[variable] ?? Object.keys(parts).join()).split(',')) {
      const measure = parts[name]
      if (measure === undefined) throw new Error(`${variable} is of ${Object.keys(parts)}, not "${name}"`)
      try {
        await measure()
      } finally {
        await cleanUp()
      }
    }
  } catch (error) {
    console.error(error)
    process.exitCode = 1
  }
}
