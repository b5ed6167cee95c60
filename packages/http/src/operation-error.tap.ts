import { EventEmitter, once } from 'node:events'
import { connect } from 'node:net'
import type { Operation, OperationResult } from '@ratatosk/ports'
import { type LogRecord, listening, recordedLog } from '@ratatosk/test-kit/http'
import fastify from 'fastify'
import t, { type Test } from 'tap'
import {
  errorHandler,
  HttpError,
  layer1Causes,
  layer1ErrorHandler,
  OverloadedError,
  operationError,
} from './index.js'

/** Answers `GET /` by throwing; its log is recorded. */
function build(t: Test, thrown: unknown) {
  const log = recordedLog()
  const server = fastify({ logger: { level: 'debug', stream: log.stream } })
  t.teardown(() => server.close())
  server.setErrorHandler(layer1ErrorHandler)
  server.get('/', async () => {
    throw thrown
  })
  return { server, log }
}

async function answerTo(t: Test, thrown: unknown) {
  const { server } = build(t, thrown)
  const { statusCode, body } = await server.inject('/')
  return { status: statusCode, body: JSON.parse(body) }
}

t.test('adds the fields of an error to the body', async (t) => {
  const error = new HttpError(409, 'TEST_TAKEN', 'Taken', { bodyFields: { by: 'me', error: 'never this' } })
  t.same(await answerTo(t, error), { status: 409, body: { by: 'me', error: 'Taken' } })
})

t.test('names the kind of a layer-1 failure and reveals nothing else about it', async (t) => {
  const secret = 'https://preprod0000secret@blockfrost.example'
  for (const cause of layer1Causes) {
    const code = `LAYER1_${cause.toUpperCase().replaceAll(' ', '_')}`
    const failure = Object.assign(new Error(secret), { code, kind: secret, reason: secret })
    const error = `The layer-1 provider failed${cause === 'unknown' ? '' : `: ${cause}`}`
    t.same(await answerTo(t, failure), { status: 503, body: { status: 'error', error, cause } })
  }
  const strange = Object.assign(new Error(secret), { code: `LAYER1_${secret}` })
  t.same(await answerTo(t, strange), {
    status: 503,
    body: { status: 'error', error: 'The layer-1 provider failed', cause: 'unknown' },
  })
})

t.test('gives an overload the form of a layer-1 failure', async (t) => {
  const { server } = build(t, new OverloadedError())
  const answer = await server.inject('/')
  t.equal(answer.statusCode, 503)
  t.equal(answer.headers['retry-after'], '1')
  const error = 'The node is overloaded: retry later'
  t.same(answer.json(), { status: 'error', error, cause: 'overloaded' })
})

t.test('answers 500 to what only resembles a layer-1 failure', async (t) => {
  for (const details of [
    { code: 'STORE_TIMEOUT', kind: 'timeout' },
    { code: 'XLAYER1_TIMEOUT' },
    { code: 1 },
    { kind: 'timeout' },
  ]) {
    t.same(await answerTo(t, Object.assign(new Error('secret'), details)), {
      status: 500,
      body: { error: 'Something went wrong' },
    })
  }
  t.equal((await answerTo(t, { code: 'LAYER1_TIMEOUT' })).status, 500, 'not an Error')
})

t.test('logs what the client is not shown', async (t) => {
  const failure = Object.assign(new Error('the inner reason'), { code: 'LAYER1_TIMEOUT' })
  const { server, log } = build(t, failure)
  await server.inject('/')
  const [line] = log.records().filter(({ level }) => level === 50)
  t.match(line, { msg: 'The layer-1 provider failed: timeout', err: { code: 'LAYER1_TIMEOUT' } })
  t.match(line?.err?.message, 'the inner reason')
})

