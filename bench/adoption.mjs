// Adoption of another operator's blocks of 10,000 transfers: how long it takes, and what it leaves of the
// acceptance of transactions.
import { measureAcceptance } from './lib/adoption/acceptance.mjs'
import { measureTimes } from './lib/adoption/times.mjs'
import { measureParts } from './lib/measure-parts.mjs'

await measureParts({ times: measureTimes, acceptance: measureAcceptance }, 'BENCH_PARTS')
