// Processor time per read of a reader against a node with the role `all`, on one PostgreSQL and Redis: each
// answers the same reads by turns, and its time without reads is subtracted. Then two readers against one.
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { toHex } from '@ratatosk/cbor'
import { keyOf } from '@ratatosk/fixtures'
import { decodeAddress, encodeBech32Address } from '@ratatosk/ledger'
import autocannon from 'autocannon'
import { median } from './lib/figures.mjs'
import { startNodeProcess } from './lib/node-process.mjs'
import { cleanUp, databaseUrl, defer, processorSeconds, redisUrl, removeTraces } from './lib/services.mjs'
import { makeTransfers } from './lib/transfers.mjs'

const rounds = Number(process.env.BENCH_ROUNDS ?? 9)
const reads = Number(process.env.BENCH_READS ?? 4000)
const connections = 16
const idleMs = 2000
const submitted = 50

try {
  await measure()
} finally {
  await cleanUp()
}

async function measure() {
  const name = `bench_${randomBytes(4).toString('hex')}`
  defer(() => removeTraces(name))
  const { genesis, transactions, signatures } = makeTransfers(submitted)
  const folder = mkdtempSync(join(tmpdir(), 'ratatosk-bench-readers-'))
  defer(() => rmSync(folder, { recursive: true, force: true }))
  const genesisFile = join(folder, 'genesis.json')
  writeFileSync(genesisFile, JSON.stringify({ utxos: genesis }))
  const start = (role) =>
    startNodeProcess({
      NODE_ROLE: role,
      DATABASE_URL: databaseUrl,
      DATABASE_SCHEMA: name,
      REDIS_URL: redisUrl,
      QUEUE_PREFIX: name,
      GENESIS_FILE: genesisFile,
      MAX_EVENT_LOOP_DELAY_MS: '0',
      // Merges would fall into some rounds.
      MATURITY_WINDOW_MS: '3600000',
    })
  const all = await start('all')
  const [reader, second] = [await start('reader'), await start('reader')]
  for (const transaction of transactions)
    await fetch(`${all.url}/submit`, {
      method: 'POST',
      headers: { 'content-type': 'text/plain' },
      body: transaction.toString('hex'),
    })
  // A signature signs the id.
  const hash = toHex(signatures[0].message)
  for (const { url } of [all, reader, second]) await ready(url, `/l2/blockfrost/api/v0/txs/${hash}`)
  const paths = pathsOf(hash)
  for (const node of [all, reader]) await ask([node], paths)
  await compareProcessorTime(all, reader, paths)
  await compareReaders(reader, second, paths)
}

function pathsOf(hash) {
  const address = encodeBech32Address(decodeAddress(keyOf(7).address))
  const blockfrost = '/l2/blockfrost/api/v0'
  return [
    `/utxos?address=${address}`,
    `/tx?tx_hash=${hash}`,
    `/tx/status?tx_hash=${hash}`,
    '/network',
    `${blockfrost}/addresses/${address}/utxos?count=20`,
    `${blockfrost}/txs/${hash}`,
    `${blockfrost}/blocks/latest`,
  ]
}

async function ready(url, path) {
  for (const end = Date.now() + 120_000; Date.now() < end; await sleep(200)) {
    const { ok } = await fetch(url + path)
    if (ok) return
  }
  throw new Error(`${url}${path} was not found`)
}

/** Sends the reads to some nodes at once, as many to each. @returns seconds until the last answer */
async function ask(nodes, paths) {
  const begun = performance.now()
  await Promise.all(
    nodes.map(async ({ url }) => {
      const amount = Math.ceil(reads / nodes.length / connections) * connections
      const requests = paths.map((path) => ({ path }))
      const result = await autocannon({ url, connections, amount, requests })
      if (result.errors + result.non2xx > 0)
        throw new Error(`${url}: ${JSON.stringify(result.statusCodeStats)}`)
    }),
  )
  return (performance.now() - begun) / 1000
}

/** Seconds of processor time of a process that some work takes, and of the clock. */
async function spent({ pid }, work) {
  const [seconds, begun] = [processorSeconds(pid), performance.now()]
  await work()
  return { processor: processorSeconds(pid) - seconds, clock: (performance.now() - begun) / 1000 }
}

async function compareProcessorTime(all, reader, paths) {
  const figures = { all: [], reader: [] }
  const sides = [
    ['all', all],
    ['reader', reader],
  ]
  for (let round = 0; round < rounds; round++) {
    for (const [side, node] of round % 2 === 0 ? sides : sides.toReversed()) {
      const idle = await spent(node, () => sleep(idleMs))
      const busy = await spent(node, () => ask([node], paths))
      const own = busy.processor - (idle.processor / idle.clock) * busy.clock
      figures[side].push((own * 1e6) / reads)
    }
    const [one, other] = [figures.all, figures.reader].map((each) => `${each.at(-1).toFixed(0)} µs`)
    console.log(`  round ${round + 1}: all ${one}, reader ${other}`)
  }
  const ratios = figures.reader.map((micros, n) => micros / figures.all[n])
  const [one, other] = [figures.all, figures.reader].map((each) => `${median(each).toFixed(0)} µs`)
  console.log(
    `Processor time per read: all ${one}, reader ${other}, ratio ${median(ratios).toFixed(3)} ` +
      `(medians of ${rounds} rounds)`,
  )
}

/** Says something only on a machine with cores for both readers, PostgreSQL and the load. */
async function compareReaders(one, other, paths) {
  const ratios = []
  await ask([other], paths)
  for (let round = 0; round < rounds; round++) {
    const alone = await ask([one], paths)
    ratios.push(alone / (await ask([one, other], paths)))
  }
  console.log(`Two readers read ${median(ratios).toFixed(2)} times as fast as one`)
}
