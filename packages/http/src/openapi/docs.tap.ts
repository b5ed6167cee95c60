import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fastify from 'fastify'
import { chromium } from 'playwright-core'
import t, { type Test } from 'tap'
import { securedBy } from '../index.js'
import { type DocsOptions, docs, nameComponents } from './index.js'

const options: DocsOptions = {
  title: 'Shop',
  version: '1.2.3',
  description: 'Sells nuts',
  tags: [
    { name: 'nuts', description: 'What is sold' },
    { name: 'keys', description: 'Not sold' },
  ],
  tokens: { owner: { description: 'Of the owner' }, guest: { description: 'Unused' } },
}

const nut = { type: 'object', title: 'Nut', description: 'A nut', properties: { title: { type: 'string' } } }
const error = (description: string) => ({
  type: 'object',
  title: 'Error',
  description,
  properties: { error: { type: 'string' } },
})

async function build(t: Test) {
  const server = fastify()
  t.teardown(() => server.close())
  await server.register(docs, options)
  server.get('/', async () => 'a page')
  server.get(
    '/nuts',
    {
      schema: {
        tags: ['nuts'],
        summary: 'All nuts',
        operationId: 'nuts',
        response: { 200: { type: 'array', items: nut }, 400: error('Too few'), 404: error('None') },
      },
    },
    async () => [],
  )
  server.delete(
    '/nuts/:id',
    {
      config: securedBy('owner'),
      schema: { tags: ['nuts'], operationId: 'eat', response: { 200: nut } },
    },
    async () => ({}),
  )
  return server
}

t.test('serves the document of the routes that have tags', async (t) => {
  const server = await build(t)
  const response = await server.inject('/openapi.json')
  t.equal(response.statusCode, 200)
  t.equal(response.headers['content-type'], 'application/json; charset=utf-8')
  const document = response.json()
  t.match(document, { openapi: '3.1.0', info: { title: 'Shop', version: '1.2.3' } })
  t.same(Object.keys(document.paths), ['/nuts', '/nuts/{id}'])
  t.same(document.tags, [options.tags[0]])
  t.same(document.components.securitySchemes, {
    owner: { type: 'http', scheme: 'bearer', description: 'Of the owner' },
  })
  t.same(document.servers, [
    { url: 'http://localhost:80', description: 'The server that serves this document' },
  ])
  t.same(document.paths['/nuts/{id}'].delete.security, [{ owner: [] }])
  const again = await server.inject({
    url: '/openapi.json',
    headers: { 'if-none-match': String(response.headers.etag) },
  })
  t.equal(again.statusCode, 304)
  t.equal(again.body, '')
})

t.test('refuses options that cannot work at startup', async (t) => {
  for (const [option, expected] of [
    ['title', 'a string'],
    ['version', 'a string'],
    ['description', 'a string'],
    ['tags', 'an array'],
  ] as const) {
    const server = fastify()
    const wrong = { ...options, [option]: undefined } as unknown as DocsOptions
    const message = `@ratatosk/http/openapi: ${option} must be ${expected}`
    await t.rejects(async () => server.register(docs, wrong), new TypeError(message))
  }
})

t.test('names the tokens of routes that the options do not describe', async (t) => {
  const { tokens: _undescribed, ...others } = options
  const server = fastify()
  t.teardown(() => server.close())
  await server.register(docs, others)
  const config = securedBy('owner')
  server.get('/keys', { config, schema: { tags: ['keys'] } }, async () => [])
  const response = await server.inject('/openapi.json')
  t.equal(response.statusCode, 200)
  t.same(response.json().components.securitySchemes, { owner: { type: 'http', scheme: 'bearer' } })
  t.same(response.json().paths['/keys'].get.security, [{ owner: [] }])
})

t.test('names the address that the request was sent to', async (t) => {
  const server = await build(t)
  const etags = new Set<unknown>()
  for (const [host, url] of [
    ['node.example', 'http://node.example'],
    ['[::1]:3000', 'http://[::1]:3000'],
    ['a"b', '/'],
    ['a/b', '/'],
  ]) {
    const response = await server.inject({ url: '/openapi.json', headers: { host } })
    t.match(response.json(), { servers: [{ url }] })
    etags.add(response.headers.etag)
  }
  t.equal(etags.size, 3, 'each address has its own entity tag')
})

