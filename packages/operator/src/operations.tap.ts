import type { Operation } from '@ratatosk/http'
import t from 'tap'
import { build, headerHash, operations, rootUnit, transactionId } from './test/build.js'

const type = 'application/json; charset=utf-8'

t.test('each operation: 200 in its own words', async (t) => {
  const { node, get } = await build(t)
  for (const [path, body] of [
    ['/init', { message: `Initiation successful: ${transactionId}`, txHash: transactionId, rootUnit }],
    [
      '/commit',
      {
        message: `Block commitment successful: ${headerHash}`,
        headerHash,
        txHash: transactionId,
        transactions: 3,
      },
    ],
    [
      '/merge',
      {
        message: `Merging confirmed state successful: ${headerHash}`,
        headerHash,
        txHash: transactionId,
      },
    ],
    ['/reset', { message: 'Collected all UTxOs successfully!' }],
  ] as const) {
    const answer = await get(path)
    t.equal(answer.status, 200, path)
    t.equal(answer.body, JSON.stringify(body))
    t.equal(answer.headers['content-type'], type)
    t.equal(answer.headers['cache-control'], 'no-store')
  }
  t.same(node.asked, operations, 'one run a request')
})

t.test('a block without transactions is a block', async (t) => {
  const { node, get } = await build(t)
  node.end({ kind: 'committed', headerHash, transactionId, transactions: 0 })
  t.match(JSON.parse((await get('/commit')).body), { headerHash, transactions: 0 })
})

t.test('GET /commit: nothing to commit is no failure', async (t) => {
  const { node, get } = await build(t)
  node.end({ kind: 'nothing-to-commit' })
  const answer = await get('/commit')
  t.equal(answer.status, 200)
  t.equal(answer.body, '{"message":"Nothing to commit","transactions":0}')
})

t.test('GET /merge: an oldest block that is not mature is no failure', async (t) => {
  const { node, get } = await build(t)
  node.end({ kind: 'nothing-to-merge' })
  const answer = await get('/merge')
  t.equal(answer.status, 200)
  t.equal(answer.body, '{"message":"Nothing to merge"}')
})

t.test('GET /init: 409 where root units exist, and where they are', async (t) => {
  const { node, get } = await build(t)
  const stateQueueAddress = 'addr_test1wqag3rt979nep9g2wtdwu8mr4gz6m4kjdpp5zp705km8wys6t2kla'
  for (const [outRefs, error] of [
    [[`${'01'.repeat(32)}#0`], 'The state queue is initialised already: this is its root unit'],
    [
      [`${'01'.repeat(32)}#0`, `${'02'.repeat(32)}#12`],
      'There are 2 root units where there may be one: repair them, then initialise again',
    ],
  ] as const) {
    const count = outRefs.length
    node.end({ kind: 'root-exists', rootUnit, stateQueueAddress, count, outRefs })
    const answer = await get('/init')
    t.equal(answer.status, 409)
    t.equal(answer.body, JSON.stringify({ error, rootUnit, stateQueueAddress, count, outRefs }))
  }
})

t.test(
  '409 while another operation runs: a reset for what changes the root, otherwise who it is',
  async (t) => {
    const { node, get } = await build(t)
    const reset = '{"error":"Reset already in progress"}'
    const commit = '{"error":"Commit already in progress"}'
    const merge = '{"error":"Merge already in progress"}'
    const table: Record<Operation, readonly string[]> = {
      //       /init  /commit /merge  /reset
      init: [reset, reset, reset, reset],
      commit: [reset, commit, commit, reset],
      merge: [reset, merge, merge, reset],
      reset: [reset, reset, reset, reset],
      repair: [reset, reset, reset, reset],
    }
    for (const [holder, bodies] of Object.entries(table)) {
      node.end({ kind: 'busy', operation: holder as Operation })
      for (const [place, operation] of operations.entries()) {
        const answer = await get(`/${operation}`)
        t.equal(answer.status, 409, `${operation} while ${holder} runs`)
        t.equal(answer.body, bodies[place])
        t.equal(answer.headers['content-type'], type)
        t.equal(answer.headers['cache-control'], 'no-store')
      }
    }
  },
)

t.test('409 with the reason where it cannot be done as things stand', async (t) => {
  const { node, get } = await build(t)
  const message = 'There is no root unit: init makes one'
  node.end({ kind: 'refused', code: 'not-initialised', message })
  for (const operation of operations) {
    const answer = await get(`/${operation}`)
    t.equal(answer.status, 409, operation)
    t.equal(answer.body, JSON.stringify({ error: message }))
  }
})

t.test('503 where layer 1 fails, by the kind of failure and nothing else of it', async (t) => {
  const { node, get, log } = await build(t)
  const secret = 'https://preprod0000secret@blockfrost.example'
  for (const [cause, shown, error] of [
    ['timeout', 'timeout', 'The layer-1 provider failed: timeout'],
    ['rejected', 'rejected', 'The layer-1 provider failed: rejected'],
    ['rolled back', 'rolled back', 'The layer-1 provider failed: rolled back'],
    [secret, 'unknown', 'The layer-1 provider failed'],
  ] as const) {
    for (const failure of ['result', 'rejection']) {
      if (failure === 'result') node.end({ kind: 'layer1-failed', cause, code: 'LAYER1_SOMETHING' })
      else node.failure = Object.assign(new Error(secret), { kind: cause, code: 'LAYER1_SOMETHING' })
      for (const operation of operations) {
        const answer = await get(`/${operation}`)
        t.equal(answer.status, 503, `${operation}: ${cause}, by ${failure}`)
        t.equal(answer.body, JSON.stringify({ status: 'error', error, cause: shown }))
        t.match(log().at(-1), { level: 50, reqId: /^req-/, err: { code: 'LAYER1_SOMETHING' } })
      }
    }
    node.failure = undefined
  }
})

t.test('504 where no result came in time, saying what to do', async (t) => {
  const { node, get } = await build(t)
  for (const message of ['No sequencer answered within 190 s', 'No sequencer answered within 190 s.']) {
    node.end({ kind: 'timed-out', message })
    for (const operation of operations) {
      const answer = await get(`/${operation}`)
      t.equal(answer.status, 504, operation)
      t.equal(
        answer.body,
        '{"error":"No sequencer answered within 190 s. Look at the state queue, then ask again"}',
      )
    }
  }
})

t.test(
  'anything else that fails: a bare 500, the reason in the log under the id of the request',
  async (t) => {
    const { node, get, log } = await build(t)
    for (const failure of [
      new Error('connect 10.0.0.1'),
      Object.assign(new Error('a driver'), { code: '42P01', statusCode: 404 }),
      Object.assign(new Error('a code alone'), { code: 'LAYER1_TIMEOUT' }),
    ]) {
      node.failure = failure
      for (const path of ['/init', '/commit', '/merge', '/reset', '/logBlocksTxsDB', '/logGlobals']) {
        const answer = await get(path)
        t.equal(answer.status, 500, path)
        t.equal(answer.body, '{"error":"Something went wrong"}')
        t.equal(answer.headers['cache-control'], 'no-store')
        t.match(log().at(-1), { level: 50, reqId: /^req-/, err: { message: failure.message } })
      }
    }
  },
)

t.test('the result of another operation is a failure of ours', async (t) => {
  const { node, get, log } = await build(t)
  node.end({ kind: 'repaired' })
  for (const operation of operations) {
    t.equal((await get(`/${operation}`)).status, 500, operation)
    t.match(log().at(-1)?.err, { message: `an operation ${operation} ended as repaired` })
  }
})
