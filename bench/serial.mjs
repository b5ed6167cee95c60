// What acceptance does one batch at a time, alone: transactions are decoded and their signatures verified
// before. Each spends an output of a large ledger, in no order. Three ways on the same transactions, on
// PostgreSQL as it is installed and on one that is tuned:
//
// tables: phase B as a validation worker runs it whose batches are not full, under the ledger's lock tables
// of 2 workers: as two processes run it whose batches are full: they validate a batch before the lock log:
// the
// ledger in memory; the same rules, then one row with the batch's transactions in a log claims: the rules
// have validated before; only whether the inputs are unspent is found out here, in memory, before the row is
// written.
//         `overlapped`: the next batches are claimed while rows are being written.
//
// `log` and `claims` are what docs/decisions/0025 describes; nothing outside this file does it that way.
import { randomBytes } from 'node:crypto'
import { loadavg } from 'node:os'
import { decodeTransactionOutput, outputReferenceKey, validateStateful } from '@ratatosk/ledger'
import { openStore } from '@ratatosk/store'
import { ownPostgres } from '@ratatosk/test-kit'
import pg from 'pg'
import { commitBatch } from '../packages/workers/dist/commit-batch.js'
import { examine } from '../packages/workers/dist/examine.js'
import { cleanUp, defer } from './lib/clean-up.mjs'
import { median, round } from './lib/figures.mjs'
import { record } from './lib/record.mjs'
import { batchesOf, conditions, context, requireAccepted, taken } from './lib/serial/conditions.mjs'
import { startTableWorkers } from './lib/serial/table-workers.mjs'
import { databaseUrl, removeTraces, withDatabase } from './lib/services.mjs'
import { makeSpread } from './lib/spread.mjs'
import { bareVerifications } from './lib/transfers.mjs'

const outputs = Number(process.env.BENCH_OUTPUTS ?? 1_000_000)
const count = Number(process.env.BENCH_TRANSACTIONS ?? 20_480)
const rounds = Number(process.env.BENCH_ROUNDS ?? 5)
/** Processes of a worker that share the ledger. */
const tableWorkers = 2
const servers = (process.env.BENCH_SERVERS ?? 'stock,tuned').split(',')

/** As docs/postgresql.md advises. */
const settings = {
  stock: {},
  tuned: {
    shared_buffers: '4GB',
    max_wal_size: '16GB',
    checkpoint_timeout: '30min',
    wal_compression: 'lz4',
  },
}

/**
 * Each with the size of a batch, and how many workers write to the tables, or how many rows of the log are
 * written at a time.
 */
const cases = [
  { way: 'tables', size: 256, workers: 1 },
  { way: 'tables', size: 256, workers: tableWorkers },
  { way: 'tables', size: 1024, workers: tableWorkers },
  { way: 'log', size: 256, writing: 1 },
  { way: 'log', size: 1024, writing: 1 },
  { way: 'claims', size: 256, writing: 1 },
  { way: 'claims', size: 1024, writing: 1 },
  { way: 'claims', size: 1024, writing: 3 },
]
const nameOf = ({ way, size, writing, workers }) =>
  `${way}, batches of ` +
  `${size}${workers > 1 ? ` of ${workers} workers` : ''}${writing > 1 ? ', overlapped' : ''}`

// No two runs of a way spend the same outputs.
const runsOf = (wanted) => (rounds + 1) * cases.filter(({ way }) => way === wanted).length
const most = Math.max(...cases.map(({ way }) => runsOf(way))) * count
if (most > outputs)
  throw new Error(`${most} transactions spend more outputs than there are: raise BENCH_OUTPUTS`)
const transfers = makeSpread({ count: most, outputs, addresses: 10_000 })

function candidatesOf(run) {
  const transactions = transfers.from(run * count)
  return Array.from({ length: count }, (_, n) => examine(transactions.at(n), context))
}

