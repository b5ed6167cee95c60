// The flow with one, two and four processes of a role. All share the cores of this machine, so the rate
// cannot double; what can be seen is what a transaction costs when several processes share the work, and
// whether they get in each other's way.

import { makeSpread, record } from '../figures.mjs'
import { here } from '../node-process.mjs'
import { cleanUp } from '../services.mjs'
import { figuresOf, oneFlow, print } from './flow.mjs'

const counts = (process.env.BENCH_PROCESSES ?? '1,2,4').split(',').map(Number)
const seconds = Number(process.env.BENCH_SECONDS ?? 60)
const rates = (process.env.BENCH_RATES ?? '1000,0').split(',').map(Number)
const outputs = Number(process.env.BENCH_OUTPUTS ?? 1_000_000)
const addresses = Number(process.env.BENCH_ADDRESSES ?? 10_000)

/** One process of each role is measured once. */
const shapes = [
  ...counts.filter((count) => count === 1).map(() => ({})),
  ...['api', 'tx-processor'].flatMap((role) =>
    counts.filter((count) => count > 1).map((count) => ({ [role]: count })),
  ),
]

export async function measureScale() {
  const most = Number(process.env.BENCH_MOST ?? 5000)
  const count = Math.min(outputs, (seconds + 5) * Math.max(...rates.map((rate) => rate || most)))
  const transfers = makeSpread({ count, outputs, addresses })
  const flows = []
  for (const rate of rates) {
    for (const processes of shapes) {
      try {
        const figure = await oneFlow(rate, transfers, here, processes)
        const told = Object.entries(processes).map(([role, number]) => `${number} × ${role}`)
        print(told[0] ?? 'one of each', rate, figure)
        flows.push({ processes, ...figuresOf(rate, figure) })
      } finally {
        await cleanUp()
      }
    }
  }
  record('scale', { seconds, outputs, addresses, flows })
}
