import { EventEmitter, once } from 'node:events'
import { type AddressInfo, connect } from 'node:net'
import fastify from 'fastify'
import t, { type Test } from 'tap'
import {
  errorHandler,
  HttpError,
  layer1Causes,
  layer1ErrorHandler,
  type Operation,
  type OperationResult,
  operationError,
} from './index.js'

interface LogLine {
  level: number
  msg: string
  err?: { code?: string; message: string }
}

/** Answers `GET /` with what is thrown; its log is kept. */
function build(t: Test, thrown: unknown) {
  const log: LogLine[] = []
  const server = fastify({
    logger: { level: 'debug', stream: { write: (line: string) => void log.push(JSON.parse(line)) } },
  })
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

t.test('an error brings fields for its body', async (t) => {
  const error = new HttpError(409, 'TAKEN', 'Taken', { bodyFields: { by: 'me', error: 'never this' } })
  t.same(await answerTo(t, error), { status: 409, body: { by: 'me', error: 'Taken' } })
})

t.test('a failure of layer 1 is named by its kind, and by nothing else of it', async (t) => {
  const secret = 'https://preprod0000secret@blockfrost.example'
  for (const kind of layer1Causes) {
    const failure = Object.assign(new Error(secret), { code: 'LAYER1_SOMETHING', kind, reason: secret })
    const error = `The layer-1 provider failed${kind === 'unknown' ? '' : `: ${kind}`}`
    t.same(await answerTo(t, failure), { status: 503, body: { status: 'error', error, cause: kind } })
  }
  const strange = Object.assign(new Error(secret), { code: 'LAYER1_STRANGE', kind: secret })
  t.same(await answerTo(t, strange), {
    status: 503,
    body: { status: 'error', error: 'The layer-1 provider failed', cause: 'unknown' },
  })
})

t.test('what only resembles a failure of layer 1 is a bare 500', async (t) => {
  for (const details of [
    { code: 'LAYER1_TIMEOUT' },
    { code: 'LAYER1_TIMEOUT', kind: 1 },
    { code: 'STORE_TIMEOUT', kind: 'timeout' },
    { kind: 'timeout' },
  ]) {
    t.same(await answerTo(t, Object.assign(new Error('secret'), details)), {
      status: 500,
      body: { error: 'Something went wrong' },
    })
  }
  t.equal((await answerTo(t, { code: 'LAYER1_TIMEOUT', kind: 'timeout' })).status, 500, 'no error at all')
})

t.test('the log knows what the client is not told', async (t) => {
  const failure = Object.assign(new Error('the inner reason'), { code: 'LAYER1_TIMEOUT', kind: 'timeout' })
  const { server, log } = build(t, failure)
  await server.inject('/')
  const [line] = log.filter(({ level }) => level === 50)
  t.match(line, { msg: 'The layer-1 provider failed: timeout', err: { code: 'LAYER1_TIMEOUT' } })
  t.match(line?.err?.message, 'the inner reason')
})

t.test('who is in the way: a reset for what changes the root, the holder for a cycle', (t) => {
  const operations: readonly Operation[] = ['init', 'commit', 'merge', 'reset', 'repair']
  const table = operations.map((asked) =>
    operations.map((operation) => {
      const error = operationError(asked, { kind: 'busy', operation })
      t.match(error, { statusCode: 409 })
      return error.message.replace(' already in progress', '')
    }),
  )
  t.same(table, [
    ['Reset', 'Reset', 'Reset', 'Reset', 'Reset'],
    ['Reset', 'Commit', 'Merge', 'Reset', 'Reset'],
    ['Reset', 'Commit', 'Merge', 'Reset', 'Reset'],
    ['Reset', 'Reset', 'Reset', 'Reset', 'Reset'],
    ['Reset', 'Reset', 'Reset', 'Reset', 'Reset'],
  ])
  t.end()
})

t.test('the other ways not to be done', async (t) => {
  const cases: [OperationResult, number, unknown][] = [
    [{ kind: 'refused', code: 'NOT_SCHEDULED', message: 'Not our turn' }, 409, { error: 'Not our turn' }],
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
        error: 'No sequencer answered within 30 s. Look at the state queue, then ask again',
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

t.test('a client that goes away while a port works for it is no failure of the server', async (t) => {
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
  await server.listen({ host: '127.0.0.1', port: 0 })
  const socket = connect((server.server.address() as AddressInfo).port, '127.0.0.1')
  socket.write('GET /slow HTTP/1.1\r\nhost: a\r\n\r\n')
  await once(lines, 'begun')
  const ended = new Promise<LogLine>((resolve) => {
    lines.on('line', (line: LogLine) => line.err && resolve(line))
  })
  socket.destroy()
  t.match(await ended, { level: 20, msg: 'Request aborted', err: { message: 'This operation was aborted' } })
})
