import { setImmediate as nextIteration } from 'node:timers/promises'
import { blake2b256 } from '@ratatosk/ledger'
import {
  createSubmissionQueue,
  createSubmissionWorker,
  openQueueBackend,
  type QueueBackend,
} from '@ratatosk/queue'
import { type Lease, openStore, type Store } from '@ratatosk/store'
import { databaseUrl, inDatabase, randomName, redisUrl, removeKeys, whyMissing } from '@ratatosk/test-kit'
import { documentJudge } from '@ratatosk/test-kit/documented-answers'
import { txStatus } from '@ratatosk/tx-status'
import fastify from 'fastify'
import { expect, it } from 'vitest'
import { queuedSubmissionsOf } from './status-ports.js'

const seeds = Number(process.env.RATATOSK_STATUS_RUNS ?? 3)
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

/** mulberry32: the same numbers for the same seed. */
function randomOf(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below
  }
}

/** Shaped like a transaction: `[{0: number}, {}, true, null]`. Every fifth is one that validation rejects. */
function transactionOf(number: number) {
  const body = Uint8Array.of(0xa1, 0x00, 0x19, number >> 8, number & 0xff)
  return {
    cbor: Uint8Array.of(0x84, ...body, 0xa0, 0xf5, 0xf6),
    id: blake2b256(body),
    isValid: number % 5 !== 0,
  }
}

const numberOf = (cbor: Uint8Array) => (cbor[4] ?? 0) * 256 + (cbor[5] ?? 0)

/** Validation in miniature: stores the verdict before the queue is told, and is killed or interrupted at random in between. */
function validate(backend: QueueBackend, store: Store, random: (below: number) => number) {
  return createSubmissionWorker(
    backend,
    async ({ id, cbor, attempt, submittedAt }) => {
      if (random(4) === 0) return { kind: 'again', afterMs: 5 }
      const { id: transactionId, isValid } = transactionOf(numberOf(cbor))
      await store.withLedger(async (ledger) => {
        const [known] = await ledger.known([transactionId])
        if (known) return
        if (isValid) {
          await ledger.apply({ transactions: [{ id: transactionId, cbor, spent: [], produced: [] }] })
        } else {
          const reason = { code: 'FeeTooSmallUTxO', message: 'The fee is too small.', details: [] }
          await ledger.rejections.add([
            { ...reason, submissionId: id, transactionId, cbor, attempts: attempt, submittedAt },
          ])
        }
      })
      // A worker that ends here has stored the verdict and not told the queue.
      return random(4) === 0 ? { kind: 'release' } : { kind: 'done' }
    },
    { concurrency: 4, lockDurationMs: 300, stalledIntervalMs: 50 },
  )
}

/** Does at random what a sequencer does, and says whether statuses may go back meanwhile. */
function sequence({ blocks }: Store, lease: Lease, random: (below: number) => number) {
  let built = 0
  const hash = (number: number) => new Uint8Array(28).fill(number)
  return {
    async forward(): Promise<void> {
      const oldest = await blocks.oldest(1 + random(5))
      const newest = await blocks.newest()
      if (oldest.length > 0 && random(2) === 0) {
        await blocks.build(
          {
            headerHash: hash(++built),
            header: Uint8Array.of(built),
            previousHeaderHash: newest?.headerHash ?? new Uint8Array(28),
            utxosRoot: new Uint8Array(32),
            startTime: 0n,
            endTime: 1n,
            firstSequence: oldest.at(0)?.sequence ?? 0n,
            lastSequence: oldest.at(-1)?.sequence ?? 0n,
            transactions: oldest.length,
            commitTransaction: { id: new Uint8Array(32).fill(built), cbor: Uint8Array.of(built) },
          },
          lease,
        )
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

it('a status never goes back, unless a block is removed or rolled back or a transaction dropped', async (context) => {
  const missing = await whyMissing('PostgreSQL', 'Redis')
  if (missing !== undefined) context.skip(missing)
  for (let seed = 1; seed <= seeds; seed++) await run(seed)
}, 600_000)

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
    queue: queuedSubmissionsOf(submissions),
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

  const last = new Map<string, { readonly status: string; readonly backs: number }>()
  /** Odd while something goes back. */
  let backs = 0
  const wentBack: string[] = []
  let looks = 0
  let done = false
  const watching = (async () => {
    while (!done) {
      await nextIteration()
      for (const path of subjects.keys()) {
        const before = last.get(path)
        const start = backs
        const status = await statusOf(path)
        looks++
        const undisturbed = before?.backs === start && start === backs && start % 2 === 0
        // Another submission may bring back what was rejected, removed or dropped.
        const isBroughtBack =
          ['rejected', 'removed'].includes(before?.status ?? '') && !rejectedForGood(path, status)
        if (before && undisturbed && !isBroughtBack && (rank[status] ?? -1) < (rank[before.status] ?? 0)) {
          wentBack.push(`seed ${seed}, ${path}: ${before.status} → ${status}`)
        }
        last.set(path, { status, backs: start === backs ? start : -1 })
      }
    }
  })()
  const lease = await store.leases.acquire('sequencer', 'a test', 3_600_000)
  if (lease === undefined) throw new Error('The lease is held')
  const { forward, back } = sequence(store, lease, random)
  let consumer = await openBackend()
  let worker = validate(consumer, store, random)
  try {
    for (let step = 0; step < steps; step++) {
      const kind = random(10)
      if (kind < 4) {
        const number = 1 + random(30)
        const { cbor, id, isValid } = transactionOf(number)
        subjects.set(`/submission?id=${await submissions.add(cbor)}`, isValid ? 'valid' : 'invalid')
        subjects.set(`/tx/status?tx_hash=${Buffer.from(id).toString('hex')}`, isValid ? 'valid' : 'invalid')
      } else if (kind < 8) {
        await forward()
      } else if (kind === 8) {
        backs++
        await back()
        backs++
      } else {
        // Connections are cut; what the worker was at goes to the next.
        await consumer.close(0)
        consumer = await openBackend()
        worker = validate(consumer, store, random)
      }
    }
    const undecided = async () => {
      const statuses = await Promise.all(
        [...subjects.keys()].filter((path) => path.startsWith('/submission')).map(statusOf),
      )
      return statuses.filter((status) => ['unknown', 'queued', 'validating'].includes(status))
    }
    await expect.poll(undecided, { timeout: 60_000 }).toEqual([])
    expect(wentBack).toEqual([])
    expect(looks).toBeGreaterThan(subjects.size)
  } finally {
    done = true
    await watching
    await worker.close()
    await Promise.all([consumer.close(0), producer.close(0), server.close()])
    await store.close()
    await inDatabase(`DROP SCHEMA ${name} CASCADE`)
    await removeKeys(name)
  }
}
