import fastify from 'fastify'
import { expect, onTestFinished, test } from 'vitest'
import { apis } from './apis.js'
import { ChainUnavailableError } from './errors.js'
import { chainWith } from './test/served-chain.js'

const secret = 'password=hunter2 at db.internal'

/** A server with a handler of its own, and a chain that fails. */
async function served(failure: Error) {
  const lines: string[] = []
  const server = fastify({ logger: { level: 'error', stream: { write: (line) => void lines.push(line) } } })
  onTestFinished(() => server.close())
  server.setErrorHandler((_error, _request, reply) => reply.code(418).send('mine'))
  const fails = () => Promise.reject(failure)
  const chain = chainWith({ tip: fails, block: fails, transaction: fails, outputs: fails, version: fails })
  await server.register(apis, { chain })
  return { server, lines }
}

test.each(['/ogmios/health', '/blockfrost/api/v0/blocks/latest', '/kupo/matches'])(
  'hides why the chain failed at %s, and logs it',
  async (path) => {
    const { server, lines } = await served(new Error(secret))
    const { statusCode, body } = await server.inject(path)
    expect(statusCode).toBe(500)
    expect(body).not.toContain('hunter2')
    expect(JSON.parse(body)).toBeTypeOf('object')
    expect(lines.join()).toContain(secret)
  },
)

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

test('answers a body that is too long in the format of Ogmios', async () => {
  const { server } = await served(new Error(secret))
  const answer = await server.inject({ method: 'POST', url: '/ogmios', payload: ' '.repeat(512 * 1024 + 1) })
  expect(answer.statusCode).toBe(413)
  expect(answer.json()).toMatchObject({ jsonrpc: '2.0', error: { code: -32600 }, id: null })
})
