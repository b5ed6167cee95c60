// A block of 10,000 signed 1-in/2-out transfers applied to 10,000, 100,000 and 1,000,000 unspent outputs, in
// memory and in LMDB, on the roots' own thread, from the call to its answer; beside each block, bare
// Blake2b-256 on this thread of what has to be hashed for it whatever the trie: the transactions' bodies and,
// as keys and values, their inputs, outputs, hashes and bytes.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openRoots } from '@ratatosk/sequencer/roots'
import { median, millisecondsOf, record, round } from './lib/figures.mjs'
import { hashAll, makeTransfers, messagesOf, numbered } from './lib/transfers.mjs'

const sizes = (process.env.BENCH_OUTPUTS ?? '10000,100000,1000000').split(',').map(Number)
const rounds = Number(process.env.BENCH_ROUNDS ?? 5)
const blockSize = 10_000
const pieceSize = 5_000

const { genesis, transactions } = makeTransfers(rounds * blockSize)
const blocks = Array.from({ length: rounds }, (_, n) =>
  transactions.slice(n * blockSize, (n + 1) * blockSize),
)
const spendable = genesis.map(({ outref, output }) => ({
  transactionId: Buffer.from(outref.slice(0, 64), 'hex'),
  index: Number(outref.slice(65)),
  output: Buffer.from(output, 'hex'),
}))

/** The outputs that the blocks spend, and as many others as it takes. */
async function* ledgerOf(size) {
  for (let start = 0; start < size; start += pieceSize) {
    yield Array.from({ length: Math.min(pieceSize, size - start) }, (_, n) => {
      const known = spendable[start + n]
      if (known) return known
      return { transactionId: numbered(32, start + n), index: 0, output: spendable[0].output }
    })
  }
}

async function measure(size, place, options) {
  const roots = await openRoots(options)
  try {
    const built = await millisecondsOf(() => roots.rebuild(ledgerOf(size)))
    const figures = []
    // A small ledger has no outputs for a second block: it is measured with the first one, again and again.
    const lasts = size >= rounds * blockSize
    for (let n = 0; n < rounds; n++) {
      const block = blocks[lasts ? n : 0]
      const messages = messagesOf(block)
      const before = await roots.root()
      const bare = await millisecondsOf(() => hashAll(messages))
      const applied = await millisecondsOf(() => roots.apply(block))
      const undone = await millisecondsOf(() => roots.revert(before))
      if (Buffer.compare(await roots.root(), before) !== 0) throw new Error('an undo has led to another root')
      if (lasts) await roots.apply(block)
      figures.push({ applied, bare, ratio: applied / bare, undone })
    }
    const middle = (figure) => median(figures.map((each) => each[figure]))
    console.log(
      `roots of ${round(blockSize)} transfers over ${round(size)} outputs in ${place}: ` +
        `${round(middle('applied'))} ms ` +
        `(bare Blake2b-256 ${round(middle('bare'))} ms: ${round(middle('ratio'))} times as long; ` +
        `median of ${rounds} rounds); ` +
        `undone in ${round(middle('undone'))} ms; rebuilt in ${(built / 1000).toFixed(1)} s`,
    )
    return { size, place, applied: middle('applied'), bare: middle('bare'), undone: middle('undone'), built }
  } finally {
    await roots.close()
  }
}

const measured = []
for (const size of sizes) {
  measured.push(await measure(size, 'memory', {}))
  const folder = mkdtempSync(join(tmpdir(), 'ratatosk-bench-roots-'))
  try {
    measured.push(await measure(size, 'LMDB', { path: folder }))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
record('roots', { blockSize, rounds, ledgers: measured })
