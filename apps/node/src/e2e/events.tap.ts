import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { promisify } from 'node:util'
import { openStore } from '@ratatosk/store'
import { breakableProxy, databaseUrl, ownPostgres } from '@ratatosk/test-kit'
import { until } from '@ratatosk/test-kit/http'
import { chromium } from 'playwright-core'
import t from 'tap'
import { anyPlacement, onServices, type Placement, temporaryDirectory } from '../test/backends.js'
import { readEvents } from '../test/event-reader.js'
import { runNode, submit } from '../test/node.js'
import { spawnNode } from '../test/node-process.js'
import { transferFrom } from '../test/transfers.js'

/** How many events are replayed. */
const total = Number(process.env.RATATOSK_EVENTS ?? 4_000)
const timeoutMs = 60_000 + total * 2

/** Every tenth is rejected instead, in the same SQL transaction. */
const isRejected = (number: number) => number % 10 === 0

const services = await onServices()

t.test(
  'each event once and in order, across a kill, a database that goes away or restarts, and three processes',
  { skip: services.skip },
  async (t) => {
    const own = await ownPostgres()
    if (own === undefined) t.comment('PostgreSQL has no programs here, so the database is not restarted')
    const url = own?.url ?? databaseUrl
    const place: Placement = { ...(await services.place(t)), DATABASE_URL: url }
    const store = await openStore({ url, schema: place.DATABASE_SCHEMA ?? '' })
    // tap runs the last one first: the server ends when nothing uses it.
    t.teardown(() => own?.close())
    t.teardown(() => store.close())
    const proxy = await breakableProxy(url)
    t.teardown(() => proxy.close())
    const api = { ...place, NODE_ROLE: 'api', LOG_LEVEL: 'silent' }
    const [steady, behindProxy, doomed] = await Promise.all([
      spawnNode(t, api),
      spawnNode(t, { ...api, DATABASE_URL: proxy.url }),
      spawnNode(t, api),
    ])

    let written = 0
    const write = async (count: number) => {
      for (const end = written + count; written < end; ) {
        const batch = Array.from({ length: Math.min(200, end - written) }, () => {
          const id = Buffer.alloc(32)
          id.writeUInt32BE(++written, 28)
          return { id, cbor: id, spent: [], produced: [] }
        })
        await store.withLedger(async (ledger) => {
          await ledger.apply({ transactions: batch.filter(({ id }) => !isRejected(id.readUInt32BE(28))) })
          await ledger.rejections.add(
            batch
              .filter(({ id }) => isRejected(id.readUInt32BE(28)))
              .map(({ id }) => ({
                submissionId: `s-${id.readUInt32BE(28)}`,
                cbor: id,
                attempts: 1,
                code: 'FeeTooSmallUTxO',
                message: 'The fee is too small.',
                details: [],
                submittedAt: new Date(),
              })),
          )
        })
      }
    }

    await write(Math.floor(total / 2))
    const everything = (url: string) => `${url}/events?after=0.0.0`
    let turn = 0
    const readers = [
      // Each connects to another process every time.
      readEvents(() => everything([doomed.url, steady.url, behindProxy.url][turn++ % 3] ?? steady.url)),
      readEvents(() => everything(behindProxy.url)),
      readEvents(() => everything(doomed.url)),
      readEvents(() => everything(steady.url)),
    ]
    t.teardown(() => {
      for (const reader of readers) reader.close()
    })
    const [moving, proxied, , calm] = readers
    await until(() => readers.every(({ events }) => events.length > 100), { timeoutMs })
    await doomed.stop('SIGKILL')
    // With many events, no reader has all of them yet.
    await own?.restart()
    const isBack = () =>
      store.events.head().then(
        () => true,
        () => false,
      )
    await until(isBack, { what: 'the store has a connection again' })
    await proxy.break()
    await write(Math.ceil(total / 4))
    await until(() => [calm, moving].every((reader) => (reader?.events.length ?? 0) >= written), {
      timeoutMs,
      what: 'two clients have everything so far',
    })
    await proxy.mend()
    await write(total - written)
    await until(() => [moving, proxied, calm].every((reader) => (reader?.events.length ?? 0) >= total), {
      timeoutMs,
      what: 'every client has everything',
    })

    const numbers = Array.from({ length: total }, (_, n) => n + 1)
    for (const [name, reader] of Object.entries({ moving, proxied, calm })) {
      const of = (type: string) => reader?.events.filter((event) => event.type === type) ?? []
      const accepted = of('accepted').map(({ data }) => Number.parseInt(data.txHash, 16))
      const rejected = of('rejected').map(({ data }) => Number(data.id.slice(2)))
      t.same(
        accepted,
        numbers.filter((n) => !isRejected(n)),
        `${name}: acceptances`,
      )
      t.same(rejected, numbers.filter(isRejected), `${name}: rejections`)
    }
    t.ok((moving?.connections() ?? 0) > 1, 'one has moved to another process')
    t.equal(proxied?.connections(), 1, 'one has kept its connection while the database was away')
    t.equal(calm?.connections(), 1, 'one has kept its connection while the database restarted')
  },
)

const executablePath = process.env.CHROMIUM ?? '/usr/bin/chromium'
const skip = !existsSync(executablePath) && process.env.RATATOSK_REQUIRE_SERVICES !== '1'

t.test('EventSource in Chromium and curl read the same', { skip }, async (t) => {
  const { url } = await runNode(t, await anyPlacement(t))
  const browser = await chromium.launch({
    executablePath,
    args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking', '--disable-component-update'],
    env: { ...process.env, HOME: await temporaryDirectory(t) } as Record<string, string>,
  })
  t.teardown(() => browser.close())
  const page = await browser.newPage()
  await page.goto(`${url}/health/live`)
  // The stream begins with what is accepted after it is open.
  await page.evaluate(`new Promise((resolve, reject) => {
    const source = new EventSource('/events?type=accepted')
    window.accepted = new Promise((seen) => {
      source.addEventListener('accepted', ({ lastEventId, data }) => {
        source.close()
        seen({ id: lastEventId, data })
      })
    })
    source.addEventListener('open', () => resolve())
    source.addEventListener('error', () => reject(new Error('refused')))
  })`)
  const { transfer } = await transferFrom(6, 0)
  t.equal((await submit(url, transfer.cborHex)).status, 200)
  const { id, data } = await page.evaluate<{ id: string; data: string }>('window.accepted')
  t.equal(JSON.parse(data).txHash, transfer.hash)

  const curl = promisify(execFile)('curl', [
    '-sN',
    '--max-time',
    '2',
    `${url}/events?type=accepted&after=0.0.0`,
  ])
  const { stdout } = await curl.catch((error: { stdout: string }) => error)
  const accepted = `id: ${id}\nevent: accepted\ndata: ${data}\n\n`
  t.ok(stdout.includes(accepted), stdout)
})
