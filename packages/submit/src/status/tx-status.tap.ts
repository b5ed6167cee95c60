import { mock } from 'node:test'
import swagger from '@fastify/swagger'
import { httpErrorOptions } from '@ratatosk/http'
import { recordedLog } from '@ratatosk/test-kit/http'
import fastify from 'fastify'
import t from 'tap'
import txStatus, { type FoundSubmission, type RemovedTransaction, type TxStatusOptions } from './index.js'
import { statusesOfTransactions } from './status.js'
import { accepted, build, id, inBlock, rejection, time, txHash } from './test/build.js'

t.test('an unknown transaction is unknown', async (t) => {
  const { transaction, submission } = await build(t, {})
  t.same(await transaction(), { txHash, status: 'unknown' })
  t.same(await submission(), { id: 's-1', status: 'unknown' })
})

t.test('a queued transaction has the time of its submission and its attempts', async (t) => {
  for (const state of ['queued', 'validating'] as const) {
    const waiting = { state, submittedAt: time, attempts: 2 }
    const { submission, transaction } = await build(t, {
      submission: { ...waiting, transactionId: id },
      waiting,
    })
    const answer = { txHash, status: state, submittedAt: '2026-03-04T05:06:07.891Z', attempts: 2 }
    t.same(await submission(), { id: 's-1', ...answer })
    t.same(await transaction(), answer)
  }
})

t.test('a rejected transaction is queued if it was submitted again since', async (t) => {
  const waiting = { state: 'queued', attempts: 0 } as const
  for (const [after, status] of [
    [1, 'queued'],
    [-1, 'rejected'],
  ] as const) {
    const { transaction } = await build(t, {
      transactionRejection: rejection,
      waiting: { ...waiting, submittedAt: new Date(time.getTime() + after) },
    })
    t.equal((await transaction()).status, status)
  }
})

t.test('an accepted transaction has its block', async (t) => {
  const block = {
    height: 7,
    headerHash: '01'.repeat(28),
    position: 3,
    commitTxHash: '02'.repeat(32),
    endTime: '2026-01-01T00:00:00.000Z',
    maturesAt: '2026-01-01T00:00:30.000Z',
  }
  for (const state of ['built', 'submitted', 'committed', 'mature', 'merged'] as const) {
    const { transaction, submission } = await build(t, {
      place: inBlock(state),
      submission: { state: 'left', transactionId: id },
    })
    const answer = {
      status: state,
      acceptedAt: '2026-03-04T05:06:07.891Z',
      block: state === 'merged' ? { ...block, mergeTxHash: '03'.repeat(32) } : block,
    }
    t.same(await transaction(), { txHash, ...answer })
    t.same(await submission(), { id: 's-1', txHash, ...answer })
  }
})

t.test('the statuses of several transactions are what each has alone, in their order', async (t) => {
  const unknown = 'cd'.repeat(32)
  const ledger = {
    placeOf: async () => undefined,
    placesOf: async (ids: readonly Uint8Array[]) =>
      ids.map((each) => (each[0] === id[0] ? inBlock('committed') : undefined)),
  }
  const { get } = await build(t, { transactionRejection: rejection }, { ledger })
  const answer = await get(`/tx/statuses?tx_hash=${unknown},${txHash},${unknown}`)
  t.match(JSON.parse(answer.body), {
    statuses: [
      { txHash: unknown, status: 'rejected' },
      { txHash, status: 'committed', block: { height: 7 } },
      { txHash: unknown, status: 'rejected' },
    ],
  })
})

t.test('several transactions are searched in the queue at once, which scans it once for all', async (t) => {
  const hashes = Array.from({ length: 100 }, (_, n) => n.toString(16).padStart(64, '0'))
  let asked = 0
  let end: (nothing: undefined) => void = () => undefined
  const scanned = new Promise<undefined>((resolve) => {
    end = resolve
  })
  const queue = {
    find: async () => undefined,
    findTransaction: () => {
      if (++asked === hashes.length) end(undefined)
      return scanned
    },
  }
  const { get } = await build(t, {}, { queue })
  const { status, body } = await get(`/tx/statuses?tx_hash=${hashes.join(',')}`)
  t.equal(status, 200)
  t.same(
    JSON.parse(body).statuses,
    hashes.map((txHash) => ({ txHash, status: 'unknown' })),
  )
})

t.test('nothing more is read once the client has left', async (t) => {
  const left = new AbortController()
  let read = 0
  const sources = {
    ledger: {
      placeOf: async () => undefined,
      placesOf: async (ids: readonly Uint8Array[]) => ids.map(() => undefined),
    },
    queue: { find: async () => undefined, findTransaction: async () => undefined },
    rejections: {
      find: async () => undefined,
      findTransaction: async () => {
        read++
        left.abort()
        return undefined
      },
    },
  }
  await t.rejects(statusesOfTransactions(sources, [id, id, id], left.signal), { name: 'AbortError' })
  t.equal(read, 1)
})

