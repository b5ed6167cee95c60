import swagger from '@fastify/swagger'
import fastify from 'fastify'
import { fastifyPlugin as fp } from 'fastify-plugin'
import t, { type Test } from 'tap'
import { httpErrors, openScope, operatorRoute } from './index.js'
import { docs } from './openapi/index.js'

const shop = fp(
  async (scope, options: object) => {
    openScope(scope, 'shop', {}, options)
    const schema = { operationId: 'list', tags: ['nuts'] }
    scope.get('/nuts', { schema }, async () => [])
    scope.post(
      '/nuts',
      { schema: { operationId: 'add' }, ...operatorRoute({ operatorToken: 'secret' }) },
      () => '',
    )
    scope.get('/plain', async () => '')
  },
  { name: 'shop', fastify: '5.x', encapsulate: true },
)

interface Document {
  readonly info: object
  readonly tags: readonly object[]
  readonly components: { readonly securitySchemes: object; readonly schemas: object }
  readonly paths: Record<
    string,
    Record<string, { readonly operationId: string; readonly security?: object[] }>
  >
}

const prefixes = ['/', '/a', '/a/b', '/a_b', '/:tenant', '']

function host(t: Test) {
  const server = fastify()
  t.teardown(() => server.close())
  return server
}

const openapi = { openapi: '3.1.0', info: { title: 'Mall', version: '9' } }

t.test('every operation id is unique in the document of any host', async (t) => {
  const server = host(t)
  await server.register(swagger, { openapi })
  for (const prefix of prefixes.slice(0, -1)) await server.register(shop, { prefix })
  await server.ready()
  const { paths } = server.swagger() as unknown as Document
  const ids = Object.values(paths).flatMap((path) =>
    Object.values(path).map(({ operationId }) => operationId),
  )
  const named = ids.filter((id) => id !== undefined)
  t.equal(named.length, 10)
  t.same([...new Set(named)], named)
  t.same(named.filter((id) => id.startsWith('list')).sort(), [
    'list',
    'list_a',
    'list_a_b',
    'list_a_b_2',
    'list_tenant',
  ])
})

t.test('an operation id of a route of the host is taken', async (t) => {
  for (const plugin of ['httpErrors', 'docs'] as const) {
    const server = host(t)
    await server.register(swagger, { openapi })
    if (plugin === 'docs') await server.register(docs, options)
    else await server.register(httpErrors)
    server.get('/mine', { schema: { operationId: 'list' } }, async () => [])
    await server.register(async (scope) =>
      scope.get('/my', { schema: { operationId: 'add' } }, async () => []),
    )
    for (const prefix of ['/a', '/b']) await server.register(shop, { prefix })
    await server.ready()
    const { paths } = server.swagger() as unknown as Document
    const ids = ['/mine', '/my', '/a/nuts', '/b/nuts'].flatMap((path) =>
      Object.values(paths[path] ?? {}).map(({ operationId }) => operationId),
    )
    t.same(ids.sort(), ['add', 'add_a', 'add_b', 'list', 'list_a', 'list_b'], plugin)
  }
})

t.test('two servers of a process do not share their ids', async (t) => {
  for (let round = 0; round < 2; round++) {
    const server = host(t)
    await server.register(swagger, { openapi })
    await server.register(shop)
    await server.ready()
    const { paths } = server.swagger() as unknown as Document
    t.equal(paths['/nuts']?.get?.operationId, 'list')
  }
})

t.test('a route for an operator says in the document of any host which token it requires', async (t) => {
  const server = host(t)
  await server.register(swagger, { openapi })
  await server.register(shop)
  await server.ready()
  const { paths } = server.swagger() as unknown as Document
  t.same(paths['/nuts']?.post?.security, [{ operatorToken: [] }])
  t.equal(paths['/nuts']?.get?.security, undefined)
})

t.test('is served as JSON Schema says on a host with schemas and answers of another kind', async (t) => {
  const server = host(t)
  const foreign = () => {
    throw new Error('not a schema of this host')
  }
  server.setSerializerCompiler(foreign).setValidatorCompiler(foreign)
  server.setReplySerializer((payload) => JSON.stringify({ data: payload }))
  await server.register(swagger, { openapi, transform: foreign })
  await server.register(
    fp(
      async (scope, options: object) => {
        openScope(scope, 'shop', {}, options)
        const nut = { type: 'object', properties: { name: { type: 'string' } } }
        const querystring = { type: 'object', properties: { price: { type: 'integer' } } }
        const schema = { querystring, response: { 200: nut } }
        scope.get('/nut', { schema }, async ({ query }) => ({ name: 'hazel', ...Object(query) }))
      },
      { name: 'shop', encapsulate: true },
    ),
  )
  const answer = await server.inject('/nut?price=1')
  t.same(answer.json(), { name: 'hazel' })
  t.equal((await server.inject('/nut?price=x')).statusCode, 400)
  const { paths } = server.swagger() as unknown as Document
  t.match(paths['/nut']?.get, { parameters: [{ name: 'price' }] })
})

t.test('refuses an option that it does not have', async (t) => {
  await t.rejects(
    async () => host(t).register(shop, { stock: 5 } as object),
    new TypeError('shop: there is no option stock; its options are none'),
  )
})

const options = {
  title: 'Shop',
  version: '1',
  description: 'Sells nuts',
  tags: [{ name: 'nuts', description: 'What is sold' }],
}

t.test('docs joins a host that has @fastify/swagger, and leaves its document as it is', async (t) => {
  const server = host(t)
  const components = { securitySchemes: { basic: { type: 'http', scheme: 'basic' } as const } }
  await server.register(swagger, { openapi: { ...openapi, components, tags: [{ name: 'mine' }] } })
  await server.register(docs, options)
  await server.register(shop, { prefix: '/a' })
  const nut = { type: 'object', title: 'Nut', properties: {} }
  server.get('/own', { schema: { tags: ['mine'], response: { 200: nut } } }, async () => ({}))
  const answer = await server.inject('/openapi.json')
  t.equal(answer.statusCode, 200)
  const document: Document = answer.json()
  t.match(document.info, { title: 'Shop', version: '1', description: 'Sells nuts' })
  t.same(document.tags, [...options.tags, { name: 'mine' }])
  t.same(Object.keys(document.paths), ['/a/nuts', '/a/plain', '/own'])
  t.same(document.components, {
    securitySchemes: {
      operatorToken: { type: 'http', scheme: 'bearer' },
      basic: { type: 'http', scheme: 'basic' },
    },
    schemas: { Nut: { type: 'object', properties: {} } },
  })
  const shown = await server.inject('/docs/json')
  t.same(shown.json().info, document.info, 'the reference shows the same document')
  t.match(server.swagger() as unknown as Document, { info: openapi.info, tags: [{ name: 'mine' }] })
  t.match((await server.inject('/docs')).body, '<title>Shop</title>')
})

t.test('docs refuses a host that writes Swagger 2.0', async (t) => {
  const server = host(t)
  await server.register(swagger)
  await server.register(docs, options)
  const message = '@ratatosk/http/openapi: the @fastify/swagger of the server needs its option openapi'
  await t.rejects(async () => server.ready(), new TypeError(message))
})
