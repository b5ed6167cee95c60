import fastify from 'fastify'
import { expect, onTestFinished, test } from 'vitest'
import { apis } from './apis.js'
import { ChainUnavailableError } from './errors.js'
import { chainWith } from './test/served-chain.js'

const secret = 'password=hunter2 at db.internal'

/** A server with a handler of its own, and a chain that fails. */
async function served(failure: Error, hook?: () => Promise<void>) {
  const lines: string[] = []
  const server = fastify({ logger: { level: 'error', stream: { write: (line) => void lines.push(line) } } })
  onTestFinished(() => server.close())
  if (hook) server.addHook('preHandler', hook)
  server.setErrorHandler((_error, _request, reply) => reply.code(418).send('mine'))
  const fails = () => Promise.reject(failure)
  const chain = chainWith({ tip: fails, block: fails, transaction: fails, outputs: fails, version: fails })
  await server.register(apis, { chain })
  return { server, lines }
}

const paths = ['/ogmios/health', '/blockfrost/api/v0/blocks/latest', '/kupo/matches']

test.each(paths)('hides why the chain failed at %s, and logs it', async (path) => {
  for (const fields of [{}, { statusCode: 404 }, { statusCode: 503 }, { statusCode: 404, expose: true }]) {
    const { server, lines } = await served(Object.assign(new Error(secret), fields))
    const { statusCode, body } = await server.inject(path)
    expect(statusCode).toBe(500)
    expect(body).not.toContain('hunter2')
    expect(JSON.parse(body)).toBeTypeOf('object')
    expect(lines.join()).toContain(secret)
  }
})

test.each(paths)('tells at %s that the chain is away, or what a hook of the host refuses', async (path) => {
  const away = Object.assign(new Error('The database is away'), { name: 'ChainUnavailableError' })
  const answer = await (await served(away)).server.inject(path)
  expect([answer.statusCode, answer.headers['retry-after']]).toEqual([503, '1'])
  expect(answer.body).toContain('The database is away')
  const refuse = () => Promise.reject(Object.assign(new Error('Too often'), { statusCode: 429 }))
  const refused = await (await served(new Error(secret), refuse)).server.inject(path)
  expect([refused.statusCode, refused.body]).toEqual([429, expect.stringContaining('Too often')])
})

test('answers errors of the health of Ogmios in its format', async () => {
  const failed = await served(new Error(secret))
  expect((await failed.server.inject('/ogmios/health')).json()).toEqual({
    jsonrpc: '2.0',
    error: { code: -32603, message: 'Internal error.' },
    id: null,
  })
  const away = await served(new ChainUnavailableError('The database is away'))
  const answer = await away.server.inject('/ogmios/health')
  expect([answer.statusCode, answer.headers['retry-after']]).toEqual([503, '1'])
  expect(answer.json().error).toEqual({ code: -32000, message: 'The database is away' })
  expect(away.lines).toEqual([])
})

test('says how to send a request to Ogmios', async () => {
  const { server } = await served(new Error(secret))
  const { statusCode, headers, body } = await server.inject('/ogmios')
  expect([statusCode, headers.upgrade]).toEqual([426, 'websocket'])
  expect(JSON.parse(body).error.message).toContain('open a WebSocket, or send the request by POST')
})

test('answers a body that is too long in the format of Ogmios', async () => {
  const { server } = await served(new Error(secret))
  const answer = await server.inject({ method: 'POST', url: '/ogmios', payload: ' '.repeat(512 * 1024 + 1) })
  expect(answer.statusCode).toBe(413)
  expect(answer.json()).toMatchObject({ jsonrpc: '2.0', error: { code: -32600 }, id: null })
})
