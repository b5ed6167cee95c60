import { execFile } from 'node:child_process'
import { appendFile, mkdir, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { ask, until } from '@ratatosk/test-kit/http'
import t, { type Test } from 'tap'
import { temporaryDirectory } from '../test/backends.js'
import { spawnGroup, spawnThrough } from '../test/node-process.js'

// One start, and a few compilations of one file.
t.setTimeout(300_000)

const root = fileURLToPath(new URL('../../../../', import.meta.url))
const script = (name: string) => join(root, 'scripts', name)
/** Node's permission model: nothing can be written, and no process started. */
const readOnly = [
  process.allowedNodeEnvironmentFlags.has('--permission') ? '--permission' : '--experimental-permission',
  '--allow-fs-read=*',
  '--no-warnings',
]

/** Runs Node without what the test runner preloads into the processes that its tests start. */
async function node(args: readonly string[]): Promise<string> {
  const clean = ['-i', `PATH=${process.env.PATH}`, process.execPath]
  const { stderr } = await promisify(execFile)('env', [...clean, ...args])
  return stderr
}

const build = (place: string, ...options: readonly string[]) =>
  node([
    ...options,
    ...['--input-type=module', '-e'],
    `import { build } from ${JSON.stringify(script('build.mjs'))}
     console.error((await build(${JSON.stringify(place)})) ?? 'complete')`,
  ])

/** A workspace of one package, whose bundle is a copy; the other bundles are empty. */
async function workspace(folder: string): Promise<string> {
  const home = join(folder, 'packages', 'client')
  const compilerOptions = { composite: true, rootDir: 'src', outDir: 'dist', types: [] }
  await mkdir(join(home, 'src'), { recursive: true })
  for (const name of ['apps', 'node_modules']) await mkdir(join(folder, name))
  await symlink(join(root, 'node_modules', 'typescript'), join(folder, 'node_modules', 'typescript'))
  const json = (path: string, value: unknown) => writeFile(join(folder, path), JSON.stringify(value))
  await json('tsconfig.base.json', {})
  await json('tsconfig.json', { files: [], references: [{ path: 'packages/client' }] })
  await json('packages/client/package.json', {})
  await json('packages/client/tsconfig.json', { compilerOptions, include: ['src'] })
  await writeFile(join(home, 'src', 'index.ts'), 'export const one: number = 1\n')
  await writeFile(
    join(home, 'bundle.mjs'),
    `import { cpSync } from 'node:fs'\ncpSync('${home}/dist/index.js', '${home}/bundle/index.js')\n`,
  )
  for (const other of ['packages/explorer', 'packages/database', 'apps/node']) {
    await mkdir(join(folder, other), { recursive: true })
    for (const name of ['bundle.mjs', 'bundle-node.mjs']) await writeFile(join(folder, other, name), '')
  }
  return home
}

t.test('a build runs if sources or outputs have changed, and only then', async (t) => {
  const place = await temporaryDirectory(t)
  const home = await workspace(place)
  const built = /^Compiling …\n[\s\S]*Bundling the dev wallet …\n[\s\S]*complete\n$/
  t.match(await build(place), built)
  t.equal(await build(place, ...readOnly), 'complete\n', 'nothing is run or written')

  await appendFile(join(home, 'src', 'index.ts'), 'export const two: number = 2\n')
  t.match(await build(place), built, 'a source has changed')
  await rm(join(home, 'bundle'), { recursive: true })
  t.match(await build(place), built, 'the bundle is gone')
  await appendFile(join(home, 'dist', 'index.js'), '// damaged\n')
  t.match(await build(place), built, 'an output has changed')
  t.notMatch(await readFile(join(home, 'dist', 'index.js'), 'utf8'), 'damaged')
  await writeFile(join(home, 'src', 'index.ts'), 'export const one: number = "1"\n')
  t.match(await build(place), /error TS2322[\s\S]*The build failed\. The lines above say where\.\n$/)
  t.match(await build(place), 'The build failed', 'until it is repaired')
  await rm(join(home, 'src', 'index.ts'))
  await writeFile(join(home, 'src', 'other.ts'), 'export const one: number = 1\n')
  await build(place)
  t.notOk((await readdir(join(home, 'dist'))).includes('index.js'), 'what was built of it goes with a source')
})

t.test('a checkout that is built and cannot be written to needs no preparation', async (t) => {
  await node([script('prepare.mjs')])
  t.equal(await node([...readOnly, script('prepare.mjs')]), '')
})

t.test('a step that goes on says so', async (t) => {
  const program = `import { begin } from ${JSON.stringify(script('steps.mjs'))}
    const write = process.stderr.write.bind(process.stderr)
    const end = begin('Waiting', 1)
    process.stderr.write = (text) => {
      process.stderr.write = write
      write(text)
      end()
      return true
    }`
  const output = await node(['--input-type=module', '-e', program])
  t.match(output, /^Waiting …\n {2}… \d+\.\d s\n {2}done in \d+\.\d s\n$/)
})

t.test('npm start names each step until the node is up', async (t) => {
  const DATA_DIR = join(await temporaryDirectory(t), 'data')
  const started = await spawnGroup(t, { DATA_DIR }, [script('start.mjs')])
  t.equal(await started.stop('SIGTERM'), 0)
  t.match(started.output(), /^Starting the node …\n(?: {2}… \d+\.\d s\n)* {2}done in \d+\.\d s$/m)
  const steps = [...started.output().matchAll(/"msg":"Start: ([^\s"]+ [^\s"]+ [^\s"]+)/g)]
  t.same(
    steps.map(([, name]) => name),
    [
      'checking the settings,',
      'applying the settings',
      'creating the embedded',
      'opening the embedded',
      'opening the store',
      'opening the queue',
      'comparing the ledger',
      'connecting to layer',
      'starting the validation',
      'opening the roots',
      'taking part in',
      'registering the routes',
    ],
  )
})

