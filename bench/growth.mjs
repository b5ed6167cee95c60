import { spawn } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { encodeBech32Address } from '@ratatosk/ledger'
import { openRoots } from '@ratatosk/sequencer/roots'
import { openStore } from '@ratatosk/store'
import { median, millisecondsOf, percentile, record, round } from './lib/figures.mjs'
import { databaseUrl, defer, measureEach, removeTraces, withDatabase } from './lib/services.mjs'

// A ledger after many transactions, written by SQL in the shape in which the node leaves it: each transaction
// has spent an output and made two, of which one is spent. All are in merged blocks but the last 5,000, which
// are in the mempool.

const blockSize = 10_000
const mempool = 5_000
const rowsAtOnce = 500_000

const sha256 = (text) => createHash('sha256').update(text).digest()
const addressNamed = (name) => Buffer.concat([Buffer.from([0x60]), sha256(name).subarray(0, 28)])

/**
 * @param {object} options
 * @param {number} options.size transactions, and unspent outputs
 * @param {number} options.share of the outputs, those of one address; the others have about ten for each
 *   address
 * @param {string} options.schema which a store has migrated
 */
function createLedgerOfSize({ size, share, schema }) {
  const every = Math.round(1 / share)
  // Odd, so that every one of them gets outputs, whatever the share.
  const addresses = Math.floor(size / 10) + 1
  const inMempool = Math.min(mempool, size / 2)
  const inBlocks = size - inMempool
  const at = `"${schema}"`
  const id = (n) => `sha256(convert_to('t' || (${n}), 'UTF8'))`
  const address = (n) =>
    `('\\x60'::bytea || substr(sha256(convert_to(CASE WHEN (${n}) % ${every} = 0 THEN 'shared' ` +
    `ELSE 'a' || (((${n})::bigint * 7919) % ${addresses}) END, 'UTF8')), 1, 28))`
  const output = (n) => `('\\xa200581d'::bytea || ${address(n)} || '\\x011a003d0900'::bytea)`
  const hash512 = (n, salt) => `sha512(convert_to('${salt}' || (${n}), 'UTF8'))`
  /** As long as a transfer. */
  const cbor = (n) =>
    `(${id(n)} || ${['x', 'y', 'z'].map((salt) => hash512(n, salt)).join(' || ')} || '\\x00'::bytea)`

  return {
    /** How many outputs the one address has. */
    shared: Math.floor(size / every),
    /** In how many transactions it is, at least. */
    touched: Math.floor(size / every),
    sharedAddress: addressNamed('shared'),
    transactionId: (random) => sha256(`t${1 + random(size)}`),
    addressOf: (random) => addressNamed(`a${random(addresses)}`),

    async fill(client) {
      await client.query(`INSERT INTO ${at}.blocks (state, height, header_hash, header,
        previous_header_hash, utxos_root, start_time, end_time,
          first_sequence, last_sequence, transactions, commit_transaction_id, commit_transaction,
            submitted_at, committed_at, matured_at, merged_at)
        SELECT 'merged', h, substr(${hash512('h', 'b')}, 1, 28), ${hash512('h', 'h')},
          substr(${hash512('h - 1', 'b')}, 1, 28), ${id('h')},
          h * 1000, h * 1000 + 1000, (h - 1) * ${blockSize} + 1, least(h * ${blockSize}, ${inBlocks}),
          least(h * ${blockSize}, ${inBlocks}) - (h - 1) * ${blockSize}, ${id('h')}, ${hash512('h', 'c')},
            now(), now(), now(), now()
        FROM generate_series(1, ${Math.ceil(inBlocks / blockSize)}) AS h`)
      await client.query(`INSERT INTO ${at}.mempool_transactions
        (sequence, event_sequence, transaction_id, cbor)
        SELECT n, n, ${id('n')}, ${cbor('n')} FROM generate_series(${inBlocks + 1}, ${size}) AS n`)
      for (let from = 1; from <= size; from += rowsAtOnce) {
        const to = Math.min(from + rowsAtOnce - 1, size)
        await client.query(`INSERT INTO ${at}.block_transactions (block_id, position, sequence,
          event_sequence, transaction_id, cbor, accepted_at)
          SELECT b.id, n - b.first_sequence + 1, n, n, ${id('n')}, ${cbor('n')}, now()
          FROM generate_series(${from}, ${Math.min(to, inBlocks)}) AS n
          JOIN ${at}.blocks AS b ON b.height = (n - 1) / ${blockSize} + 1`)
        await client.query(`INSERT INTO ${at}.mempool_ledger (transaction_id, output_index, output,
          address, sequence)
          SELECT ${id('n')}, 0, ${output('n')}, ${address('n')}, n FROM generate_series(${from}, ${to}) AS n`)
        await client.query(`INSERT INTO ${at}.address_history
          SELECT DISTINCT address, sequence FROM (
            SELECT ${address('n')}, n FROM generate_series(${from}, ${to}) AS n
            UNION ALL SELECT ${address('n + 3')}, n FROM generate_series(${from}, ${to}) AS n
          ) AS touched (address, sequence)`)
      }
      await client.query(`SELECT setval('${at}.accept_sequence', ${size})`)
      for (const table of [
        'blocks',
        'mempool_transactions',
        'block_transactions',
        'mempool_ledger',
        'address_history',
      ])
        await client.query(`VACUUM ANALYZE ${at}.${table}`)
    },
  }
}

// How queries and the start of a node grow with the ledger: N transactions in blocks, N unspent outputs of
// which one address owns a share, written by SQL. Queries go to a process of their own over HTTP; the
// outputs' trie is built in LMDB as a sequencer does when its folder is empty, and opened again as it does at
// each further start.

