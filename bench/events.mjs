// What GET /events costs: the memory of idle clients, a replay from the beginning, POST /submit beside 100
// clients against POST /submit alone, and the time to the first byte of a client that reconnects meanwhile,
// on PostgreSQL and Redis. The servers and the load are processes of their own. Two equal processes take
// turns at having the clients, and the rates of both are multiplied, so that what one process does faster
// cancels out.
import { fork, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { get } from 'node:http'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import { events } from '@ratatosk/events'
import { createSubmissionQueue, openQueueBackend } from '@ratatosk/queue'
import { openStore } from '@ratatosk/store'
import { submit } from '@ratatosk/submit'
import Fastify from 'fastify'
import pg from 'pg'
import { byteString, transactionShaped } from './lib/bodies.mjs'
import { median, percentile, processorMicros } from './lib/figures.mjs'

const databaseUrl = process.env.TEST_DATABASE_URL ?? 'postgres://postgres@127.0.0.1:5432/postgres'
const redisUrl = process.env.TEST_REDIS_URL ?? 'redis://127.0.0.1:6379'
const rounds = Number(process.env.BENCH_ROUNDS ?? 5)
const seconds = Number(process.env.BENCH_SECONDS ?? 4)
const idleClients = Number(process.env.BENCH_CLIENTS ?? 1000)
const replayed = Number(process.env.BENCH_EVENTS ?? 100_000)

if (process.argv[2] === 'server') await serve(process.argv[3])
else await measure()

/**
 * Serves until the parent disconnects; answers messages with the processor time, or with the memory in use
 * after a collection.
 */
async function serve(name) {
  const store = await openStore({ url: databaseUrl, schema: name })
  const backend = await openQueueBackend({ kind: 'redis', url: redisUrl, prefix: name })
  const queue = createSubmissionQueue(backend)
  const server = Fastify()
  await server.register(submit, { queue })
  await server.register(events, { log: store.events, network: 'testnet', maxClients: 10_000 })
  process.on('message', (what) => {
    if (what === 'processor') return process.send(processorMicros())
    globalThis.gc()
    globalThis.gc()
    const { rss, heapUsed, external } = process.memoryUsage()
    process.send({ rss, used: heapUsed + external })
  })
  process.on('disconnect', () => process.exit(0))
  process.send(await server.listen({ host: '127.0.0.1', port: 0 }))
}

async function start(name) {
  const child = fork(fileURLToPath(import.meta.url), ['server', name], { execArgv: ['--expose-gc'] })
  const [url] = await once(child, 'message')
  const ask = async (what) => {
    child.send(what)
    return (await once(child, 'message'))[0]
  }
  return {
    url,
    memory: () => ask('memory'),
    processor: () => ask('processor'),
    stop: () => child.disconnect(),
  }
}

/** Connects; resolves with the time to the first byte in milliseconds, and reads on. */
function connect(url, onText = () => undefined, headers = {}) {
  return new Promise((resolve, reject) => {
    const started = performance.now()
    const request = get(url, { agent: false, headers }, (response) => {
      response.once('data', () =>
        resolve({ ms: performance.now() - started, close: () => request.destroy() }),
      )
      response.on('data', onText)
      response.on('error', () => undefined)
    })
    request.on('error', reject)
  })
}

/**
 * Submits for some seconds, and empties the queue. Requests a second, and microseconds of the server's
 * processors for each.
 */
async function load(server, { jobs }, body = transactionShaped) {
  const autocannon = createRequire(import.meta.url).resolve('autocannon')
  const url = `${server.url}/submit`
  const args = ['-j', '-n', '-c', '64', '-d', String(seconds), '-m', 'POST', '-H', 'content-type=text/plain']
  const before = await server.processor()
  const child = spawn(process.execPath, [autocannon, ...args, '-b', body.toString('hex'), url], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const chunks = []
  for await (const chunk of child.stdout) chunks.push(chunk)
  const result = JSON.parse(Buffer.concat(chunks).toString())
  if (result.non2xx > 0 || result.errors > 0 || result['2xx'] === 0) throw new Error(`${url} met errors`)
  const microseconds = ((await server.processor()) - before) / result['2xx']
  await jobs.drain()
  return { rate: result['2xx'] / result.duration, microseconds }
}

/** The geometric mean of a figure of several loads. */
function mean(loads, figure) {
  return loads.reduce((product, load) => product * load[figure], 1) ** (1 / loads.length)
}

async function measure() {
  const name = `bench_${randomBytes(4).toString('hex')}`
  const store = await openStore({ url: databaseUrl, schema: name })
  const backend = await openQueueBackend({ kind: 'redis', url: redisUrl, prefix: name })
  const queue = createSubmissionQueue(backend)
  const servers = await Promise.all([start(name), start(name)])
  const [followed] = servers
  try {
    const before = await followed.memory()
    const idle = []
    for (let n = 0; n < idleClients; n += 100) {
      idle.push(...(await hundredClients(followed)))
    }
    await new Promise((resolve) => setTimeout(resolve, 1000))
    const after = await followed.memory()
    const mib = (bytes) => (bytes / 1_048_576).toFixed(1)
    console.log(
      `${idle.length} idle clients: ${mib(after.used - before.used)} MiB of heap and buffers, ` +
        `${mib(after.rss - before.rss)} MiB resident`,
    )
    for (const { close } of idle) close()

    await new Promise((resolve) => setTimeout(resolve, 1000))
    const without = await processorShare(followed)
    const followers = await hundredClients(followed)
    const within = await processorShare(followed)
    for (const { close } of followers) close()
    const percent = (share) => (100 * share).toFixed(2)
    console.log(
      `100 clients take ${percent(within - without)} % of a core (${percent(without)} % without ` +
        `them) while nothing happens to them`,
    )

    for (const server of servers) await load(server, queue)
    const ratios = { rate: [], microseconds: [], identified: [] }
    for (let n = 0; n < rounds; n++) {
      const loads = { plain: [], alone: [], beside: [] }
      for (const [one, other] of [servers, servers.toReversed()]) {
        const kinds = {
          plain: () => load(one, queue, byteString),
          alone: () => load(one, queue),
          async beside() {
            const clients = await hundredClients(other)
            const measured = await load(other, queue)
            for (const { close } of clients) close()
            return measured
          },
        }
        // A machine that gets slower or faster meanwhile does so for each kind.
        const order = n % 2 === 0 ? ['plain', 'alone', 'beside'] : ['beside', 'alone', 'plain']
        for (const kind of order) loads[kind].push(await kinds[kind]())
      }
      for (const figure of ['rate', 'microseconds']) {
        ratios[figure].push(mean(loads.beside, figure) / mean(loads.alone, figure))
      }
      ratios.identified.push(mean(loads.alone, 'rate') / mean(loads.plain, 'rate'))
      const figures = Object.entries(loads).map(
        ([what, of]) =>
          `${what} ${Math.round(mean(of, 'rate'))}/s, ${mean(of, 'microseconds').toFixed(1)} µs`,
      )
      console.log(`  round ${n + 1}: ${figures.join('; ')}`)
    }
    const range = (values) => `${Math.min(...values).toFixed(3)} to ${Math.max(...values).toFixed(3)}`
    console.log(
      `POST /submit beside 100 clients: ${median(ratios.rate).toFixed(3)} of alone (median of ` +
        `${rounds} rounds, ${range(ratios.rate)}), ${median(ratios.microseconds).toFixed(3)} of its ` +
        `processor time`,
    )
    console.log(
      `POST /submit of what is found by its transaction: ${median(ratios.identified).toFixed(3)} ` +
        `of plain bytes (${range(ratios.identified)})`,
    )
    const clients = await hundredClients(followed)
    const reconnecting = reconnect(followed)
    await load(followed, queue)
    const waits = await reconnecting.stop()
    for (const { close } of clients) close()
    console.log(
      `first byte of ${waits.length} clients that reconnect under load: median ` +
        `${median(waits).toFixed(0)} ms, p95 ${percentile(waits, 0.95).toFixed(0)} ms, at most ` +
        `${Math.max(...waits).toFixed(0)} ms`,
    )

    for (let written = 0; written < replayed; ) {
      const transactions = Array.from({ length: Math.min(1000, replayed - written) }, () => {
        const id = Buffer.alloc(32)
        id.writeUInt32BE(++written)
        return { id, cbor: id, spent: [], produced: [] }
      })
      await store.withLedger((ledger) => ledger.apply({ transactions }))
    }
    const started = performance.now()
    let count = 0
    let rest = ''
    const { ms } = await new Promise((resolve, reject) => {
      const first = connect(`${followed.url}/events?after=0.0.0`, (chunk) => {
        const blocks = (rest + chunk).split('\n\n')
        rest = blocks.pop()
        count += blocks.filter((block) => block.includes('\ndata: ')).length
        if (count >= replayed) first.then(resolve, reject)
      })
      first.catch(reject)
    })
    console.log(
      `${replayed} events replayed in ${((performance.now() - started) / 1000).toFixed(1)} s, ` +
        `first byte after ${ms.toFixed(0)} ms`,
    )
  } finally {
    for (const server of servers) server.stop()
    await store.close()
    const database = new pg.Client(databaseUrl)
    await database.connect()
    await database.query(`DROP SCHEMA ${name} CASCADE`)
    await database.end()
    await queue.jobs.obliterate({ force: true })
    await backend.close()
  }
}

/** The share of a processor that an idle server takes. */
async function processorShare({ processor }) {
  const before = await processor()
  const started = performance.now()
  await new Promise((resolve) => setTimeout(resolve, 5000))
  return ((await processor()) - before) / 1000 / (performance.now() - started)
}

/**
 * Reconnects with `Last-Event-ID` twenty times a second until it is stopped; the times to the first byte, in
 * milliseconds.
 */
function reconnect({ url }) {
  const pending = []
  const timer = setInterval(
    () => pending.push(connect(`${url}/events`, undefined, { 'last-event-id': '0.0.0' })),
    50,
  )
  return {
    async stop() {
      clearInterval(timer)
      const connected = await Promise.all(pending)
      for (const { close } of connected) close()
      return connected.map(({ ms }) => ms)
    },
  }
}

function hundredClients({ url }) {
  return Promise.all(Array.from({ length: 100 }, () => connect(`${url}/events`)))
}
