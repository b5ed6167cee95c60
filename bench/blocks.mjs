// From a submission to the block that commits it, on PostgreSQL + Redis and a devnet: a minute of load on the node's processes,
// blocks of 10,000 step by step, a long run of them over ledgers of several sizes, and a backlog.

import { measureBacklog } from './lib/blocks/backlog.mjs'
import { measureFlow } from './lib/blocks/flow.mjs'
import { measureBlocks } from './lib/blocks/full-blocks.mjs'
import { measureLongRun } from './lib/blocks/long-run.mjs'
import { measurePairs } from './lib/blocks/pairs.mjs'
import { measureParts } from './lib/measure-parts.mjs'

const parts = { flow: measureFlow, blocks: measureBlocks, long: measureLongRun, backlog: measureBacklog }
// Only with a folder to compare with.
if (process.env.BENCH_BEFORE) parts.pairs = measurePairs

await measureParts(parts, 'BENCH_PARTS')
