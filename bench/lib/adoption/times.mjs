// From the first request for a body until the block's row is durable: of a block whose transactions wait in
// the mempool, in its order and in another one, and of one that the node has never seen; beside it, judging
// the transactions of the same block.
import { judgeBlock } from '@ratatosk/block'
import { decodeTransactionOutput, outputReferenceKey } from '@ratatosk/ledger'
import { median, millisecondsOf, round } from '../figures.mjs'
import { record } from '../record.mjs'
import { acceptAll } from '../rollup.mjs'
import { makeTransfers } from '../transfers.mjs'
import { openPair } from './adopter.mjs'

const rounds = Number(process.env.BENCH_ROUNDS ?? 3)
const blockSize = Number(process.env.BENCH_BLOCK ?? 10_000)
/** Of a block that the mempool holds, and of one that it does not hold beside judging it. */
const aims = { heldMs: 1000, ratio: 1.2 }

/** What of a block the mempool holds before. */
const cases = {
  held: (block) => block,
  'held in another order': (block) => block.toReversed(),
  unknown: () => [],
}
const names = Object.keys(cases)
const columns = ['total', 'body', 'roots', 'rules', 'stored', 'turn', 'judging']

export async function measureTimes() {
  const { genesis, transactions } = makeTransfers(rounds * names.length * blockSize)
  const { adopter, commit, entries } = await openPair(genesis, blockSize)
  const outputs = new Map(
    entries.map(({ reference, output }) => [outputReferenceKey(reference), decodeTransactionOutput(output)]),
  )
  const figures = Object.fromEntries(names.map((name) => [name, []]))
  for (let n = 0; n < rounds * names.length; n++) {
    const name = names[n % names.length]
    const block = transactions.slice(n * blockSize, (n + 1) * blockSize)
    await acceptAll(adopter.store, cases[name](block))
    const times = await commit(block)
    const interval = { startTime: 0n, endTime: 2n ** 40n }
    const judging = await millisecondsOf(() => judgeBlock(block, interval, outputs, adopter.rules))
    figures[name].push({ ...times, judging, ratio: times.total / judging })
  }
  const middle = (name, figure) => median(figures[name].map((each) => each[figure]))
  const rowOf = (name) => ({
    ...Object.fromEntries(columns.map((column) => [column, Math.round(middle(name, column))])),
    'total / judging': Number(middle(name, 'ratio').toFixed(2)),
  })
  console.log(`adoption of blocks of ${round(blockSize)} transfers, in ms, medians of ${rounds}:`)
  console.table(Object.fromEntries(names.map((name) => [name, rowOf(name)])))
  console.log(
    `aims: ${round(middle('held', 'total'))} of ${round(aims.heldMs)} ms if the mempool holds it; ` +
      `${middle('unknown', 'ratio').toFixed(2)} of ${aims.ratio} times judging it if not`,
  )
  record('adoption', {
    blockSize,
    rounds,
    ...Object.fromEntries(names.map((name) => [name, rowOf(name)])),
  })
}
