import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { type AppliedTransaction, type ForeignBlock, openStore, type Store } from '@ratatosk/store'
import { breakableProxy, databaseUrl, ownPostgres } from '@ratatosk/test-kit'
import { ask, until } from '@ratatosk/test-kit/http'
import { chromium } from 'playwright-core'
import t, { type Test } from 'tap'
import { anyPlacement, full, onServices, type Placement, temporaryDirectory } from '../test/backends.js'
import { readEvents, runNode, submit } from '../test/node.js'
import { spawnNode } from '../test/node-process.js'
import { transferFrom } from '../test/transfer.js'

t.setTimeout(full ? 1_800_000 : 600_000)

const hash = (text: string): Uint8Array => Uint8Array.from(createHash('sha256').update(text).digest())
const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex')

/** Its bytes are its id: nothing here executes it. */
function transactionOf(name: string): AppliedTransaction {
  const id = hash(name)
  return { id, cbor: id, spent: [], produced: [] }
}

async function blockOf(
  { blocks }: Store,
  name: string,
  transactions: readonly AppliedTransaction[],
): Promise<ForeignBlock> {
  const newest = await blocks.newest()
  const endTime = newest?.endTime ?? 1_000n
  return {
    headerHash: hash(name).slice(0, 28),
    header: hash(`header ${name}`),
    previousHeaderHash: newest?.headerHash ?? new Uint8Array(28),
    utxosRoot: hash(`root ${name}`),
    startTime: endTime,
    endTime: endTime + 1_000n,
    transactions,
  }
}

interface Size {
  /** Transactions that wait in the mempool. */
  readonly waiting: number
  /** Blocks of another operator, and milliseconds between two of them. */
  readonly blocks: number
  readonly slotMs: number
}

/**
 * An `api` node, whose clients read `/events`, beside a mempool of ten that waits while blocks of another
 * operator are adopted, each with a transaction of its own.
 */
async function expectEventsOnce(t: Test, { waiting, blocks, slotMs }: Size): Promise<void> {
  const services = await onServices()
  if (services.skip) return void t.comment(services.skip)
  const placement = await services.place(t)
  const { store, url } = await runNode(t, { ...placement, NODE_ROLE: 'api' })
  const lease = await store.leases.acquire('sequencer', 'the other operator', 3_600_000)
  if (lease === undefined) throw new Error('The lease is held')

  const open = () => readEvents(() => `${url}/events?type=accepted&after=0.0.0`)
  const [listening, reconnecting] = [open(), open()]
  for (const reader of [listening, reconnecting]) t.teardown(() => reader.close())

  const mine = Array.from({ length: waiting }, (_, n) => transactionOf(`mine ${n}`))
  for (let first = 0; first < waiting; first += 1_000)
    await store.withLedger((ledger) => ledger.apply({ transactions: mine.slice(first, first + 1_000) }))
  const examine = (cbor: Uint8Array) => ({ id: cbor, cbor, spent: [], produced: [], named: [] })
  const theirs = Array.from({ length: blocks }, (_, n) => transactionOf(`theirs ${n}`))
  for (const [n, own] of theirs.entries()) {
    // Those that wait for the longest stay.
    const held = mine.slice(waiting - 10 * (n + 1), waiting - 10 * n)
    await store.blocks.adopt(await blockOf(store, `block ${n}`, [own, ...held]), examine, lease)
    reconnecting.drop()
    await sleep(slotMs)
  }

  const late = open()
  t.teardown(() => late.close())
  const all = [...mine, ...theirs].map(({ id }) => hex(id)).sort()
  for (const [name, { events }] of Object.entries({ listening, reconnecting, late })) {
    await until(() => events.length >= all.length, { what: `${name} has everything`, timeoutMs: 300_000 })
    // A repeated event would come at once.
    await sleep(1_000)
    t.same(events.map(({ data }) => data.txHash).sort(), all, `${name}: each acceptance once`)
  }
  t.ok(reconnecting.connections() > blocks / 4, `${reconnecting.connections()} connections`)

  const newest = await store.blocks.newest()
  const { transactions: waits } = await store.chain.countAfter(newest?.lastSequence ?? 0n, 1_000_000)
  const inBlocks = await store.explorer.totals(0n, newest?.height ?? 0n)
  const held = inBlocks.reduce((total, { transactions }) => total + transactions, 0)
  t.equal(waits + held, all.length)
  const { minutes } = JSON.parse((await ask(`${url}/explorer/rates?minutes=60`)).body)
  const accepted = (minutes as readonly { readonly accepted?: number }[]).map(({ accepted = 0 }) => accepted)
  t.equal(
    accepted.reduce((sum, count) => sum + count, 0),
    all.length,
    'the rates count transactions',
  )
}

t.test('each acceptance is told once, whatever adoption renumbers', (t) =>
  expectEventsOnce(t, { waiting: 200, blocks: 5, slotMs: 100 }),
)

if (full)
  t.test('each acceptance is told once beside a mempool of 10,000 and a block in each slot', (t) =>
    expectEventsOnce(t, { waiting: 10_000, blocks: 60, slotMs: 1_000 }),
  )

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
