// Bundles the node and its threads: finding and reading some two thousand modules takes longer than all else
// of a start. Packages with native code or files of their own stay outside.
import { readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { loadContext } from './dist/context.js'
import { contractsOf } from './dist/layer1/settlement.js'
import { readSettings } from './dist/settings/read.js'

const require = createRequire(import.meta.url)
const path = (name) => fileURLToPath(new URL(name, import.meta.url))
const outside = /^(sodium-native|lmdb|@electric-sql\/pglite)(\/|$)/

/** A file of a package of the workspace: its package, and its path there. */
async function placeOf(file) {
  const [folder] = /^.*\/(packages|apps)\/[^/]+(?=\/)/.exec(file) ?? []
  const { name } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'))
  return { name, path: relative(folder, file) }
}

const urlOf = ({ name, path }) => `urlIn(${JSON.stringify(name)}, ${JSON.stringify(path)})`

/** Of the bundle, and of a file of another package, wherever that is installed. */
const urls = `const bundleNavigator = { userAgent: 'Node.js' };
const bundleUrl = require('url').pathToFileURL(__filename).href;
function urlIn(name, path) {
  const { dirname, join } = require('path');
  const isNode = name === '@ratatosk/node';
  const folder = isNode ? dirname(__dirname) : dirname(require.resolve(name + '/package.json'));
  return require('url').pathToFileURL(join(folder, path)).href;
}`

/** Files next to modules stay where they are, and the bundle's threads are next to it. */
const ownUrls = {
  name: 'own-urls',
  setup({ onLoad }) {
    onLoad({ filter: /\/(packages|apps)\/[^/]+\/dist\/.*\.js$/ }, async ({ path }) => {
      const contents = await readFile(path, 'utf8')
      if (!contents.includes('import.meta.url') || contents.includes('-thread.js')) return
      return { contents: contents.replaceAll('import.meta.url', urlOf(await placeOf(path))), loader: 'js' }
    })
  },
}

/** Loads from where the importing package has it: only that one depends on it. */
const fromImporter = {
  name: 'from-importer',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: outside }, async ({ path, importer }) => ({
      path,
      namespace: 'outside',
      pluginData: await placeOf(importer),
    }))
    onLoad({ filter: /.*/, namespace: 'outside' }, ({ path, pluginData }) => ({
      contents: `module.exports = require('module').createRequire(${urlOf(pluginData)})('${path}')`,
    }))
  },
}

/** The applied contracts of a default devnet: to compile their WebAssembly takes longer than threads. */
const appliedScripts = {
  name: 'applied-scripts',
  setup({ onResolve, onLoad }) {
    onLoad({ filter: /\/contracts\/dist\/scripts\.js$/ }, async ({ path }) => ({
      contents: (await readFile(path, 'utf8'))
        .replace("createRequire(import.meta.url)('@lucid-evolution/uplc')", "require('applied-scripts')")
        .replaceAll('import.meta.url', urlOf(await placeOf(path))),
    }))
    onResolve({ filter: /^applied-scripts$/ }, ({ path }) => ({ path, namespace: 'applied-scripts' }))
    onLoad({ filter: /.*/, namespace: 'applied-scripts' }, async () => {
      const contracts = await placeOf(path('../../packages/contracts/package.json'))
      return {
        contents: `const known = ${JSON.stringify(await applyToDevnet())}
          ${keyOf}
          exports.apply_params_to_script = (parameters, code) => {
            const applied = known[keyOf(parameters, code)]
            if (applied !== undefined) return Buffer.from(applied, 'base64')
            const { createRequire } = require('module')
            const uplc = createRequire(${urlOf(contracts)})('@lucid-evolution/uplc')
            return uplc.apply_params_to_script(parameters, code)
          }`,
      }
    })
  },
}

function keyOf(parameters, code) {
  return require('node:crypto').createHash('sha256').update(parameters).update(code).digest('hex')
}

/** The scripts that a node of default settings applies, by their parameters. */
async function applyToDevnet() {
  const uplc = createRequire(path('../../packages/contracts/package.json'))('@lucid-evolution/uplc')
  const { apply_params_to_script: apply } = uplc
  const known = {}
  uplc.apply_params_to_script = (parameters, code) => {
    const applied = apply(parameters, code)
    known[keyOf(parameters, code)] = Buffer.from(applied).toString('base64')
    return applied
  }
  const context = await loadContext(readSettings({ LOG_LEVEL: 'fatal' }), {})
  contractsOf(context)
  await context.server.close()
  return known
}

/** Swagger writes YAML only if it is asked to, and finds its pages next to its modules. */
const swagger = {
  name: 'swagger',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^yaml$/, namespace: 'file' }, ({ importer, resolveDir }) =>
      importer.includes('@fastify/swagger') ? { path: resolveDir, namespace: 'yaml' } : undefined,
    )
    onLoad({ filter: /.*/, namespace: 'yaml' }, ({ path: resolveDir }) => ({
      contents: "exports.stringify = (...given) => require('yaml').stringify(...given)",
      resolveDir,
    }))
    onLoad({ filter: /@fastify\/swagger-ui\/(index|lib\/routes)\.js$/ }, async ({ path: file }) => {
      const within = /swagger-ui\/(.*)$/.exec(file)[1]
      const openapi = await placeOf(path('../../packages/http/package.json'))
      const folder = `require('path').join(require('module').createRequire(${urlOf(openapi)})
        .resolve('@fastify/swagger-ui'), '..', '${dirname(within)}')`
      return { contents: (await readFile(file, 'utf8')).replaceAll('__dirname', folder) }
    })
  },
}

for (const name of await readdir(path('bundle')).catch(() => []))
  if (name.startsWith('node.js')) await rm(path(`bundle/${name}`))
await build({
  bundle: true,
  platform: 'node',
  format: 'cjs',
  target: 'node20',
  // Names stay, for stack traces.
  minifySyntax: true,
  minifyWhitespace: true,
  sourcemap: true,
  sourcesContent: false,
  logLevel: 'warning',
  // Without a navigator, which Node 20 has not, pg finds out where it is by loading Node's HTTP client.
  define: { 'import.meta.url': 'bundleUrl', navigator: 'bundleNavigator' },
  banner: { js: urls },
  plugins: [appliedScripts, swagger, ownUrls, fromImporter],
  entryPoints: {
    node: path('dist/index.js'),
    'engine-thread': path('../../packages/ledger/dist/plutus/engine-thread.js'),
    'roots-thread': path('../../packages/sequencer/dist/roots/threads/roots-thread.js'),
    'maps-thread': path('../../packages/sequencer/dist/roots/threads/maps-thread.js'),
  },
  outdir: path('bundle'),
})
await writeFile(path('bundle/package.json'), '{ "type": "commonjs" }\n')
