// Installs and builds what has changed since the last time, and nothing else. Needs Node and npm only.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

export const root = dirname(dirname(fileURLToPath(import.meta.url)))

const windows = process.platform === 'win32'
const minimumNodeMajor = 20

/** Runs a program of the project to its end; its output goes to this terminal's stderr unless told otherwise. */
export function run(command, args, options = {}) {
  const result = spawnSync(command, args, { cwd: root, stdio: ['ignore', 2, 2], shell: windows, ...options })
  if (result.error) throw result.error
  return result.status ?? 1
}

function fail(sentence) {
  process.stderr.write(`\n${sentence}\n`)
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

function manifests() {
  const inFolder = (folder) =>
    readdirSync(join(root, folder), { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map((entry) => `${folder}/${entry.name}/package.json`)
  return [
    'package.json',
    'pnpm-workspace.yaml',
    'pnpm-lock.yaml',
    'bench/package.json',
    ...inFolder('packages'),
    ...inFolder('apps'),
  ]
}

function install() {
  const stampPath = join(root, 'node_modules', '.ratatosk-installed')
  // The platform and Node's ABI choose the prebuilt binaries.
  const wanted = `${digest(manifests())} ${process.platform} ${process.arch} ${process.versions.modules}`
  if (readStamp(stampPath) === wanted) return
  const { packageManager } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  process.stderr.write('Installing dependencies (the first time only) …\n')
  const status = run('npx', [
    '--yes',
    packageManager,
    'install',
    '--frozen-lockfile',
    '--reporter=append-only',
    // A modules folder that another pnpm or another user made is made anew, unasked.
    '--config.confirmModulesPurge=false',
    '--loglevel=error',
  ])
  if (status !== 0)
    fail('The dependencies could not be installed. Is the npm registry reachable? `npm ping` tells.')
  // Tap keeps links into the modules folder, which point nowhere after an installation.
  rmSync(join(root, '.tap'), { recursive: true, force: true })
  mkdirSync(dirname(stampPath), { recursive: true })
  writeFileSync(stampPath, wanted)
}

function build() {
  // tsc keeps its own record of what has changed; with nothing to do it takes a few tenths of a second.
  const status = run(process.execPath, [join(root, 'node_modules', 'typescript', 'bin', 'tsc'), '-b'])
  if (status !== 0) fail('The build failed: the lines above name the place.')
}

export function prepare() {
  if (Number(process.versions.node.split('.')[0]) < minimumNodeMajor) {
    fail(
      `Ratatosk needs Node ${minimumNodeMajor} or newer; this is ${process.version}. See https://nodejs.org.`,
    )
  }
  install()
  build()
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) prepare()
