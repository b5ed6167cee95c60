// How many cores the measured costs mean at higher rates.
import { sumOf } from './cost.mjs'
import { digits, table } from './markdown.mjs'

const rates = [10_000, 100_000]
/** A core that is used more has no room for peaks. */
const utilisation = 0.7

/** Where a role's work runs one at a time; its processes then do not add up. */
const limits = {
  api: 'any number of processes',
  'tx-processor': 'signatures in any number of processes; the batch under the lock in one at a time',
  sequencer: 'one active; its roots on one thread',
  PostgreSQL: 'one connection writes the ledger at a time',
  Redis: 'one thread for each queue',
}

export const arithmetic = {
  needs: ['flow-split', 'disk'],

  write({ 'flow-split': { flows }, disk: { places } }) {
    const { microseconds } = flows.findLast(({ rate }) => rate === 0) ?? flows.at(-1)
    const cores = (each, rate) => digits((each * rate) / 1e6 / utilisation)
    const sum = sumOf(microseconds)
    // The trie keeps at most 128 states, however many transactions follow.
    const growing = places.filter(({ place }) => !place.startsWith('trie'))
    const bytes = growing.reduce((total, place) => total + place.bytes, 0)
    const terabytes = (rate) => digits((bytes * rate * 86_400) / 1e12)
    return [
      `Cores at ${utilisation * 100} % utilisation, with what a transaction costs at the highest rate above:`,
      table([
        ['role', 'µs', '10,000 tx/s', '100,000 tx/s', 'in parallel'],
        ...Object.entries(microseconds).map(([role, each]) => [
          role,
          digits(each),
          ...rates.map((rate) => cores(each, rate)),
          limits[role] ?? '',
        ]),
        ['**sum**', digits(sum), ...rates.map((rate) => cores(sum, rate)), ''],
        ['tables, TB a day', '', ...rates.map(terabytes), ''],
      ]),
    ].join('\n\n')
  },
}
