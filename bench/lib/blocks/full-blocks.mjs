// Blocks of 10,000 transfers, one after another, each from the reading of the mempool until its row is
// durable: roots, header and signed layer-1 transaction included, layer 1 not.
import { randomBytes } from 'node:crypto'
import { median, millisecondsOf, record, round } from '../figures.mjs'
import { openRollup } from '../rollup.mjs'
import { withDatabase } from '../services.mjs'
import { hashAll, makeTransfers, messagesOf } from '../transfers.mjs'

const outputs = Number(process.env.BENCH_BLOCK_OUTPUTS ?? 100_000)
const rounds = Number(process.env.BENCH_ROUNDS ?? 5)
const blockSize = Number(process.env.BENCH_BLOCK ?? 10_000)
const aimMs = 2000

export async function measureBlocks() {
  const { genesis, transactions } = makeTransfers(Math.max(outputs, rounds * blockSize))
  const name = `bench_${randomBytes(4).toString('hex')}`
  const rollup = await openRollup(name, genesis)
  let built
  const sequencer = await rollup.startSequencer((times) => (built = times), {
    autoCommit: false,
    maxBlockTransactions: blockSize,
  })
  await expectKind(sequencer.run('init'), 'initiated')
  const figures = []
  for (let n = 0; n < rounds; n++) {
    const block = transactions.slice(n * blockSize, (n + 1) * blockSize)
    await rollup.accept(block)
    const messages = messagesOf(block)
    const hashes = await millisecondsOf(() => hashAll(messages))
    const rows = await bareRows(name)
    await expectKind(sequencer.run('commit'), 'committed')
    figures.push({ ...built, hashes, rows })
    console.log(`  block ${n + 1}: ${stepsOf(built)}`)
  }
  const middle = (figure) => median(figures.map((each) => each[figure]))
  const longest = Math.max(...figures.map(({ total }) => total))
  console.log(
    `block of ${round(blockSize)} over ${round(genesis.length)} outputs, without layer 1: ` +
      `${round(middle('total'))} ms, at most ` +
      `${round(longest)} ms (median of ${rounds}; aim ${round(aimMs)} ms); bare SQL reads and ` +
      `moves as many rows in ` +
      `${round(middle('rows'))} ms, bare Blake2b-256 takes ${round(middle('hashes'))} ms`,
  )
  const steps = ['read', 'hashed', 'signed', 'stored', 'total', 'rows', 'hashes']
  record('blocks', {
    blockSize,
    outputs: genesis.length,
    rounds,
    longest,
    ...Object.fromEntries(steps.map((step) => [step, middle(step)])),
  })
}

export function stepsOf({ read, hashed, signed, stored, total }) {
  const steps = Object.entries({ read, roots: hashed, signed, stored }).map(
    ([step, ms]) => `${step} ${round(ms)}`,
  )
  return `${round(total)} ms (${steps.join(', ')})`
}

export async function expectKind(asked, kind) {
  const result = await asked
  if (result.kind !== kind) throw new Error(`the sequencer answers ${JSON.stringify(result)}`)
}

/** The mempool read by a bare client, and moved between two tables that have its indexes and nothing else. */
async function bareRows(schema) {
  const [from, to] = [`"${schema}".bare_from`, `"${schema}".bare_to`]
  return withDatabase(async (client) => {
    const like = `(LIKE "${schema}".mempool_transactions INCLUDING INDEXES)`
    await client.query(`CREATE TABLE ${from} ${like}; CREATE TABLE ${to} ${like}`)
    await client.query(`INSERT INTO ${from} SELECT * FROM "${schema}".mempool_transactions`)
    const ms = await millisecondsOf(async () => {
      await client.query(`SELECT sequence, transaction_id, cbor FROM ${from} ORDER BY sequence`)
      await client.query(
        `WITH moved AS (DELETE FROM ${from} RETURNING *) INSERT INTO ${to} SELECT * FROM moved`,
      )
    })
    await client.query(`DROP TABLE ${from}, ${to}`)
    return ms
  })
}
