// A mempool of 205,000 transactions, and the sequencer that finds it.
import { randomBytes } from 'node:crypto'
import { median, millisecondsOf, round } from '../figures.mjs'
import { openRollup } from '../rollup.mjs'
import { makeTransfers } from '../transfers.mjs'
import { expectKind, stepsOf } from './full-blocks.mjs'

const count = Number(process.env.BENCH_BACKLOG ?? 205_000)
const patienceMs = 60_000

export async function measureBacklog() {
  const { genesis, transactions } = makeTransfers(count)
  const rollup = await openRollup(`bench_${randomBytes(4).toString('hex')}`, genesis)
  const first = await rollup.startSequencer(() => undefined, { autoCommit: false })
  await expectKind(first.run('init'), 'initiated')
  await first.close()
  const filled = await millisecondsOf(() => rollup.accept(transactions))
  console.log(`  ${round(count)} transactions written to the mempool in ${(filled / 1000).toFixed(1)} s`)

  const built = []
  const elapsed = await millisecondsOf(async () => {
    const sequencer = await rollup.startSequencer((times) => built.push(times))
    await untilCommitted(rollup.store.blocks, built, sequencer)
  })
  await checkBlocks(rollup.store, transactions.length)
  const [one, last] = [built[0], built.at(-1)]
  const working = last.begun + last.total - one.begun
  console.log(`  first block: ${stepsOf(one)}\n  last block: ${stepsOf(last)}`)
  console.log(
    `backlog of ${round(count)}: ${built.length} blocks stored in ${(working / 1000).toFixed(1)} s, ` +
      `${round((count * 1000) / working)} tx/s; all in the state queue ` +
      `${(elapsed / 1000).toFixed(1)} s after the sequencer's start; ` +
      `a block takes ${round(median(built.map(({ total }) => total)))} ms, at most ` +
      `${round(Math.max(...built.map(({ total }) => total)))} ms, ` +
      `the first ${round(one.total)} ms, the last but one ${round(built.at(-2)?.total ?? last.total)} ms`,
  )
}

async function untilCommitted(blocks, built, sequencer) {
  const started = performance.now()
  for (;;) {
    await new Promise((resolve) => setTimeout(resolve, 100))
    const { begun = started } = built.at(-1) ?? {}
    if (performance.now() - begun > patienceMs) {
      throw new Error(`the sequencer makes no more blocks: ${JSON.stringify(sequencer.snapshot())}`)
    }
    if ((await blocks.waiting(1)) === 0 && (await blocks.newest())?.state === 'committed') return
  }
}

async function checkBlocks(store, wanted) {
  const blocks = await store.blocks.unmerged()
  const ids = new Set()
  for (const { headerHash } of blocks) {
    for await (const page of store.blockTransactionPages(headerHash))
      for (const id of page) ids.add(Buffer.from(id).toString('hex'))
  }
  const counted = blocks.reduce((sum, { transactions }) => sum + transactions, 0)
  if (blocks.some(({ state }) => state !== 'committed') || counted !== wanted || ids.size !== wanted) {
    throw new Error(
      `${wanted} transactions were to be committed once each: ${counted} are in blocks, ` +
        `${ids.size} different ones`,
    )
  }
}
