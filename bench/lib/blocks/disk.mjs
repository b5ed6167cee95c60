// The disk space of a transaction: blocks of payments are accepted, built and stored; then tables are
// vacuumed and measured, and the outputs' trie in LMDB.
import { randomBytes } from 'node:crypto'
import { openIndex } from '@ratatosk/layer2/ledger-index'
import { record, round } from '../figures.mjs'
import { ledgerEntries, openRollup } from '../rollup.mjs'
import { diskOf, withDatabase } from '../services.mjs'
import { createPayments } from '../transfers.mjs'
import { expectKind } from './full-blocks.mjs'

const count = Number(process.env.BENCH_BLOCKS ?? 160)
const blockSize = Number(process.env.BENCH_BLOCK ?? 5_000)
const outputs = Number(process.env.BENCH_BLOCK_OUTPUTS ?? 100_000)

export async function measureDisk() {
  const payments = createPayments(outputs)
  const genesis = payments.genesis()
  const name = `bench_${randomBytes(4).toString('hex')}`
  const rollup = await openRollup(name, genesis)
  const sequencer = await rollup.startSequencer(() => undefined, {
    autoCommit: false,
    maxBlockTransactions: blockSize,
  })
  await expectKind(sequencer.run('init'), 'initiated')
  const before = await sizes(name, rollup.folder)
  let bytes = 0
  for (let n = 1; n <= count; n++) {
    const block = payments.next(blockSize)
    for (const { length } of block) bytes += length
    await rollup.accept(block)
    await expectKind(sequencer.run('commit'), 'committed')
  }
  const index = await openIndex({
    database: rollup.store.database,
    schema: `${name}_index`,
    source: rollup.store.changes,
    genesis: ledgerEntries(genesis),
  })
  await untilCaughtUp(index)
  await index.close()
  const after = await sizes(name, rollup.folder)
  const transactions = count * blockSize
  const each = (key) => (after.get(key) - (before.get(key) ?? 0)) / transactions
  const places = [...after.keys()].map((place) => ({ place, bytes: each(place) }))
  const told = places.filter((place) => place.bytes >= 1).sort((a, b) => b.bytes - a.bytes)
  // The payments leave it as large as it is.
  const outputBytes = (after.get('mempool_ledger') + after.get('mempool_ledger, indexes')) / outputs
  for (const { place, bytes } of told) console.log(`  ${place}: ${round(bytes)} B`)
  console.log(
    `disk per transaction of ${round(bytes / transactions)} B after ${count} blocks of ` +
      `${round(blockSize)} over ${round(outputs)} outputs; ` +
      `${round(outputBytes)} B of mempool_ledger for each of these`,
  )
  record('disk', {
    blocks: count,
    blockSize,
    outputs,
    outputBytes,
    transactionBytes: bytes / transactions,
    places: told,
  })
}

/** The index follows the whole history more slowly than one call waits for it. */
async function untilCaughtUp(index) {
  for (;;) {
    try {
      return await index.caughtUp()
    } catch (error) {
      if (error.code !== 'INDEX_BEHIND') throw error
    }
  }
}

/** Bytes of each table, of its indexes, and of the trie. */
async function sizes(name, folder) {
  return withDatabase(async (client) => {
    const { rows } = await client.query(
      `SELECT n.nspname AS schema, c.relname AS table FROM pg_class AS c JOIN pg_namespace AS n ON n.oid =
        c.relnamespace
      WHERE n.nspname IN ($1::text, $1::text || '_index') AND c.relkind = 'r'`,
      [name],
    )
    const found = new Map([['trie of outputs (LMDB)', diskOf(folder)]])
    for (const { schema, table } of rows) {
      const at = `"${schema}"."${table}"`
      // Space that can be used again is not free yet.
      await client.query(`VACUUM FULL ${at}`)
      const [{ heap, indexes }] = (
        await client.query(
          `SELECT pg_table_size($1::regclass)::float8 AS heap, ` +
            `pg_indexes_size($1::regclass)::float8 AS indexes`,
          [at],
        )
      ).rows
      const place = schema === name ? table : `index: ${table}`
      found.set(place, heap)
      found.set(`${place}, indexes`, indexes)
    }
    return found
  })
}
