import fastify from 'fastify'
import t from 'tap'
import { addVary } from './index.js'

t.test('adds a field to Vary once, and keeps those of others', async (t) => {
  for (const [before, after] of [
    [undefined, 'accept'],
    ['Origin', 'Origin, accept'],
    ['Origin, Accept', 'Origin, Accept'],
    [['Origin', 'Cookie'], 'Origin, Cookie, accept'],
    ['*', '*'],
  ] as const) {
    const server = fastify()
    t.teardown(() => server.close())
    server.get('/', async (_request, reply) => {
      if (before !== undefined) reply.header('vary', before)
      return addVary(reply, 'accept').send({})
    })
    t.equal([(await server.inject('/')).headers.vary].flat().join(', '), after, String(before))
  }
})
