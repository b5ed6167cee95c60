// What a node on PostgreSQL + Redis does for honest clients while others flood it: scripts that use all their
// budget, and junk.

import { measureBombs } from './lib/flood/bombs.mjs'
import { measureJunk } from './lib/flood/junk.mjs'
import { measureParts } from './lib/measure-parts.mjs'

const parts = { bombs: measureBombs, junk: measureJunk }

await measureParts(parts, 'BENCH_FLOODS')