const sizes = (process.env.BENCH_LEDGERS ?? '10000,100000,1000000').split(',').map(Number)
const rounds = Number(process.env.BENCH_ROUNDS ?? 3)
/** Of the outputs, those of one address. */
const share = Number(process.env.BENCH_SHARE ?? 0.1)
const depths = [0, 1_000, 10_000, 100_000]
const connections = 4

async function measure(size) {
  const schema = `bench_${randomBytes(4).toString('hex')}`
  defer(() => removeTraces(schema))
  const store = await openStore({ url: databaseUrl, schema })
  defer(() => store.close())
  const ledger = createLedgerOfSize({ size, share, schema })
  await withDatabase(ledger.fill)
  const queries = await measureQueries(ledger, schema)
  const start = await measureStart(store)
  console.log(
    `ledger of ${round(size)} outputs, load ${loadavg()[0].toFixed(1)}: trie built in ` +
      `${(start.built / 1000).toFixed(2)} s, ` +
      `opened again in ${round(start.opened)} ms`,
  )
  return { size, shared: ledger.shared, queries, ...start }
}

async function measureQueries({ transactionId, addressOf, sharedAddress, shared, touched }, schema) {
  const server = await startQueryServer(schema)
  const random = (limit) => Math.floor(Math.random() * limit)
  const text = (bytes) => encodeBech32Address({ kind: 'enterprise', networkId: 0, bytes })
  const asked = [
    { name: '/tx', requests: 2000, path: () => `/tx?tx_hash=${transactionId(random).toString('hex')}` },
    {
      name: '/utxos, about 10 outputs',
      requests: 1000,
      path: () => `/utxos?address=${text(addressOf(random))}`,
    },
    {
      name: '/utxos, one address with many',
      requests: 3 * rounds,
      inTurn: true,
      path: () => `/utxos?address=${text(sharedAddress)}`,
    },
    ...depths
      .filter((depth) => depth < touched - 100)
      .map((depth) => ({
        name: `/txs, 100 from offset ${round(depth)}`,
        requests: 20 * rounds,
        inTurn: true,
        path: () => `/txs?address=${text(sharedAddress)}&limit=100&offset=${depth}`,
      })),
  ]
  const figures = []
  for (const { name, requests, inTurn, path } of asked) {
    // The first finds nothing compiled, and the depth of an offset unknown.
    const first = await request(server.url + path())
    const answers = []
    let left = requests
    await Promise.all(
      Array.from({ length: inTurn ? 1 : connections }, async () => {
        while (left-- > 0) answers.push(await request(server.url + path()))
      }),
    )
    const times = answers.map(({ ms }) => ms)
    const figure = {
      name,
      first: first.ms,
      p50: percentile(times, 0.5),
      p95: percentile(times, 0.95),
      bytes: median(answers.map(({ bytes }) => bytes)),
      memory: server.memory(),
    }
    figures.push(figure)
    console.log(
      `  ${name}${inTurn ? ` (${round(shared)})` : ''}: p50 ${figure.p50.toFixed(1)} ms, p95 ` +
        `${figure.p95.toFixed(1)} ms, first ` +
        `${first.ms.toFixed(1)} ms; ${round(figure.bytes / 1024)} KiB; the server's memory ` +
        `${round(figure.memory)} MiB, at most ${round(server.peak())}`,
    )
  }
  await server.close()
  return figures
}

async function request(url) {
  const started = performance.now()
  const answer = await fetch(url)
  const { byteLength } = await answer.arrayBuffer()
  if (!answer.ok) throw new Error(`${url}: ${answer.status}`)
  return { ms: performance.now() - started, bytes: byteLength }
}

async function startQueryServer(schema) {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'lib/growth/query-server.mjs'), schema], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = once(child, 'close')
  const close = async () => {
    child.kill('SIGTERM')
    await ended
  }
  defer(close)
  const [url] = await Promise.race([
    once(createInterface({ input: child.stdout }), 'line'),
    ended.then(() => Promise.reject(new Error('the server has ended before it was up'))),
  ])
  const status = (name) => {
    const [, kB] =
      new RegExp(`${name}:\\s+(\\d+)`).exec(readFileSync(`/proc/${child.pid}/status`, 'latin1')) ?? []
    return Number(kB) / 1024
  }
  return { url, close, memory: () => status('VmRSS'), peak: () => status('VmHWM') }
}

/** The trie from all outputs, and from its folder. */
async function measureStart(store) {
  const figures = []
  for (let n = 0; n < rounds; n++) {
    const folder = mkdtempSync(join(tmpdir(), 'ratatosk-bench-growth-'))
    defer(() => rmSync(folder, { recursive: true, force: true }))
    let roots = await openRoots({ path: folder })
    let root
    const built = await millisecondsOf(async () => {
      root = await roots.rebuild(store.blocks.utxosAfterNewest())
    })
    await roots.close()
    let found
    const opened = await millisecondsOf(async () => {
      roots = await openRoots({ path: folder })
      found = await roots.root()
    })
    await roots.close()
    if (Buffer.compare(root, found) !== 0)
      throw new Error('the trie has another root when it is opened again')
    figures.push({ built, opened })
  }
  return {
    built: median(figures.map(({ built }) => built)),
    opened: median(figures.map(({ opened }) => opened)),
  }
}

try {
  record('growth', { share, rounds, ledgers: await measureEach(sizes, measure) })
} catch (error) {
  console.error(error)
  process.exitCode = 1
}
