import { fork } from 'node:child_process'
import { once } from 'node:events'
import { setImmediate as nextIteration } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { createSubmissionQueue, openQueueBackend, type QueueBackend } from '@ratatosk/queue'
import { type Lease, openStore, type Store } from '@ratatosk/store'
import { txStatus } from '@ratatosk/submit/status'
import { databaseUrl, inDatabase, randomName, redisUrl, removeKeys, whyMissing } from '@ratatosk/test-kit'
import { documentJudge } from '@ratatosk/test-kit/documented-answers'
import fastify from 'fastify'
import { expect, it } from 'vitest'
import { buildBlock } from '../test/blocks.js'
import { numberOf, randomOf, transactionOf, validate } from '../test/miniature-validation.js'

/** Schedules; `RATATOSK_STATUS_RUNS=100` is the long run, split by the first seed `RATATOSK_STATUS_FROM`. */
const runs = Number(process.env.RATATOSK_STATUS_RUNS ?? 3)
const from = Number(process.env.RATATOSK_STATUS_FROM ?? 1)
const steps = 40
const judge = documentJudge()

/** How far each status is from the submission. A removal, a roll-back and a drop go back. */
const rank: Readonly<Record<string, number>> = {
  unknown: 0,
  queued: 1,
  validating: 2,
  removed: 3,
  mempool: 4,
  built: 5,
  submitted: 6,
  committed: 7,
  mature: 8,
  merged: 9,
  rejected: 10,
}
const states = ['built', 'submitted', 'committed', 'mature', 'merged'] as const

/** The validation: by a worker in this process, or a process of its own. */
interface Validation {
  /** Without notice: what it was at goes to the next. */
  kill(): Promise<void>
}

const program = fileURLToPath(new URL('../../dist/test/validation-process.js', import.meta.url))