function memoryLedger() {
  const unspent = new Map()
  for (const { transactionId, output } of transfers.ledger())
    unspent.set(outputReferenceKey({ transactionId, index: 0 }), output)
  return { unspent, known: new Set() }
}

async function throughTables(candidates, { size, workers }, { store, tableWorkers }) {
  if (workers > 1) {
    const transactions = candidates.map(({ transaction }) => transaction.bytes)
    return { elapsed: await tableWorkers.commit(transactions, size) }
  }
  const started = performance.now()
  for (const batch of batchesOf(taken(candidates), size)) {
    const validated = await store.withLedger((ledger) => commitBatch(ledger, batch, [], conditions))
    requireAccepted(validated, batch.length)
  }
  return { elapsed: performance.now() - started }
}

async function throughLog(candidates, { size }, { memory, log }) {
  const { unspent, known } = memory
  const ledger = {
    known: async (ids) => ids.map((id) => known.has(Buffer.from(id).toString('hex'))),
    outputs: async (references) => references.map((each) => unspent.get(outputReferenceKey(each))),
    rejections: { add: async () => undefined },
    apply: ({ transactions }) => log.append(transactions.map(({ cbor }) => cbor)),
  }
  const started = performance.now()
  for (const batch of batchesOf(taken(candidates), size)) {
    const validated = await commitBatch(ledger, batch, [], conditions)
    requireAccepted(validated, batch.length)
    for (const candidate of validated.accepted) claim(candidate, memory)
  }
  return { elapsed: performance.now() - started }
}

async function throughClaims(candidates, { size, writing }, { memory, log }) {
  const beforehand = performance.now()
  for (const { transaction, named } of candidates) {
    const seen = new Map(named.map(({ key }) => [key, decodeTransactionOutput(memory.unspent.get(key))]))
    if (validateStateful(transaction, seen, context).length > 0)
      throw new Error('a transfer of the benchmark breaks a rule')
  }
  const validated = performance.now() - beforehand
  const started = performance.now()
  const rows = []
  let claiming = 0
  for (const batch of batchesOf(candidates, size)) {
    const at = performance.now()
    const claimed = batch.filter((candidate) => claim(candidate, memory))
    claiming += performance.now() - at
    if (claimed.length !== batch.length) throw new Error('a transfer of the benchmark was not accepted')
    rows.push(log.append(claimed.map(({ transaction }) => transaction.bytes)))
    await rows[rows.length - writing]
  }
  await Promise.all(rows)
  return { elapsed: performance.now() - started, validated, claiming }
}

/** Spends and produces, if all inputs are unspent. */
function claim({ key, spentKeys, produced }, { unspent, known }) {
  if (known.has(key) || !spentKeys.every((spent) => unspent.has(spent))) return false
  for (const spent of spentKeys) unspent.delete(spent)
  for (const each of produced) unspent.set(each.key, each.output.bytes)
  known.add(key)
  return true
}

/** A table whose rows are batches. Each connection writes one at a time; all are durable in the end. */
async function openLog(url, schema) {
  const clients = []
  for (let n = 0; n < 3; n++) {
    const client = new pg.Client({ connectionString: url })
    await client.connect()
    defer(() => client.end())
    clients.push(client)
  }
  await clients[0].query(
    `CREATE TABLE "${schema}".log (sequence bigint PRIMARY KEY, body bytea NOT NULL); ALTER TABLE ` +
      `"${schema}".log ALTER body SET STORAGE EXTERNAL`,
  )
  let sequence = 0
  return {
    append(transactions) {
      const values = [sequence, Buffer.concat(transactions)]
      const client = clients[sequence++ % clients.length]
      return client.query({ name: 'append', text: `INSERT INTO "${schema}".log VALUES ($1, $2)`, values })
    },
  }
}

const ways = { tables: throughTables, log: throughLog, claims: throughClaims }