t.test('without a maturity window, nothing is said about maturity', async (t) => {
  const server = fastify()
  t.teardown(() => server.close())
  await server.register(txStatus, {
    ledger: { placeOf: async () => inBlock('committed'), placesOf: async () => [] },
    rejections: { find: async () => undefined, findTransaction: async () => undefined },
    queue: { find: async () => undefined, findTransaction: async () => undefined },
  })
  const { body } = await server.inject(`/tx/status?tx_hash=${txHash}`)
  t.notOk('maturesAt' in JSON.parse(body).block)
})

t.test('an accepted transaction is not queued, even if its submission is still in the queue', async (t) => {
  const submission: FoundSubmission = {
    state: 'validating',
    transactionId: id,
    submittedAt: time,
    attempts: 0,
  }
  const world = await build(t, { place: accepted, submission, waiting: submission })
  const answer = { txHash, status: 'mempool', acceptedAt: time.toISOString() }
  t.same(await world.submission(), { id: 's-1', ...answer })
  t.same(await world.transaction(), answer)
})

t.test('a rejection names every failed predicate', async (t) => {
  const answer = {
    status: 'rejected',
    rejection: {
      code: 'FeeTooSmallUTxO',
      reason: rejection.message,
      failures: rejection.details,
      attempts: 5,
      count: 2,
      submittedAt: time.toISOString(),
      firstRejectedAt: time.toISOString(),
      rejectedAt: time.toISOString(),
    },
  }
  const { transaction, submission } = await build(t, { rejection, transactionRejection: rejection })
  t.same(await transaction(), { txHash, ...answer })
  t.same(await submission(), { id: 's-1', txHash, ...answer })
})

t.test('details that are no list of predicates are kept with the first one', async (t) => {
  for (const details of [{ truncated: true, bytes: 9000 }, [], [{ predicate: 1 }], null, 'text']) {
    const { submission } = await build(t, { rejection: { ...rejection, details } })
    t.same((await submission()).rejection.failures, [
      { predicate: 'FeeTooSmallUTxO', message: rejection.message, details },
    ])
  }
})

t.test('a submission that was rejected stays so when its transaction is accepted later', async (t) => {
  const { transaction, submission } = await build(t, {
    place: accepted,
    rejection,
    transactionRejection: rejection,
    submission: { state: 'left', transactionId: id },
  })
  t.equal((await submission()).status, 'rejected')
  t.equal((await transaction()).status, 'mempool')
})

t.test('a rejected submission that was reopened has the status of its transaction', async (t) => {
  const reopened = { ...rejection, reopenedAt: new Date(time.getTime() + 1) }
  const world = { rejection: reopened, transactionRejection: reopened }
  const queued = { state: 'queued', submittedAt: reopened.reopenedAt, attempts: 0 } as const
  const waiting = await build(t, { ...world, waiting: queued })
  t.match(await waiting.submission(), { id: 's-1', txHash, status: 'queued' })
  const placed = await build(t, { ...world, place: accepted })
  t.match(await placed.submission(), { id: 's-1', txHash, status: 'mempool' })
  const again = await build(t, world)
  t.equal((await again.submission()).status, 'rejected')
})

t.test('a submission that has left the queue has the status of its transaction', async (t) => {
  const { submission } = await build(t, {
    submission: { state: 'left', transactionId: id },
    transactionRejection: { ...rejection, submissionId: `dropped-${txHash}` },
  })
  t.equal((await submission()).status, 'rejected')
  const forgotten = await build(t, { submission: { state: 'left' } })
  t.same(await forgotten.submission(), { id: 's-1', status: 'unknown' })
})

t.test('a removed transaction has its block and its new submission, until that is rejected', async (t) => {
  const removedAt = new Date(time.getTime() + 1)
  const removals: RemovedTransaction[] = [
    {
      block: { height: 7n, headerHash: new Uint8Array(28).fill(1) },
      removedAt,
      submissionId: 's-2',
    },
  ]
  const world = { removals, transactionRejection: rejection }
  const { transaction } = await build(t, world)
  t.same(await transaction(), {
    txHash,
    status: 'removed',
    removal: {
      height: 7,
      headerHash: '01'.repeat(28),
      removedAt: removedAt.toISOString(),
      resubmittedAs: 's-2',
    },
  })
  const inNoBlock = await build(t, { removals: [{ removedAt }] })
  t.same((await inNoBlock.transaction()).removal, { removedAt: removedAt.toISOString() })
  const later = { ...rejection, rejectedAt: new Date(removedAt.getTime() + 1) }
  const rejected = await build(t, { ...world, transactionRejection: later })
  t.equal((await rejected.transaction()).status, 'rejected')
})

