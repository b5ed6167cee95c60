// Installs and builds what has changed since the last time. Needs only Node and npm.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

export const root = dirname(dirname(fileURLToPath(import.meta.url)))

const windows = process.platform === 'win32'
/** The `engines` of every manifest. */
const minimumNode = [20, 19]

/** Runs a command to its end and returns its exit code. By default, its output goes to stderr. */
export function run(command, args, options = {}) {
  const result = spawnSync(command, args, { cwd: root, stdio: ['ignore', 2, 2], shell: windows, ...options })
  if (result.error) throw result.error
  return result.status ?? 1
}

function fail(message) {
  process.stderr.write(`\n${message}\n`)
  process.exit(1)
}

function digest(paths) {
  const hash = createHash('sha256')
  for (const path of paths)
    hash
      .update(path)
      .update('\0')
      .update(readFileSync(join(root, path)))
      .update('\0')
  return hash.digest('hex')
}

function readStamp(path) {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}

function packageFolders() {
  return ['packages', 'apps'].flatMap((parent) =>
    readdirSync(join(root, parent))
      .map((name) => `${parent}/${name}`)
      .filter((folder) => existsSync(join(root, folder, 'package.json'))),
  )
}

function manifests() {
  return [
    'package.json',
    'pnpm-workspace.yaml',
    'pnpm-lock.yaml',
    'bench/package.json',
    'examples/demo/package.json',
    'examples/own-plugin/package.json',
    'scripts/pnpm/package-lock.json',
    ...packageFolders().map((folder) => `${folder}/package.json`),
  ]
}

/** Installs pnpm from its own lock file, which pins its integrity, and returns the path of its program. */
export function packageManager() {
  const folder = join(root, 'scripts', 'pnpm')
  const program = join(folder, 'node_modules', 'pnpm', 'bin', 'pnpm.cjs')
  const installed = readStamp(join(folder, 'node_modules', '.package-lock.json'))
  const { version } = JSON.parse(readFileSync(join(folder, 'package-lock.json'), 'utf8')).packages[
    'node_modules/pnpm'
  ]
  if (installed.includes(`"version": "${version}"`)) return program
  const status = run('npm', [
    'ci',
    '--prefix',
    folder,
    '--ignore-scripts',
    '--no-audit',
    '--no-fund',
    '--loglevel=error',
  ])
  if (status !== 0) fail('pnpm could not be installed. Check that the npm registry is reachable: `npm ping`.')
  return program
}

function install() {
  const stampPath = join(root, 'node_modules', '.ratatosk-installed')
  // The platform and Node's ABI choose the prebuilt binaries.
  const wanted = `${digest(manifests())} ${process.platform} ${process.arch} ${process.versions.modules}`
  if (readStamp(stampPath) === wanted) return
  process.stderr.write('Installing dependencies …\n')
  const status = run(process.execPath, [
    packageManager(),
    'install',
    '--frozen-lockfile',
    '--reporter=append-only',
    // Replace a modules folder that another version of pnpm made, without a prompt.
    '--config.confirmModulesPurge=false',
    '--loglevel=error',
  ])
  if (status !== 0)
    fail('The dependencies could not be installed. Check with `npm ping` that the npm registry is reachable.')
  // Tap keeps links into the modules folder, which an installation breaks.
  rmSync(join(root, '.tap'), { recursive: true, force: true })
  mkdirSync(dirname(stampPath), { recursive: true })
  writeFileSync(stampPath, wanted)
}

function build() {
  // tsc keeps its own record of what has changed; with nothing to do it takes a few tenths of a second.
  const status = run(process.execPath, [join(root, 'node_modules', 'typescript', 'bin', 'tsc'), '-b'])
  if (status !== 0) fail('The build failed. The lines above say where.')
  for (const folder of packageFolders()) removeStaleOutput(join(root, folder))
  // Browsers get one file; esbuild makes it in a fraction of a second.
  if (run(process.execPath, [join(root, 'packages', 'dev-wallet', 'bundle.mjs')]) !== 0)
    fail('The dev wallet could not be bundled. The lines above say why.')
}

/** Removes what tsc built from sources that are gone, so that it is neither tested nor packed. */
function removeStaleOutput(folder) {
  const output = join(folder, 'dist')
  if (!existsSync(output)) return
  for (const name of readdirSync(output, { recursive: true })) {
    const source = name.replace(/(\.d\.ts|\.js)(\.map)?$/, '.ts')
    if (source !== name && !existsSync(join(folder, 'src', source))) rmSync(join(output, name))
  }
}

export function prepare() {
  const [major, minor] = process.versions.node.split('.').map(Number)
  if (major < minimumNode[0] || (major === minimumNode[0] && minor < minimumNode[1])) {
    fail(
      `Ratatosk needs Node ${minimumNode.join('.')} or later; this is ${process.version}. See ` +
        `https://nodejs.org.`,
    )
  }
  install()
  build()
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) prepare()