async function startProcess(name: string, seed: number): Promise<Validation> {
  const child = fork(program, [name, String(seed)], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
  const [message] = await once(child, 'message')
  expect(message).toBe('ready')
  return {
    async kill() {
      child.kill('SIGKILL')
      await once(child, 'exit')
    },
  }
}

async function startWorker(
  open: () => Promise<QueueBackend>,
  store: Store,
  random: (below: number) => number,
): Promise<Validation> {
  const backend = await open()
  validate(backend, store, random)
  // Connections are cut.
  return { kill: () => backend.close(0) }
}

/** Does at random what a sequencer does, and says whether statuses may go back meanwhile. */
function sequence(store: Store, lease: Lease, random: (below: number) => number) {
  const { blocks } = store
  let built = 0
  return {
    async forward(): Promise<void> {
      if ((await blocks.oldest(1)).length > 0 && random(2) === 0) {
        await buildBlock(store, lease, ++built, 1 + random(5))
        return
      }
      const [block] = await blocks.unmerged()
      const next = block && states[states.indexOf(block.state as (typeof states)[number]) + 1]
      if (block !== undefined && next !== undefined) await blocks.setState([block.headerHash], next, lease)
    },
    async back(): Promise<void> {
      const unmerged = await blocks.unmerged()
      const from = unmerged[random(Math.max(1, unmerged.length))]
      const kind = random(4)
      if (kind === 3) {
        const [first] = await blocks.oldest(1)
        if (first === undefined) return
        const reason = { code: 'OutsideValidityIntervalUTxO', message: 'Too late.', details: {} }
        await blocks.drop(new Map([[Buffer.from(first.id).toString('hex'), reason]]), () => undefined, lease)
      } else if (from !== undefined) {
        if (kind === 0) await blocks.setState([from.headerHash], 'submitted', lease)
        if (kind === 1) await blocks.returnToMempool(from.height, lease)
        if (kind === 2) await blocks.undo(from.height, lease)
      }
    },
  }
}

const title = 'a status never goes back, unless a block is removed or rolled back or a transaction dropped'
it(title, async (context) => {
  const missing = await whyMissing('PostgreSQL', 'Redis')
  if (missing !== undefined) context.skip(missing)
  for (let seed = from; seed < from + runs; seed++) await run(seed)
}, 600_000)

/** Where each transaction of the ledger is, as those who build and merge blocks read it. */
async function ledgerOf({ blocks }: Store): Promise<ReadonlyMap<string, string>> {
  const places = new Map<string, string>()
  for (const { id } of await blocks.oldest(1000)) places.set(Buffer.from(id).toString('hex'), 'mempool')
  for (const { headerHash, state } of await blocks.range(1n, 1000n)) {
    for (const { cbor } of await blocks.transactionsOf(headerHash)) {
      places.set(Buffer.from(transactionOf(numberOf(cbor)).id).toString('hex'), state)
    }
  }
  return places
}

async function run(seed: number): Promise<void> {
  const random = randomOf(seed)
  const name = randomName()
  const store = await openStore({ url: databaseUrl, schema: name })
  const openBackend = () => openQueueBackend({ kind: 'redis', url: redisUrl, prefix: name })
  const producer = await openBackend()
  const submissions = createSubmissionQueue(producer)
  const server = fastify()
  await server.register(txStatus, {
    ledger: store,
    rejections: store.rejections,
    removals: store.resubmissions,
    queue: submissions,
  })
  const statusOf = async (path: string): Promise<string> => {
    const answer = await server.inject(path)
    expect(answer.statusCode, answer.body).toBe(200)
    const contentType = String(answer.headers['content-type'])
    expect(
      judge({ method: 'GET', url: path, status: 200, contentType, body: answer.rawPayload }),
    ).toBeUndefined()
    return answer.json().status
  }

  /** Each path that is asked, with the transaction that it is about. */
  const subjects = new Map<string, string>()
  /** A submission of an invalid transaction is never anything else once it was rejected. */
  const rejectedForGood = (path: string, status: string) =>
    path.startsWith('/submission') && subjects.get(path) === 'invalid' && status !== 'rejected'

  /** How often the transaction of a path was submitted. */
  const submitted = new Map<string, number>()
  const last = new Map<
    string,
    { readonly status: string; readonly backs: number; readonly submitted: number | undefined }
  >()
  /** Odd while something goes back. */
  let backs = 0
  const wentBack: string[] = []
  let reads = 0
  let done = false
  const watching = (async () => {
    while (!done) {
      await nextIteration()
      for (const path of subjects.keys()) {
        const before = last.get(path)
        const start = backs
        const status = await statusOf(path)
        reads++
        const undisturbed = before?.backs === start && start === backs && start % 2 === 0
        // Another submission may bring back what was rejected, removed or dropped, also if it was rejected
        // between two reads.
        const isBroughtBack =
          (['rejected', 'removed'].includes(before?.status ?? '') && !rejectedForGood(path, status)) ||
          (subjects.get(path) === 'invalid' && before?.submitted !== submitted.get(path))
        if (before && undisturbed && !isBroughtBack && (rank[status] ?? -1) < (rank[before.status] ?? 0)) {
          wentBack.push(`seed ${seed}, ${path}: ${before.status} → ${status}`)
        }
        last.set(path, { status, backs: start === backs ? start : -1, submitted: submitted.get(path) })
      }
    }
  })()
  const lease = await store.leases.acquire('sequencer', 'a test', 3_600_000)
  if (lease === undefined) throw new Error('The lease is held')
  const { forward, back } = sequence(store, lease, random)
  const start = (kind: number) =>
    kind === 0 ? startProcess(name, seed + random(1000)) : startWorker(openBackend, store, random)
  let validation = await start(0)
  try {
    for (let step = 0; step < steps; step++) {
      const kind = random(10)
      if (kind < 4) {
        const number = 1 + random(30)
        const { cbor, id, isValid } = transactionOf(number)
        subjects.set(`/submission?id=${await submissions.add(cbor)}`, isValid ? 'valid' : 'invalid')
        const byHash = `/tx/status?tx_hash=${Buffer.from(id).toString('hex')}`
        subjects.set(byHash, isValid ? 'valid' : 'invalid')
        submitted.set(byHash, (submitted.get(byHash) ?? 0) + 1)
      } else if (kind < 8) {
        await forward()
      } else if (kind === 8) {
        backs++
        await back()
        backs++
      } else {
        await validation.kill()
        validation = await start(random(3))
      }
    }
    const undecided = async () => {
      const statuses = await Promise.all(
        [...subjects.keys()].filter((path) => path.startsWith('/submission')).map(statusOf),
      )
      return statuses.filter((status) => ['unknown', 'queued', 'validating'].includes(status))
    }
    await expect.poll(undecided).toEqual([])
    expect(wentBack).toEqual([])
    const ledger = await ledgerOf(store)
    for (const path of submitted.keys()) {
      const status = await statusOf(path)
      const place = ledger.get(path.slice(-64))
      expect(place === undefined ? ['rejected', 'removed'] : [place], `seed ${seed}, ${path}`).toContain(
        status,
      )
    }
    expect(reads).toBeGreaterThan(subjects.size)
  } finally {
    done = true
    await watching
    await validation.kill()
    await Promise.all([producer.close(0), server.close()])
    await store.close()
    await inDatabase(`DROP SCHEMA ${name} CASCADE`)
    await removeKeys(name)
  }
}
