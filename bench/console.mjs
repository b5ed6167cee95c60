// What the console costs: the browser while the node is busy, the node while many watch, a large block, and
// the start. Chromium is CHROMIUM, or /usr/bin/chromium.
import { measureBlock } from './lib/console/large-block.mjs'
import { measurePage } from './lib/console/page.mjs'
import { measureReaders } from './lib/console/readers.mjs'
import { measureStart } from './lib/console/starts.mjs'
import { measureParts } from './lib/measure-parts.mjs'

const parts = { page: measurePage, readers: measureReaders, block: measureBlock, start: measureStart }

await measureParts(parts, 'BENCH_PARTS')
