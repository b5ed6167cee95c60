// The routes that a node of each role registers, for docs/routes.md.
import { randomBytes } from 'node:crypto'
import diagnostics from 'node:diagnostics_channel'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Routes without a schema: method, path, and what they are. */
const undescribed = [
  [/^\/$/, 'GET', '/', 'For browsers: leads to the console, or to `/docs`'],
  [/^\/openapi\.json$/, 'GET', '/openapi.json', 'OpenAPI document of this node'],
  [/^\/docs/, 'GET', '/docs', 'Reference of the API'],
  [/^\/dev-wallet\.js$/, 'GET', '/dev-wallet.js', 'Wallet of the devnet for pages'],
  [/^\/console/, 'GET', '/console', 'Pages that show what the node does'],
  [/^\/devnet\b/, 'POST', '/devnet/…', 'Controls of the devnet: blocks, roll-backs, faults, stops, top-ups'],
  [/^\/l2\//, 'GET', '/l2/…', 'APIs of Blockfrost, Kupo and Ogmios over layer 2'],
]

/** Starts a node of each role on PostgreSQL and returns rows of its routes; undefined without PostgreSQL. */
export async function registeredRoutes() {
  const { databaseUrl, inDatabase, whyMissing } = await import('../packages/test-kit/dist/index.js')
  const { readSettings, startNode } = await import('../apps/node/dist/index.js')
  const { duties } = await import('../apps/node/dist/roles.js')
  const missing = await whyMissing('PostgreSQL')
  if (missing) return undefined

  const schema = `routes_${randomBytes(6).toString('hex')}`
  const directory = await mkdtemp(join(tmpdir(), 'ratatosk-routes-'))
  const record = { role: '', routes: [] }
  const watch = ({ fastify }) => watchServer(fastify, record)
  diagnostics.subscribe('fastify.initialization', watch)
  const nodes = []
  try {
    for (const role of Object.keys(duties)) {
      record.role = role
      const follows = role === 'archivist' || role === 'watcher'
      const settings = {
        PORT: '0',
        LOG_LEVEL: 'silent',
        NODE_ROLE: role,
        ...(role !== 'reader' && { FAUCET_TOKEN: 'faucet', OPERATOR_TOKEN: 'operator' }),
        SERVE_METRICS: 'true',
        DATA_DIR: join(directory, role),
        DATABASE_URL: databaseUrl,
        DATABASE_SCHEMA: follows ? `${schema}_${role}` : schema,
      }
      const elsewhere = {
        ARCHIVIST_PEERS: 'http://127.0.0.1:9',
        LAYER1_PROVIDER: 'blockfrost',
        BLOCKFROST_URL: 'http://127.0.0.1:9',
      }
      const watching = (role === 'all' || role === 'sequencer') && {
        WATCHER_SEED_PHRASE: `${'abandon '.repeat(23)}art`,
      }
      const given = { ...settings, ...watching, ...(follows && elsewhere) }
      nodes.push(await startNode(readSettings(given)))
    }
  } finally {
    diagnostics.unsubscribe('fastify.initialization', watch)
    for (const node of nodes.reverse()) await node.close()
    await rm(directory, { recursive: true, force: true })
    const own = ['', '_archivist', '_watcher'].flatMap((end) => [end, `${end}_queue`])
    const schemas = [...own, '_index', '_devnet'].map((end) => schema + end)
    await inDatabase(schemas.map((name) => `DROP SCHEMA IF EXISTS ${name} CASCADE`).join(';'))
  }
  return record.routes
}

/** Records what a server registers. The devnet has a server too, which has no health routes. */
function watchServer(server, record) {
  const { role } = record
  const routes = []
  server.addHook('onRoute', (route) => {
    const methods = [route.method].flat().filter((method) => method !== 'HEAD' && method !== 'OPTIONS')
    if (methods.length > 0) routes.push(routeOf(role, methods, route))
  })
  server.addHook('onReady', async () => {
    if (routes.some(({ path }) => path === '/health/live')) record.routes.push(...routes)
  })
}

function routeOf(role, methods, { url, schema, config }) {
  const [, method, path, summary] = undescribed.find(([pattern]) => pattern.test(url)) ?? []
  const access = Object.keys(config?.security?.[0] ?? { public: [] })[0].replace(/Token$/, '')
  if (path !== undefined) return { role, methods: [method], path, summary, access }
  return { role, methods, path: url.replace(/:(\w+)/g, '{$1}'), summary: schema?.summary, access }
}

function code(names) {
  return [...names].map((name) => `\`${name}\``).join(', ')
}

/** One row for each route, with the roles that serve it. */
function rowsOf(routes) {
  const rows = new Map()
  for (const { role, methods, path, summary, access } of routes) {
    const name = `${methods.join(', ')} ${path}`
    const row = rows.get(name) ?? { name, summary, access, roles: new Set() }
    rows.set(name, { ...row, roles: row.roles.add(role) })
  }
  return [...rows.values()]
}

/** The module by which the command says which role serves a route. */
export function servedBySource(routes) {
  const entries = rowsOf(routes).map(
    ({ name, roles }) => `${JSON.stringify(name)}: ${JSON.stringify([...roles])}`,
  )
  return `// Written by scripts/write-docs.mjs from the routes that nodes register: do not edit.

/** The roles that serve a route, by method and path. */
export const servedBy: Readonly<Record<string, readonly string[]>> = { ${entries.join(',\n')} }
`
}

export function routesTable(routes) {
  const roles = new Set(routes.map(({ role }) => role))
  const lines = rowsOf(routes).map(({ name, summary, access, roles: of }) => {
    const served = of.size === roles.size ? 'every role' : code(of)
    return `| \`${name}\` | ${summary} | ${access} | ${served} |`
  })
  return ['| route | what | access | roles |', '| --- | --- | --- | --- |', ...lines].join('\n')
}
