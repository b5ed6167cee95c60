// The routes that a node of each role registers, for docs/routes.md and the table of plugins in README.md.
import { randomBytes } from 'node:crypto'
import diagnostics from 'node:diagnostics_channel'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const roles = ['all', 'api', 'tx-processor', 'sequencer', 'archivist', 'watcher']

/** Routes without a schema: what they are, and the package that registers them. */
const undescribed = [
  [/^\/$/, '/', 'Landing page', 'node'],
  [/^\/openapi\.json$/, '/openapi.json', 'OpenAPI document of this node', 'openapi'],
  [/^\/docs/, '/docs', 'Reference of the API', 'openapi'],
  [/^\/dev-wallet\.js$/, '/dev-wallet.js', 'Wallet of the devnet for pages', 'node'],
  [/^\/console/, '/console', 'Pages that show what the node does', 'console'],
  [
    /^\/devnet\b/,
    '/devnet/…',
    'Controls of the devnet: blocks, roll-backs, faults, stops, top-ups',
    'devnet',
  ],
  [/^\/l2\//, '/l2/…', 'APIs of Blockfrost, Kupo and Ogmios over layer 2', 'chain-apis'],
]

/** Ports of plugins that register without a scope of their own, where Fastify does not show the options. */
const portsOfUnscoped = { 'chain-apis': ['view'] }

/**
 * Starts a node of each role on PostgreSQL and records its routes.
 *
 * @returns rows of `role`, `methods`, `path`, `summary`, `access` and `plugin`, and the ports of each plugin;
 *   undefined without PostgreSQL
 */
export async function registeredRoutes() {
  const { databaseUrl, inDatabase, whyMissing } = await import('../packages/test-kit/dist/index.js')
  const { readSettings, startNode } = await import('../apps/node/dist/index.js')
  const missing = await whyMissing('PostgreSQL')
  if (missing) return undefined

  const schema = `routes_${randomBytes(6).toString('hex')}`
  const directory = await mkdtemp(join(tmpdir(), 'ratatosk-routes-'))
  const record = { role: '', routes: [], ports: new Map(Object.entries(portsOfUnscoped)) }
  const watch = ({ fastify }) => watchServer(fastify, record)
  diagnostics.subscribe('fastify.initialization', watch)
  const nodes = []
  try {
    for (const role of roles) {
      record.role = role
      const follows = role === 'archivist' || role === 'watcher'
      const settings = {
        PORT: '0',
        LOG_LEVEL: 'silent',
        NODE_ROLE: role,
        FAUCET_TOKEN: 'faucet',
        OPERATOR_TOKEN: 'operator',
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
  return record
}

/** Records what a server registers. The devnet has a server too, which has no health routes. */
function watchServer(server, record) {
  const { role } = record
  const routes = []
  server.addHook('onRegister', (instance, options) => {
    const plugin = packageOf(instance.pluginName)
    if (plugin !== undefined) record.ports.set(plugin, portsOf(options, record.ports.get(plugin)))
  })
  server.addHook('onRoute', function (route) {
    const methods = [route.method].flat().filter((method) => method !== 'HEAD' && method !== 'OPTIONS')
    if (methods.length > 0) routes.push(routeOf(role, methods, route, this.pluginName))
  })
  server.addHook('onReady', async () => {
    if (routes.some(({ path }) => path === '/health/live')) record.routes.push(...routes)
  })
}

function routeOf(role, methods, { url, schema, config }, pluginName) {
  const [, path, summary, plugin] = undescribed.find(([pattern]) => pattern.test(url)) ?? []
  const access = Object.keys(config?.security?.[0] ?? { public: [] })[0].replace(/Token$/, '')
  // The devnet has controls beside reads.
  if (path !== undefined)
    return { role, methods: plugin === 'devnet' ? ['POST'] : ['GET'], path, summary, access, plugin }
  return {
    role,
    methods,
    path: url.replace(/:(\w+)/g, '{$1}'),
    summary: schema?.summary,
    access,
    plugin: packageOf(pluginName),
  }
}

/** `submit` of `@ratatosk/submit`; undefined for a scope that is not one of our plugins. */
function packageOf(pluginName) {
  return /^@ratatosk\/([\w-]+)$/.exec(pluginName)?.[1]
}

/** The options that are objects: the interfaces through which a plugin reaches the rest of the node. */
function portsOf(options, known = []) {
  const ports = Object.entries(options).flatMap(([name, value]) =>
    typeof value === 'object' && value !== null && !Array.isArray(value) ? [name] : [],
  )
  return [...new Set([...known, ...ports])]
}

function code(names) {
  return [...names].map((name) => `\`${name}\``).join(', ')
}

/** The table of docs/routes.md. */
export function routesTable({ routes }) {
  const rows = new Map()
  for (const { role, methods, path, summary, access } of routes) {
    const name = `${methods.join(', ')} ${path}`
    const row = rows.get(name) ?? { name, summary, access, roles: new Set() }
    rows.set(name, { ...row, roles: row.roles.add(role) })
  }
  const lines = [...rows.values()].map(({ name, summary, access, roles: of }) => {
    const served = of.size === roles.length ? 'every role' : code(of)
    return `| \`${name}\` | ${summary} | ${access} | ${served} |`
  })
  return ['| route | what | access | roles |', '| --- | --- | --- | --- |', ...lines].join('\n')
}

/** The table of README.md. */
export function pluginsTable({ routes, ports }) {
  const paths = new Map()
  for (const { role, path, plugin } of routes) {
    if (plugin === 'node' || role !== 'all') continue
    paths.set(plugin, (paths.get(plugin) ?? new Set()).add(path))
  }
  const lines = [...paths].map(
    ([plugin, its]) =>
      `| [\`${plugin}\`](packages/${plugin}) | ${code(its)} | ${code(ports.get(plugin) ?? [])} |`,
  )
  return ['| plugin | routes | ports |', '| --- | --- | --- |', ...lines.sort()].join('\n')
}
