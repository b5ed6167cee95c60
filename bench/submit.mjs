import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { createRequire } from 'node:module'
import { metrics, prometheus } from '@ratatosk/health/metrics'
import { createSubmissionQueue, openQueueBackend } from '@ratatosk/queue'
import { submit } from '@ratatosk/submit'
import Fastify from 'fastify'
import { median, record, round } from './lib/figures.mjs'

/** 309 bytes of CBOR shaped like a transaction, so that they take the whole way into the queue. */
const transactionShaped = Buffer.concat([
  Buffer.from('84a10059012c', 'hex'),
  randomBytes(300),
  Buffer.from('a0f5f6', 'hex'),
])

// POST /submit on Redis against a bare Fastify route with the same body and answer, and with metrics that are
// read every second against itself without: 64 connections, a body of 618 characters, the load from a process
// of its own, the three in turn.

const redisUrl = process.env.TEST_REDIS_URL ?? 'redis://127.0.0.1:6379'
const rounds = Number(process.env.BENCH_ROUNDS ?? 5)
const seconds = Number(process.env.BENCH_SECONDS ?? 4)
const connections = 64
const autocannon = createRequire(import.meta.url).resolve('autocannon')

const body = transactionShaped.toString('hex')

async function load(url) {
  const args = [
    '-j',
    '-n',
    '-c',
    String(connections),
    '-d',
    String(seconds),
    '-m',
    'POST',
    '-H',
    'content-type=text/plain',
    '-b',
    body,
    url,
  ]
  const child = spawn(process.execPath, [autocannon, ...args], { stdio: ['ignore', 'pipe', 'inherit'] })
  const chunks = []
  for await (const chunk of child.stdout) chunks.push(chunk)
  const result = JSON.parse(Buffer.concat(chunks).toString())
  if (result.non2xx > 0 || result.errors > 0 || result['2xx'] === 0)
    throw new Error(`the load on ${url} met errors: ${JSON.stringify(result.statusCodeStats)}`)
  return { perSecond: result['2xx'] / result.duration, p99: result.latency.p99 }
}

const bare = Fastify()
bare.removeAllContentTypeParsers()
bare.addContentTypeParser('text/plain', { parseAs: 'string' }, (_request, text, done) => done(null, text))
bare.post(
  '/submit',
  {
    schema: {
      response: {
        200: { type: 'object', properties: { message: { type: 'string' }, id: { type: 'string' } } },
      },
    },
  },
  async () => ({ message: 'Successfully added the transaction to the queue', id: '1' }),
)

const backend = await openQueueBackend({
  kind: 'redis',
  url: redisUrl,
  prefix: `bench-${randomBytes(4).toString('hex')}`,
})
const queue = createSubmissionQueue(backend)
const node = Fastify()
await node.register(submit, { queue })
const counted = Fastify()
await counted.register(metrics, { registry: prometheus() })
await counted.register(submit, { queue })

try {
  const bareUrl = `${await bare.listen({ host: '127.0.0.1', port: 0 })}/submit`
  const nodeUrl = `${await node.listen({ host: '127.0.0.1', port: 0 })}/submit`
  const countedUrl = await counted.listen({ host: '127.0.0.1', port: 0 })
  const loadCounted = async () => {
    const scrape = setInterval(async () => (await fetch(`${countedUrl}/metrics`)).text(), 1000)
    try {
      return await load(`${countedUrl}/submit`)
    } finally {
      clearInterval(scrape)
    }
  }
  await load(bareUrl)
  await load(nodeUrl)
  await loadCounted()
  const figures = []
  for (let i = 0; i < rounds; i++) {
    const ceiling = await load(bareUrl)
    const ours = await load(nodeUrl)
    const withMetrics = await loadCounted()
    figures.push({
      ceiling,
      ours,
      ratio: ours.perSecond / ceiling.perSecond,
      metricsRatio: withMetrics.perSecond / ours.perSecond,
    })
    console.log(
      `  round ${i + 1}: bare ${round(ceiling.perSecond)}/s, submit ${round(ours.perSecond)}/s, ` +
        `ratio ${figures.at(-1).ratio.toFixed(2)}, with metrics ` +
        `${figures.at(-1).metricsRatio.toFixed(3)} of that`,
    )
  }
  console.log(
    `POST /submit on Redis: ${round(median(figures.map((f) => f.ours.perSecond)))}/s, p99 ` +
      `${median(figures.map((f) => f.ours.p99))} ms; ` +
      `bare Fastify ${round(median(figures.map((f) => f.ceiling.perSecond)))}/s; ratio ` +
      `${median(figures.map((f) => f.ratio)).toFixed(2)}; with metrics ` +
      `${median(figures.map((f) => f.metricsRatio)).toFixed(3)} of that (medians of ${rounds} rounds)`,
  )
  record('submit', {
    connections,
    rounds,
    perSecond: median(figures.map((f) => f.ours.perSecond)),
    p99: median(figures.map((f) => f.ours.p99)),
    ceiling: median(figures.map((f) => f.ceiling.perSecond)),
    ratio: median(figures.map((f) => f.ratio)),
    metricsRatio: median(figures.map((f) => f.metricsRatio)),
  })
} finally {
  await Promise.all([bare.close(), node.close(), counted.close()])
  await queue.jobs.obliterate({ force: true })
  await backend.close()
}