t.test('names schemas by their titles', async (t) => {
  const server = await build(t)
  const { components, paths } = (await server.inject('/openapi.json')).json()
  t.same(components.schemas, {
    Error: { type: 'object', properties: { error: { type: 'string' } } },
    Nut: { type: 'object', description: 'A nut', properties: { title: { type: 'string' } } },
  })
  const { responses } = paths['/nuts'].get
  t.same(responses['200'].content['application/json'].schema.items, { $ref: '#/components/schemas/Nut' })
  t.equal(responses['404'].description, 'None')
  t.same(responses['404'].content['application/json'].schema, { $ref: '#/components/schemas/Error' })
})

t.test('gives a number to a schema that differs from the first of its title', (t) => {
  const answer = (schema: object) => ({ get: { responses: { 200: { content: { json: { schema } } } } } })
  const document = {
    paths: {
      '/a': answer({ title: 'A', type: 'string' }),
      '/b': answer({ title: 'A', type: 'integer' }),
      '/c': answer({ title: 'A', type: 'string', examples: [{ title: 'data' }] }),
    },
  }
  const copy = nameComponents(document) as object
  t.match(copy, {
    components: { schemas: { A: { type: 'string' }, A2: { type: 'integer' } } },
    paths: { '/c': answer({ $ref: '#/components/schemas/A' }) },
  })
  t.match(document.paths['/a'], answer({ title: 'A' }), 'the document is not changed')
  t.end()
})

t.test('serves a page with the title of the API', async (t) => {
  const server = await build(t)
  const page = await server.inject('/docs')
  t.equal(page.statusCode, 200)
  t.match(page.body, '<title>Shop</title>')

  for (const path of ['/docs', '/docs/']) {
    const { body } = await server.inject(path)
    const links = [...body.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, link = '']) => link)
    t.ok(links.length > 0)
    for (const link of links) {
      const { pathname } = new URL(link, `http://localhost/rollup${path}`)
      t.match(pathname, /^\/rollup\/docs\/static\//, 'also behind a path of a proxy')
      t.equal((await server.inject(pathname.replace('/rollup', ''))).statusCode, 200, link)
    }
  }
})

const executablePath = process.env.CHROMIUM ?? '/usr/bin/chromium'
const skip = !existsSync(executablePath) && process.env.RATATOSK_REQUIRE_SERVICES !== '1'

t.test('serves a reference that asks no other server', { skip }, async (t) => {
  const home = await mkdtemp(join(tmpdir(), 'ratatosk-docs-'))
  t.teardown(() => rm(home, { recursive: true, force: true }))
  const server = await build(t)
  const url = await server.listen({ host: '127.0.0.1', port: 0 })
  const browser = await chromium.launch({
    executablePath,
    args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking', '--disable-component-update'],
    env: { ...process.env, HOME: home } as Record<string, string>,
  })
  t.teardown(() => browser.close())
  const page = await browser.newPage()
  const foreign: string[] = []
  const faults: string[] = []
  page.on('request', (request) => {
    if (!request.url().startsWith(url) && !request.url().startsWith('data:')) foreign.push(request.url())
  })
  page.on('console', (message) => {
    if (message.type() === 'error') faults.push(message.text())
  })
  await page.goto(`${url}/docs`)
  await page.getByText('All nuts').click()
  await page.getByText('Too few').waitFor()
  await page.evaluate('document.fonts.ready')
  await page.waitForLoadState('networkidle')
  t.same(foreign, [])
  const addresses = await page.evaluate(
    "[...document.querySelectorAll('[src], link[href], image')]" +
      '.map((each) => each.src ?? each.href).map(String)',
  )
  t.ok((addresses as string[]).length > 0)
  t.same(
    (addresses as string[]).filter((address) => !address.startsWith(url) && !address.startsWith('data:')),
    [],
    'no badge, picture, style or script is elsewhere',
  )
  t.same(faults, [])
})
