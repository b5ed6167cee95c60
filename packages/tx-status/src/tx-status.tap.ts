import swagger from '@fastify/swagger'
import { httpErrorOptions, httpErrors } from '@ratatosk/http'
import { listening } from '@ratatosk/test-kit/http'
import fastify from 'fastify'
import t, { type Test } from 'tap'
import txStatus, {
  type FoundSubmission,
  type RejectedSubmission,
  type RemovedTransaction,
  type TransactionPlace,
  type TxStatusOptions,
  type WaitingSubmission,
} from './index.js'

const time = new Date('2026-03-04T05:06:07.891Z')
const id = new Uint8Array(32).fill(0xab)
const txHash = 'ab'.repeat(32)

const accepted: TransactionPlace = { acceptedAt: time }

function inBlock(state: NonNullable<TransactionPlace['block']>['state']): TransactionPlace {
  return {
    ...accepted,
    position: 3,
    block: {
      height: 7n,
      state,
      headerHash: new Uint8Array(28).fill(1),
      endTime: 1_767_225_600_000n,
      commitTransactionId: new Uint8Array(32).fill(2),
      ...(state === 'merged' && { mergeTransactionId: new Uint8Array(32).fill(3) }),
    },
  }
}

const rejection: RejectedSubmission = {
  submissionId: 's-1',
  transactionId: id,
  code: 'FeeTooSmallUTxO',
  message: 'The fee is 1 lovelace, at least 155381 are required.',
  details: [
    { predicate: 'FeeTooSmallUTxO', message: 'The fee is too small.', details: { given: '1' } },
    { predicate: 'BadInputsUTxO', message: 'An input is not known.' },
  ],
  attempts: 5,
  count: 2,
  submittedAt: time,
  firstRejectedAt: time,
  rejectedAt: time,
}

interface World {
  place?: TransactionPlace
  submission?: FoundSubmission
  /** Of the transaction, in the queue. */
  waiting?: WaitingSubmission
  /** Of the submission asked for. */
  rejection?: RejectedSubmission
  /** Of the transaction. */
  transactionRejection?: RejectedSubmission
  removals?: RemovedTransaction[]
}

async function build(t: Test, world: World, options: Partial<TxStatusOptions> = {}) {
  const server = fastify(httpErrorOptions)
  t.teardown(() => server.close())
  await server.register(httpErrors)
  await server.register(txStatus, {
    ledger: { placeOf: async () => world.place },
    rejections: {
      find: async () => world.rejection,
      findTransaction: async () => world.transactionRejection,
    },
    queue: { find: async () => world.submission, findTransaction: async () => world.waiting },
    removals: { ofTransaction: async () => world.removals ?? [] },
    maturityWindowMs: 30_000,
    ...options,
  })
  const { get } = await listening(server)
  return {
    get,
    async transaction() {
      const { status, body } = await get(`/tx/status?tx_hash=${txHash}`)
      t.equal(status, 200)
      return JSON.parse(body)
    },
    async submission() {
      const { status, body } = await get('/submission?id=s-1')
      t.equal(status, 200)
      return JSON.parse(body)
    },
  }
}

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

t.test('without a maturity window, nothing is said about maturity', async (t) => {
  const server = fastify()
  t.teardown(() => server.close())
  await server.register(txStatus, {
    ledger: { placeOf: async () => inBlock('committed') },
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
  for (const query of ['', '?id=', '?id=a&id=b', '?id=%00', `?id=${'x'.repeat(201)}`]) {
    const { status, body } = await get(`/submission${query}`)
    t.equal(status, 400)
    t.match(JSON.parse(body).error, /^Invalid submission id: .*\. Send id as POST \/submit answered it$/s)
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

t.test('documents every route, parameter and status', async (t) => {
  const server = fastify(httpErrorOptions)
  t.teardown(() => server.close())
  await server.register(swagger, { openapi: { info: { title: 'test', version: '1' } } })
  await server.register(txStatus, {
    ledger: { placeOf: async () => undefined },
    rejections: { find: async () => undefined, findTransaction: async () => undefined },
    queue: { find: async () => undefined, findTransaction: async () => undefined },
  })
  await server.ready()
  const { paths = {} } = server.swagger() as unknown as {
    paths?: Record<string, { get: { responses: object; parameters: { name: string }[] } }>
  }
  for (const [path, parameter] of [
    ['/tx/status', 'tx_hash'],
    ['/submission', 'id'],
  ] as const) {
    t.equal(Object.keys(paths[path]?.get.responses ?? {}).join(' '), '200 400 408 431 500 503')
    t.same(
      paths[path]?.get.parameters.map(({ name }) => name),
      [parameter],
    )
  }
})

t.test('refuses options that cannot work', async (t) => {
  const good = {
    ledger: { placeOf: async () => undefined },
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
