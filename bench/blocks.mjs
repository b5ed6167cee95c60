// From a submission to the block that commits it, on PostgreSQL + Redis and a devnet: a minute of load on the node's processes,
// blocks of 10,000 step by step, and a backlog. Beside each what bare libraries and bare SQL make of as much, in the same run.

import { measureBacklog } from './lib/blocks/backlog.mjs'
import { measureFlow } from './lib/blocks/flow.mjs'
import { measureBlocks } from './lib/blocks/full-blocks.mjs'
import { cleanUp } from './lib/clean-up.mjs'

const parts = { flow: measureFlow, blocks: measureBlocks, backlog: measureBacklog }

try {
  for (const name of (process.env.BENCH_PARTS ?? 'flow,blocks,backlog').split(',')) {
    const measure = parts[name]
    if (measure === undefined) throw new Error(`BENCH_PARTS is of ${Object.keys(parts)}, not "${name}"`)
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
