// Blocks of 10,000 over ledgers of several sizes: from the 65th on, earlier states of the outputs are
// forgotten; the space of 64 of them together is freed, first after the 128th. Each block fills up at a rate,
// as validation accepts transactions; then it is committed at once.
import { randomBytes } from 'node:crypto'
import { loadavg } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { median, record, round } from '../figures.mjs'
import { openRollup } from '../rollup.mjs'
import { measureEach } from '../services.mjs'
import { createPayments } from '../transfers.mjs'
import { expectKind, stepsOf } from './full-blocks.mjs'

const sizes = (process.env.BENCH_LEDGERS ?? '10000,100000,1000000').split(',').map(Number)
const count = Number(process.env.BENCH_BLOCKS ?? 180)
const blockSize = Number(process.env.BENCH_BLOCK ?? 10_000)
const rate = Number(process.env.BENCH_FILL ?? 5000)
/** Blocks until space is freed. */
const unfreed = 128
const step = 1000

export async function measureLongRun() {
  record('long', { blockSize, rate, unfreed, ledgers: await measureEach(sizes, measure) })
}

async function measure(size) {
  const payments = createPayments(size)
  const rollup = await openRollup(`bench_${randomBytes(4).toString('hex')}`, payments.genesis())
  let built
  const sequencer = await rollup.startSequencer((times) => (built = times), {
    autoCommit: false,
    maxBlockTransactions: blockSize,
  })
  await expectKind(sequencer.run('init'), 'initiated')
  const figures = []
  for (let n = 1; n <= count; n++) {
    const started = performance.now()
    for (let done = 0; done < blockSize; done += step) {
      await rollup.accept(payments.next(Math.min(step, blockSize - done)))
      if (rate > 0) await sleep(Math.max(0, started + ((done + step) * 1000) / rate - performance.now()))
    }
    await expectKind(sequencer.run('commit'), 'committed')
    figures.push(built)
    if (n % 10 === 0)
      console.log(
        `  ${round(size)} outputs, block ${n}: ${stepsOf(built)}, CPU ${round(built.cpu)} ms, ` +
          `${round(built.prepared)} prepared`,
      )
  }
  const early = figures.slice(0, unfreed)
  const late = figures.slice(unfreed)
  console.log(
    `blocks of ${round(blockSize)} over ${round(size)} outputs, filled at ` +
      `${rate > 0 ? `${round(rate)}/s` : 'once'}, load ${loadavg()[0].toFixed(1)}: ` +
      `${told(early)} up to block ${early.length}${late.length > 0 ? `; ${told(late)} after it` : ''}`,
  )
  return {
    size,
    blocks: figures.map(({ total, cpu, hashed, prepared }) => ({ total, cpu, hashed, prepared })),
  }
}

function told(figures) {
  const of = (figure) => figures.map((each) => each[figure])
  const freed = of('freed').reduce((sum, ms) => sum + ms, 0) / figures.length
  return (
    `${round(median(of('total')))} ms, at most ${round(Math.max(...of('total')))} ms, CPU ` +
    `${round(median(of('cpu')))} ms ` +
    `(roots ${round(median(of('hashed')))} ms, at most ${round(Math.max(...of('hashed')))} ms; ` +
    `${round(median(of('prepared')))} prepared; ` +
    `${round(freed)} ms a block of freeing beside it)`
  )
}
