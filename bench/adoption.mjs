// Adoption of another operator's block of 10,000 transfers, from the first request for its body until its row
// is durable: of one whose transactions wait in the mempool, in its order and in another one, and of one that
// the node has never seen; beside it, judging the same block.
import { randomBytes } from 'node:crypto'
import { judgeBlock } from '@ratatosk/block'
import { decodeTransactionOutput, outputReferenceKey } from '@ratatosk/ledger'
import { openAdopter } from './lib/adoption/adopter.mjs'
import { expectKind } from './lib/blocks/full-blocks.mjs'
import { cleanUp } from './lib/clean-up.mjs'
import { median, millisecondsOf, round } from './lib/figures.mjs'
import { record } from './lib/record.mjs'
import { acceptAll, openRollup } from './lib/rollup.mjs'
import { makeTransfers } from './lib/transfers.mjs'

const rounds = Number(process.env.BENCH_ROUNDS ?? 3)
const blockSize = Number(process.env.BENCH_BLOCK ?? 10_000)

const reversed = (block) => block.toReversed()
const cases = {
  held: (block) => block,
  'held in another order': reversed,
  unknown: () => [],
}
const names = Object.keys(cases)

async function measure() {
  const { genesis, transactions } = makeTransfers(rounds * names.length * blockSize)
  const schema = `bench_${randomBytes(4).toString('hex')}`
  const rollup = await openRollup(schema, genesis)
  const operator = await rollup.startSequencer(() => undefined, {
    autoCommit: false,
    maxBlockTransactions: blockSize,
  })
  await expectKind(operator.run('init'), 'initiated')
  const adopter = await openAdopter(rollup, schema)
  await adopter.store.applyGenesis(rollup.entries)
  const outputs = new Map(
    rollup.entries.map(({ reference, output }) => [
      outputReferenceKey(reference),
      decodeTransactionOutput(output),
    ]),
  )
  const figures = Object.fromEntries(names.map((name) => [name, []]))
  let used = 0
  for (let n = 0; n < rounds; n++) {
    for (const name of names) {
      const block = transactions.slice(used, used + blockSize)
      used += blockSize
      await acceptAll(adopter.store, cases[name](block))
      await rollup.accept(block)
      const adoption = adopter.nextAdoption()
      await expectKind(operator.run('commit'), 'committed')
      const times = await adoption
      const interval = { startTime: 0n, endTime: 2n ** 40n }
      const judging = await millisecondsOf(() => judgeBlock(block, interval, outputs, adopter.rules))
      figures[name].push({ ...times, judging, ratio: times.total / judging })
    }
  }
  return figures
}

try {
  const figures = await measure()
  const middle = (name, figure) => median(figures[name].map((each) => each[figure]))
  const columns = ['total', 'body', 'roots', 'rules', 'stored', 'judging', 'turn']
  console.log(`adoption of ${round(blockSize)} transfers, ms, median of ${rounds}`)
  console.table(
    Object.fromEntries(
      names.map((name) => [
        name,
        {
          ...Object.fromEntries(columns.map((column) => [column, Math.round(middle(name, column))])),
          'total / judging': Number(middle(name, 'ratio').toFixed(2)),
        },
      ]),
    ),
  )
  record('adoption', { blockSize, rounds, figures })
} finally {
  await cleanUp()
}