t.test('refuses what is no hash and no id', async (t) => {
  const { get } = await build(t, {})
  for (const [query, message] of [
    ['', 'undefined'],
    ['?tx_hash=ab', 'ab'],
    [`?tx_hash=${'zz'.repeat(32)}`, 'zz'.repeat(32)],
    ['?tx_hash=1&tx_hash=2', '1,2'],
  ]) {
    const { status, body } = await get(`/tx/status${query}`)
    const error = `Invalid transaction hash: ${message}. Send tx_hash with 64 hex digits`
    t.same([status, JSON.parse(body)], [400, { error }])
  }
  for (const hashes of ['', 'ab', `${txHash},`, `${txHash},ab`, Array(101).fill(txHash).join()]) {
    const { status, body } = await get(`/tx/statuses?tx_hash=${hashes}`)
    t.equal(status, 400)
    t.match(JSON.parse(body).error, /Send tx_hash once, with up to 100 hashes of 64 hex digits/)
  }
  for (const query of ['', '?id=', '?id=a&id=b', '?id=%00', `?id=${'x'.repeat(201)}`]) {
    const { status, body } = await get(`/submission${query}`)
    t.equal(status, 400)
    t.match(JSON.parse(body).error, /^Invalid submission id: .*\. Send id as POST \/submit answered it$/s)
  }
})

t.test('refuses parameters that a route does not have', async (t) => {
  const { get } = await build(t, {})
  for (const [url, name] of [
    [`/tx/status?tx_hash=${txHash}`, 'tx_hash'],
    [`/tx/statuses?tx_hash=${txHash}`, 'tx_hash'],
    ['/submission?id=s-1', 'id'],
  ]) {
    const { status, body } = await get(`${url}&foo=1`)
    t.same([status, JSON.parse(body)], [400, { error: `Invalid parameter: foo. Send only ${name}` }])
  }
})

t.test('answers must not be stored, hashes may be in either case', async (t) => {
  const { get } = await build(t, {})
  const answer = await get(`/tx/status?tx_hash=${txHash.toUpperCase()}`)
  t.equal(answer.headers['cache-control'], 'no-store')
  t.equal(JSON.parse(answer.body).txHash, txHash)
})

t.test('a failure of a port is a bare 500', async (t) => {
  const { get } = await build(
    t,
    {},
    {
      queue: {
        find: () => Promise.reject(new Error('secret')),
        findTransaction: () => Promise.reject(new Error('secret')),
      },
    },
  )
  for (const path of ['/submission?id=s-1', `/tx/status?tx_hash=${txHash}`]) {
    const { status, body } = await get(path)
    t.same([status, body], [500, '{"error":"Something went wrong"}'])
  }
})