async function startServer(name) {
  if (name === 'given') return databaseUrl
  const server = await ownPostgres(settings[name])
  if (server === undefined)
    throw new Error('PostgreSQL is not installed here: BENCH_SERVERS=given uses TEST_DATABASE_URL')
  defer(() => server.close())
  return server.url
}

async function measureOn(name) {
  const url = await startServer(name)
  const schema = `bench_${randomBytes(4).toString('hex')}`
  if (name === 'given') defer(() => removeTraces(schema))
  const store = await openStore({ url, schema })
  defer(() => store.close())
  await withDatabase(async (client) => {
    await transfers.fill(client, schema)
    await client.query('CHECKPOINT')
  }, url)
  const log = await openLog(url, schema)
  const places = {
    tables: { store, tableWorkers: await startTableWorkers(tableWorkers, url, schema) },
    log: { memory: memoryLedger(), log },
    claims: { memory: memoryLedger(), log },
  }
  const written = () =>
    withDatabase(async (client) => {
      const { rows } = await client.query("SELECT (pg_current_wal_insert_lsn() - '0/0')::float8 AS wal")
      return rows[0].wal
    }, url)
  const runs = { tables: 0, log: 0, claims: 0 }
  const figures = cases.map(() => [])
  const ceilings = []
  // The first round finds unoptimised code, and pages that were not changed since the checkpoint. It does not
  // count.
  for (let n = 0; n <= rounds; n++) {
    ceilings.push(bareVerifications(transfers.signatures.slice(0, 5000)))
    for (const [place, each] of cases.entries()) {
      const candidates = candidatesOf(runs[each.way]++)
      const before = await written()
      const { elapsed, validated, claiming } = await ways[each.way](candidates, each, places[each.way])
      const per = (ms) => ms && (ms * 1000) / count
      if (n > 0)
        figures[place].push({
          microseconds: per(elapsed),
          validated: per(validated),
          claiming: per(claiming),
          wal: ((await written()) - before) / count,
        })
    }
  }
  const ceiling = median(ceilings)
  const told = cases.map((each, place) => {
    const middle = (figure) => median(figures[place].map((one) => one[figure] ?? 0))
    const figure = {
      server: name,
      ...each,
      microseconds: middle('microseconds'),
      perSecond: 1e6 / middle('microseconds'),
      wal: middle('wal'),
      ...(each.way === 'claims' && { validated: middle('validated'), claiming: middle('claiming') }),
    }
    console.log(
      `  ${name}, ${nameOf(each)}: ${round(figure.perSecond)} tx/s, ` +
        `${figure.microseconds.toFixed(1)} µs each, ${round(figure.wal)} B of WAL` +
        (figure.claiming
          ? `; the claims alone ${figure.claiming.toFixed(1)} µs, the rules before ` +
            `${figure.validated.toFixed(1)} µs`
          : ''),
    )
    return figure
  })
  const [first] = told
  const against = (wanted) => {
    const { perSecond } = told.find(
      ({ way, size, workers }) => way === wanted && size === 256 && workers !== 1,
    )
    return `${wanted} ×${(perSecond / first.perSecond).toFixed(1)}`
  }
  console.log(
    `serial part over ${round(outputs)} outputs on ${name} PostgreSQL (medians of ${rounds} × ` +
      `${round(count)}; bare libsodium verifications ` +
      `${round(ceiling)}/s; load ${loadavg()[0].toFixed(1)}): tables of one worker ` +
      `${round(first.perSecond)} tx/s; ` +
      `of ${tableWorkers} ${against('tables')}, ${against('log')}, ${against('claims')}`,
  )
  return { ceiling, cases: told }
}

const measured = []
const ceilings = {}
try {
  for (const name of servers) {
    try {
      const { ceiling, cases } = await measureOn(name)
      ceilings[name] = ceiling
      measured.push(...cases)
    } finally {
      await cleanUp()
    }
  }
  record('serial', { outputs, transactions: count, rounds, settings, ceilings, cases: measured })
} catch (error) {
  console.error(error)
  process.exitCode = 1
}
