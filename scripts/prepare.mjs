// Installs and builds what has changed since the last time. Needs only Node and npm.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { build, digest, packageFolders, readStamp } from './build.mjs'
import { run, step } from './steps.mjs'

export const root = dirname(dirname(fileURLToPath(import.meta.url)))

/** The `engines` of every manifest. */
const minimumNode = [20, 19]

function fail(message) {
  process.stderr.write(`\n${message}\n`)
  process.exit(1)
}

function manifests() {
  return [
    'package.json',
    'pnpm-workspace.yaml',
    'pnpm-lock.yaml',
    'bench/package.json',
    'examples/own-plugin/package.json',
    'scripts/pnpm/package-lock.json',
    ...packageFolders(root).map((folder) => `${folder}/package.json`),
  ]
}

/** Installs the tool of `scripts/<name>` from its own lock file; returns the folder of its package. */
export async function installTool(name) {
  const folder = join(root, 'scripts', name)
  const lock = readFileSync(join(folder, 'package-lock.json'), 'utf8')
  const { version } = JSON.parse(lock).packages[`node_modules/${name}`]
  const installed = readStamp(join(folder, 'node_modules', '.package-lock.json'))
  if (!installed.includes(`"version": "${version}"`)) {
    const args = ['ci', '--prefix', folder, '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error']
    const status = await step(`Installing ${name}`, () => run('npm', args, { cwd: root }))
    if (status !== 0)
      fail(`${name} could not be installed. Check that the npm registry is reachable: \`npm ping\`.`)
  }
  return join(folder, 'node_modules', name)
}

/** The path of pnpm's program. */
export async function packageManager() {
  return join(await installTool('pnpm'), 'bin', 'pnpm.cjs')
}

async function install() {
  const stampPath = join(root, 'node_modules', '.ratatosk-installed')
  // The platform and Node's ABI choose the prebuilt binaries.
  const platform = [process.platform, process.arch, process.versions.modules].join(' ')
  const wanted = `${digest(root, manifests())} ${platform}`
  if (readStamp(stampPath) === wanted) return
  const args = [
    await packageManager(),
    'install',
    '--frozen-lockfile',
    '--reporter=append-only',
    // Replace a modules folder that another version of pnpm made, without a prompt.
    '--config.confirmModulesPurge=false',
    '--loglevel=error',
  ]
  const status = await step('Installing dependencies', () => run(process.execPath, args, { cwd: root }))
  if (status !== 0)
    fail('The dependencies could not be installed. Check with `npm ping` that the npm registry is reachable.')
  // Tap keeps links into the modules folder, which an installation breaks.
  rmSync(join(root, '.tap'), { recursive: true, force: true })
  mkdirSync(dirname(stampPath), { recursive: true })
  writeFileSync(stampPath, wanted)
}

/** Installs and builds. Writes nothing if nothing has changed, so a checkout that is read-only starts. */
export async function prepare() {
  const [major, minor] = process.versions.node.split('.').map(Number)
  if (major < minimumNode[0] || (major === minimumNode[0] && minor < minimumNode[1])) {
    fail(
      `Ratatosk needs Node ${minimumNode.join('.')} or later; this is ${process.version}. See ` +
        `https://nodejs.org.`,
    )
  }
  try {
    await install()
    const failure = await build(root)
    if (failure !== undefined) fail(failure)
  } catch (error) {
    if (!['EROFS', 'EACCES', 'EPERM'].includes(error.code)) throw error
    fail(
      `This checkout has changed since it was built, and ${error.path} cannot be written (${error.code}). ` +
        'Run `npm run build` where it can.',
    )
  }
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) await prepare()