/** A package whose `npm start` starts a node; returns its folder. */
async function startingPackage(t: Test): Promise<string> {
  const place = await temporaryDirectory(t)
  const launcher = JSON.stringify(script('launch.mjs'))
  const start = `import(${launcher}).then(({ launch }) => launch('apps/node/dist/main.js', []))`
  await writeFile(join(place, 'start.mjs'), start)
  await writeFile(join(place, 'package.json'), '{ "scripts": { "start": "node start.mjs" } }')
  return place
}

t.test('SIGTERM to the process of npm ends the node', async (t) => {
  const place = await startingPackage(t)
  const environment = { DATA_DIR: join(place, 'data'), npm_config_prefix: place, HOME: place }
  const npm = await spawnThrough(t, ['npm', 'start', '--prefix', place, '--'], environment)
  await npm.stop('SIGTERM')
  const answers = () =>
    ask(`${npm.url}/health/live`).then(
      () => true,
      () => false,
    )
  await until(async () => !(await answers()), { what: 'the node has ended' })
  t.same(
    (await readdir(join(place, 'data'))).filter((name) => name.startsWith('lock.')),
    [],
  )
})

t.test('Ctrl-C, which reaches npm, its shell, the starter and the node, ends them in order', async (t) => {
  const place = await startingPackage(t)
  const environment = { DATA_DIR: join(place, 'data'), npm_config_prefix: place, HOME: place }
  // The leader of the group, as the shell of a terminal is.
  const shell = `process.on('SIGINT', () => undefined)
    const args = ${JSON.stringify(['start', '--prefix', place])}
    const npm = require('node:child_process').spawn('npm', args, { stdio: 'inherit' })
    npm.on('exit', (code) => process.exit(code))`
  const started = await spawnGroup(t, environment, ['-e', shell])
  await started.stopAll('SIGINT')
  t.match(started.output(), '"msg":"Closed"')
  t.notMatch(started.output(), 'ending at once')
})
