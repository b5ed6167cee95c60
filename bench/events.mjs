// What GET /events costs: the memory of idle clients, the time to the first byte, a replay from the beginning, and POST /submit
// beside 100 clients against POST /submit alone, in turn, on PostgreSQL and Redis. The servers and the load are processes of their own.
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
import { median } from './lib/figures.mjs'

const databaseUrl = process.env.TEST_DATABASE_URL ?? 'postgres://postgres@127.0.0.1:5432/postgres'
const redisUrl = process.env.TEST_REDIS_URL ?? 'redis://127.0.0.1:6379'
const rounds = Number(process.env.BENCH_ROUNDS ?? 5)
const seconds = Number(process.env.BENCH_SECONDS ?? 4)
const idleClients = Number(process.env.BENCH_CLIENTS ?? 1000)
const replayed = Number(process.env.BENCH_EVENTS ?? 100_000)

/** Shaped like a transaction, so that it takes the whole way into the queue. */
const transaction = Buffer.concat([
  Buffer.from('84a10059012c', 'hex'),
  randomBytes(300),
  Buffer.from('a0f5f6', 'hex'),
])
/** As long, and no transaction. */
const bytes = Buffer.concat([Buffer.from('590132', 'hex'), randomBytes(306)])

if (process.argv[2] === 'server') await serve(process.argv[3], process.argv[4] === 'with')
else await measure()

/** Serves until the parent disconnects; answers each message with the memory in use after a collection. */
async function serve(name, withEvents) {
  const store = await openStore({ url: databaseUrl, schema: name })
  const backend = await openQueueBackend({ kind: 'redis', url: redisUrl, prefix: name })
  const queue = createSubmissionQueue(backend)
  const server = Fastify()
  await server.register(submit, { queue })
  if (withEvents) await server.register(events, { log: store.events, network: 'testnet', maxClients: 10_000 })
  process.on('message', () => {
    globalThis.gc()
    globalThis.gc()
    const { rss, heapUsed, external } = process.memoryUsage()
    process.send({ rss, used: heapUsed + external })
  })
  process.on('disconnect', () => process.exit(0))
  process.send(await server.listen({ host: '127.0.0.1', port: 0 }))
}

async function start(name, mode) {
  const child = fork(fileURLToPath(import.meta.url), ['server', name, mode], { execArgv: ['--expose-gc'] })
  const [url] = await once(child, 'message')
  return {
    url,
    async memory() {
      child.send('memory')
      return (await once(child, 'message'))[0]
    },
    stop: () => child.disconnect(),
  }
}

/** Connects; resolves with the time to the first byte in milliseconds, and reads on. */
function connect(url, onText = () => undefined) {
  return new Promise((resolve, reject) => {
    const started = performance.now()
    const request = get(url, { agent: false }, (response) => {
      response.once('data', () =>
        resolve({ ms: performance.now() - started, close: () => request.destroy() }),
      )
      response.on('data', onText)
      response.on('error', () => undefined)
    })
    request.on('error', reject)
  })
}

async function load(url, body = transaction) {
  const autocannon = createRequire(import.meta.url).resolve('autocannon')
  const args = ['-j', '-n', '-c', '64', '-d', String(seconds), '-m', 'POST', '-H', 'content-type=text/plain']
  const child = spawn(process.execPath, [autocannon, ...args, '-b', body.toString('hex'), `${url}/submit`], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const chunks = []
  for await (const chunk of child.stdout) chunks.push(chunk)
  const result = JSON.parse(Buffer.concat(chunks).toString())
  if (result.non2xx > 0 || result.errors > 0 || result['2xx'] === 0) throw new Error(`${url} met errors`)
  return result['2xx'] / result.duration
}

async function measure() {
  const name = `bench_${randomBytes(4).toString('hex')}`
  const store = await openStore({ url: databaseUrl, schema: name })
  const followed = await start(name, 'with')
  const alone = await start(name, 'without')
  try {
    const before = await followed.memory()
    const idle = []
    for (let n = 0; n < idleClients; n += 100) {
      idle.push(...(await Promise.all(Array.from({ length: 100 }, () => connect(`${followed.url}/events`)))))
    }
    await new Promise((resolve) => setTimeout(resolve, 1000))
    const after = await followed.memory()
    const mib = (bytes) => (bytes / 1_048_576).toFixed(1)
    console.log(
      `${idle.length} idle clients: ${mib(after.used - before.used)} MiB of heap and buffers, ${mib(after.rss - before.rss)} MiB resident`,
    )
    for (const { close } of idle.slice(100)) close()

    const ratios = { beside: [], identified: [] }
    await load(alone.url)
    await load(followed.url)
    for (let n = 0; n < rounds; n++) {
      const plain = await load(alone.url, bytes)
      const without = await load(alone.url)
      const beside = await load(followed.url)
      ratios.beside.push(beside / without)
      ratios.identified.push(without / plain)
      const figures = [plain, without, beside].map((rate) => `${Math.round(rate)}/s`)
      console.log(
        `  round ${n + 1}: plain bytes ${figures[0]}, alone ${figures[1]}, beside 100 clients ${figures[2]}`,
      )
    }
    console.log(
      `POST /submit beside 100 clients: ${median(ratios.beside).toFixed(3)} of alone (median of ${rounds} rounds)`,
    )
    console.log(
      `POST /submit with a transaction id in the submission id: ${median(ratios.identified).toFixed(3)} of without`,
    )
    for (const { close } of idle) close()

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
    const { ms } = await new Promise((resolve, reject) => {
      const first = connect(`${followed.url}/events?after=0.0.0`, (chunk) => {
        count += chunk.toString().split('\ndata: ').length - 1
        if (count >= replayed) first.then(resolve, reject)
      })
      first.catch(reject)
    })
    console.log(
      `${replayed} events replayed in ${((performance.now() - started) / 1000).toFixed(1)} s, first byte after ${ms.toFixed(0)} ms`,
    )
  } finally {
    followed.stop()
    alone.stop()
    await store.close()
    const database = new pg.Client(databaseUrl)
    await database.connect()
    await database.query(`DROP SCHEMA ${name} CASCADE`)
    await database.end()
    const backend = await openQueueBackend({ kind: 'redis', url: redisUrl, prefix: name })
    await createSubmissionQueue(backend).jobs.obliterate({ force: true })
    await backend.close()
  }
}
