import swagger from '@fastify/swagger'
import fastify from 'fastify'
import t from 'tap'
import operator, { operator as named, type OperatorOptions } from './index.js'
import { build, logs, Node, paths, requests } from './test/build.js'

t.test('is exported by default and by name, and registered under its npm name', async (t) => {
  t.equal(operator, named)
  const { server } = await build(t)
  t.ok(server.hasPlugin('@ratatosk/operator'))
})

t.test('serves only the operations that `serve` names', async (t) => {
  const { operations: runner } = new Node().ports
  for (const request of requests) {
    const [, name = ''] = /^.(\w+)/.exec(request) ?? []
    const { get, node } = await build(t, {
      serve: [name],
      blocks: undefined,
      globals: undefined,
    } as unknown as Partial<OperatorOptions>)
    const unknown = await get('/nothing')
    t.equal(unknown.body, '{"error":"Not Found","code":"DISABLED"}')
    for (const path of paths) {
      if (path === request) t.equal((await get(path)).status, 200, path)
      else t.same(await get(path), unknown, `${path} where only ${name} is served`)
    }
    t.equal(node.asked.length, 1)
  }
  const server = fastify()
  t.teardown(() => server.close())
  await server.register(operator, { operations: runner, serve: [] })
  t.equal((await server.inject('/commit')).statusCode, 404)
})

t.test('serves a log route only if its port is given', async (t) => {
  const { ports } = new Node()
  for (const [name, served] of [
    ['blocks', '/logBlocksTxsDB'],
    ['globals', '/logGlobals'],
  ] as const) {
    const server = fastify({ logger: false })
    t.teardown(() => server.close())
    await server.register(operator, { operations: ports.operations, [name]: ports[name] })
    for (const path of logs) {
      t.equal((await server.inject(path)).statusCode, path === served ? 200 : 404, path)
    }
  }
})

t.test('serves two nodes in one server, each under its prefix', async (t) => {
  const server = fastify()
  t.teardown(() => server.close())
  const [first, second] = [new Node(), new Node()]
  second.end({ kind: 'nothing-to-commit' })
  await server.register(operator, { prefix: '/first', ...first.ports })
  await server.register(operator, { prefix: '/second', ...second.ports, operatorToken: 'a' })
  const authorization = 'Bearer a'
  t.match((await server.inject('/first/commit')).json(), { transactions: 3 })
  t.equal((await server.inject('/second/commit')).statusCode, 401)
  t.match((await server.inject({ url: '/second/commit', headers: { authorization } })).json(), {
    message: 'Nothing to commit',
  })
  t.equal((await server.inject('/commit')).statusCode, 404)
  t.same([first.asked, second.asked], [['commit'], ['commit']])
})

t.test('leaves the error handler of the server unchanged', async (t) => {
  const server = fastify()
  t.teardown(() => server.close())
  server.setErrorHandler((_error, _request, reply) => reply.code(418).send('mine'))
  server.get('/own', async () => {
    throw Object.assign(new Error('x'), { kind: 'timeout', code: 'LAYER1_TIMEOUT' })
  })
  await server.register(operator, new Node().ports)
  t.equal((await server.inject('/own')).statusCode, 418)
})

t.test('throws at startup for options that cannot work', async (t) => {
  const { ports } = new Node()
  for (const [options, message] of [
    [{}, '@ratatosk/operator: operations must be an object with the method run'],
    [{ operations: {} }, '@ratatosk/operator: operations must be an object with the method run'],
    [
      { ...ports, serve: ['commit', 'repair'] },
      '@ratatosk/operator: serve must be an array of init, commit, merge, reset, remove',
    ],
    [
      { ...ports, operatorToken: '' },
      /^@ratatosk\/operator: operatorToken must be a text of ASCII characters/,
    ],
    [
      { ...ports, allowedHosts: ['http://a'] },
      /^@ratatosk\/operator: allowedHosts must be an array of host names or IP/,
    ],
  ] as const) {
    const server = fastify()
    await t.rejects(async () => server.register(operator, options as unknown as OperatorOptions), { message })
    await server.close()
  }
})

t.test('documents every route and status in OpenAPI', async (t) => {
  const server = fastify()
  t.teardown(() => server.close())
  await server.register(swagger, { openapi: {} })
  await server.register(operator, new Node().ports)
  await server.ready()
  interface Operation {
    operationId: string
    summary: string
    responses: Record<string, { description: string; content: { 'application/json': { schema: object } } }>
  }
  const documented = server.swagger().paths as Record<string, Record<string, Operation>>
  const operation = ['200', '401', '403', '408', '409', '431', '500', '503', '504']
  const change = ['200', '400', '401', '403', '408', '409', '413', '415', '431', '500', '503', '504']
  const log = ['200', '401', '403', '408', '431', '500', '503']
  t.same(
    Object.entries(documented).map(([path, methods]) => [
      path,
      Object.keys(methods),
      Object.values(methods).flatMap(({ responses }) => Object.keys(responses)),
    ]),
    [
      ['/init', ['get'], operation],
      ['/commit', ['get'], operation],
      ['/merge', ['get'], operation],
      ['/reset', ['get'], operation],
      ['/remove', ['get'], ['200', '400', ...operation.slice(1)]],
      ['/operator/register', ['post'], change],
      ['/operator/retire', ['post'], change],
      ['/operator/release', ['post'], change],
      ['/logBlocksTxsDB', ['get'], log],
      ['/logGlobals', ['get'], log],
    ],
  )
  for (const methods of Object.values(documented)) {
    const { operationId, summary, responses } = Object.values(methods)[0]!
    t.ok(operationId && summary)
    for (const { description, content } of Object.values(responses)) {
      t.not(description, 'Default Response')
      t.ok(content['application/json'].schema)
    }
  }
})
