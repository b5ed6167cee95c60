// From a submission to the block that commits it, on PostgreSQL + Redis and a devnet: a minute of load on the node's processes,
// blocks of 10,000 step by step, and a backlog. Beside each what bare libraries and bare SQL make of as much, in the same run.

import { measureBacklog } from './lib/blocks/backlog.mjs'
import { measureFlow } from './lib/blocks/flow.mjs'
import { measureBlocks } from './lib/blocks/full-blocks.mjs'
import { measureParts } from './lib/measure-parts.mjs'

const parts = { flow: measureFlow, blocks: measureBlocks, backlog: measureBacklog }

await measureParts(parts, 'BENCH_PARTS')