t.test('a change of the bond is told which operation runs', (t) => {
  const told = (['commit', 'merge', 'remove', 'release'] as const).map(
    (operation) => operationError('retire', { kind: 'busy', operation }).message,
  )
  const names = ['Commit', 'Merge', 'Reset', 'Change of the bond']
  t.same(
    told,
    names.map((name) => `${name} already in progress`),
  )
  t.end()
})

t.test('reports a running operation as a reset, and to commit and merge as what it is', (t) => {
  const operations: readonly Operation[] = ['init', 'commit', 'merge', 'reset', 'repair', 'remove']
  const table = operations.map((asked) =>
    operations.map((operation) => {
      const error = operationError(asked, { kind: 'busy', operation })
      t.match(error, { statusCode: 409 })
      return error.message.replace(' already in progress', '')
    }),
  )
  t.same(table, [
    ['Reset', 'Reset', 'Reset', 'Reset', 'Reset', 'Reset'],
    ['Reset', 'Commit', 'Merge', 'Reset', 'Reset', 'Reset'],
    ['Reset', 'Commit', 'Merge', 'Reset', 'Reset', 'Reset'],
    ['Reset', 'Reset', 'Reset', 'Reset', 'Reset', 'Reset'],
    ['Reset', 'Reset', 'Reset', 'Reset', 'Reset', 'Reset'],
    ['Reset', 'Reset', 'Reset', 'Reset', 'Reset', 'Reset'],
  ])
  t.end()
})

t.test('keeps the code of a refusal', async (t) => {
  const refused = { kind: 'refused', code: 'SEQUENCER_NOT_IN_TURN', message: 'Not our turn' } as const
  t.match(operationError('commit', refused), { statusCode: 409, code: 'SEQUENCER_NOT_IN_TURN' })
})

t.test('answers each way in which an operation is not carried out', async (t) => {
  const cases: [OperationResult, number, unknown][] = [
    [
      { kind: 'refused', code: 'SEQUENCER_NOT_IN_TURN', message: 'Not our turn' },
      409,
      { error: 'Not our turn' },
    ],
    [
      { kind: 'layer1-failed', cause: 'rate limited', code: 'LAYER1_RATE_LIMITED' },
      503,
      { status: 'error', error: 'The layer-1 provider failed: rate limited', cause: 'rate limited' },
    ],
    [
      { kind: 'layer1-failed', cause: 'connect 10.0.0.1', code: 'LAYER1_X' },
      503,
      { status: 'error', error: 'The layer-1 provider failed', cause: 'unknown' },
    ],
    [
      { kind: 'timed-out', message: 'No sequencer answered within 30 s.' },
      504,
      {
        error: 'No sequencer answered within 30 s. Read the state queue, then retry',
      },
    ],
  ]
  cases.push([
    { kind: 'merged', headerHash: 'ab', transactionId: 'cd' },
    500,
    { error: 'Something went wrong' },
  ])
  for (const [failure, status, body] of cases) {
    t.same(await answerTo(t, operationError('commit', failure)), { status, body }, failure.kind)
  }
})

t.test('does not log an error when a client disconnects while a port works for it', async (t) => {
  const lines = new EventEmitter()
  const server = fastify({
    logger: {
      level: 'debug',
      stream: { write: (line: string) => void lines.emit('line', JSON.parse(line)) },
    },
  })
  t.teardown(() => server.close())
  server.setErrorHandler(errorHandler)
  server.get('/slow', ({ signal }) => {
    lines.emit('begun')
    return new Promise((_resolve, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason))
    })
  })
  const { port } = await listening(server)
  const socket = connect(port, '127.0.0.1')
  socket.write('GET /slow HTTP/1.1\r\nhost: a\r\n\r\n')
  await once(lines, 'begun')
  const ended = new Promise<LogRecord>((resolve) => {
    lines.on('line', (line: LogRecord) => line.err && resolve(line))
  })
  socket.destroy()
  t.match(await ended, { level: 20, msg: 'Request aborted', err: { message: 'This operation was aborted' } })
})