t.test('the log names the port and the field that have another shape', async (t) => {
  const { stream, records: log } = recordedLog()
  const server = fastify({ logger: { level: 'error', stream } })
  t.teardown(() => server.close())
  const found: Record<string, unknown> = {}
  const find = (name: string) => async () => found[name]
  const { block } = inBlock('mature')
  const queued = { state: 'queued', submittedAt: time, attempts: 0 }
  await server.register(txStatus, {
    ledger: { placeOf: find('placeOf'), placesOf: find('placesOf') },
    rejections: { find: find('rejection'), findTransaction: find('rejectionOf') },
    queue: { find: find('queued'), findTransaction: find('queuedOf') },
    removals: { ofTransaction: find('removals') },
  } as unknown as TxStatusOptions)
  const [status, statuses] = [`/tx/status?tx_hash=${txHash}`, `/tx/statuses?tx_hash=${txHash}`]
  const submission = '/submission?id=s-1'
  for (const [url, answers, message] of [
    [status, { placeOf: { acceptedAt: 5 } }, 'ledger.placeOf: acceptedAt must be a Date'],
    [status, { placeOf: { acceptedAt: new Date(Number.NaN) } }, 'ledger.placeOf: acceptedAt must be a Date'],
    [
      status,
      { placeOf: { ...accepted, block: { ...block, state: 'done' } } },
      'ledger.placeOf: block.state must be one of built, submitted, committed, mature, merged',
    ],
    [
      status,
      { placeOf: { ...accepted, block: { ...block, endTime: 'soon' } } },
      'ledger.placeOf: block.endTime must be an integer',
    ],
    [
      status,
      { placeOf: { ...accepted, block: { ...block, headerHash: 'ab' } } },
      'ledger.placeOf: block.headerHash must be a Uint8Array',
    ],
    [
      status,
      { queuedOf: { ...queued, state: 'left' } },
      'queue.findTransaction: state must be one of queued, validating',
    ],
    [status, { removals: {} }, 'removals.ofTransaction: the result must be an array'],
    [status, { removals: [{}] }, 'removals.ofTransaction: removedAt must be a Date'],
    [
      status,
      { rejectionOf: { ...rejection, rejectedAt: 'today' } },
      'rejections.findTransaction: rejectedAt must be a Date',
    ],
    [statuses, {}, 'ledger.placesOf: the result must be an array'],
    [statuses, { placesOf: [] }, 'ledger.placesOf: the result must have an entry for each transaction'],
    [statuses, { placesOf: [{}] }, 'ledger.placesOf: acceptedAt must be a Date'],
    [
      submission,
      { queued: { ...queued, state: 'done' } },
      'queue.find: state must be one of queued, validating',
    ],
    [submission, { queued: { ...queued, submittedAt: 5 } }, 'queue.find: submittedAt must be a Date'],
    [
      submission,
      { queued: { ...queued, transactionId: txHash } },
      'queue.find: transactionId must be a Uint8Array',
    ],
    [submission, { rejection: { ...rejection, code: 7 } }, 'rejections.find: code must be a string'],
  ] as const) {
    for (const name of Object.keys(found)) delete found[name]
    Object.assign(found, answers)
    const { statusCode, body } = await server.inject(url)
    t.same([statusCode, body], [500, '{"error":"Something went wrong"}'], message)
    t.match(log().at(-1), { err: { type: 'TypeError', message } })
  }
  for (const name of ['placeOf', 'rejection', 'rejectionOf', 'queued', 'queuedOf', 'removals'])
    found[name] = null
  found.placesOf = [null]
  t.equal((await server.inject(status)).json().status, 'unknown')
  t.equal((await server.inject(statuses)).json().statuses[0].status, 'unknown')
  t.equal((await server.inject(submission)).json().status, 'unknown')
})

t.test('documents every route, parameter and status', async (t) => {
  const server = fastify(httpErrorOptions)
  t.teardown(() => server.close())
  await server.register(swagger, { openapi: { info: { title: 'test', version: '1' } } })
  await server.register(txStatus, {
    ledger: { placeOf: async () => undefined, placesOf: async () => [] },
    rejections: { find: async () => undefined, findTransaction: async () => undefined },
    queue: { find: async () => undefined, findTransaction: async () => undefined },
  })
  await server.ready()
  const { paths = {} } = server.swagger() as unknown as {
    paths?: Record<string, { get: { responses: object; parameters: { name: string }[] } }>
  }
  for (const [path, parameter] of [
    ['/tx/status', 'tx_hash'],
    ['/tx/statuses', 'tx_hash'],
    ['/submission', 'id'],
  ] as const) {
    t.equal(Object.keys(paths[path]?.get.responses ?? {}).join(' '), '200 400 408 429 431 500 503')
    t.same(
      paths[path]?.get.parameters.map(({ name }) => name),
      [parameter],
    )
  }
})

t.test('refuses options that cannot work', async (t) => {
  const good = {
    ledger: { placeOf: async () => undefined, placesOf: async () => [] },
    rejections: { find: async () => undefined, findTransaction: async () => undefined },
    queue: { find: async () => undefined, findTransaction: async () => undefined },
  }
  for (const options of [
    {},
    { ...good, ledger: {} },
    { ...good, rejections: { find: good.rejections.find } },
    { ...good, queue: {} },
    { ...good, queue: { find: good.queue.find } },
    { ...good, maturityWindowMs: -1 },
  ] as unknown as TxStatusOptions[]) {
    await t.rejects(async () => fastify().register(txStatus, options), TypeError)
  }
})

t.test('lists that are never read end, and others are read', async (t) => {
  let isHung = true
  const asked: unknown[] = []
  const ledger = {
    placeOf: async () => accepted,
    placesOf: (ids: readonly Uint8Array[]) => {
      asked.push(ids)
      return isHung ? new Promise<never>(() => undefined) : Promise.resolve(ids.map(() => accepted))
    },
  }
  const { server } = await build(t, {}, { ledger })
  mock.timers.enable({ apis: ['setTimeout'] })
  t.teardown(() => mock.timers.reset())
  const get = () => server.inject(`/tx/statuses?tx_hash=${txHash}`)
  const lists = Array.from({ length: 5 }, get)
  while (asked.length < 4) await new Promise(setImmediate)
  isHung = false
  mock.timers.tick(30_000)
  const codes = (await Promise.all(lists)).map(({ statusCode }) => statusCode)
  t.same(codes, [503, 503, 503, 503, 200])
})
