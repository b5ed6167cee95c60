// Compiles and bundles the workspace, if its sources or what was built from them have changed.
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { run, step } from './steps.mjs'

/** The folders of all packages, relative to the root. */
export function packageFolders(root) {
  return ['packages', 'apps'].flatMap((parent) =>
    readdirSync(join(root, parent))
      .map((name) => `${parent}/${name}`)
      .filter((folder) => existsSync(join(root, folder, 'package.json'))),
  )
}

/** The bundles of packages beside compiled sources, and the script that makes each. */
const bundles = [
  ['dev wallet', 'packages/client/bundle.mjs'],
  ['console', 'packages/explorer/bundle.mjs'],
  ['empty database', 'packages/database/bundle.mjs'],
  ['node', 'apps/node/bundle-node.mjs'],
]

export function digest(root, paths) {
  const hash = createHash('sha256')
  for (const path of paths)
    hash
      .update(path)
      .update('\0')
      .update(readFileSync(join(root, path)))
      .update('\0')
  return hash.digest('hex')
}

/** The text of a file; empty if there is none. */
export function readStamp(path) {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}

/** Writes and starts nothing if contents have not changed; a copy has other times. Returns what failed. */
export async function build(root) {
  const stampPath = join(root, 'node_modules', '.ratatosk-built')
  const sources = digest(root, sourcesOf(root))
  const stamp = readStamp(stampPath)
  if (stamp === `${sources} ${digest(root, outputsOf(root))}`) return undefined
  // The compiler does not compare what it wrote: if only that has changed, it must write everything.
  const force = stamp.startsWith(`${sources} `) ? ['--force'] : []
  // A build that does not end leaves no stamp.
  rmSync(stampPath, { force: true })
  const node = (name, path, ...args) =>
    step(name, () => run(process.execPath, [join(root, path), ...args], { cwd: root }))
  const compiled = await node('Compiling', 'node_modules/typescript/bin/tsc', '-b', ...force)
  if (compiled !== 0) return 'The build failed. The lines above say where.'
  for (const folder of packageFolders(root)) removeStaleOutput(join(root, folder))
  for (const [name, path] of bundles) {
    const bundled = await node(`Bundling the ${name}`, path)
    if (bundled !== 0) return `The ${name} could not be bundled. The lines above say why.`
  }
  writeFileSync(stampPath, `${sources} ${digest(root, outputsOf(root))}`)
  return undefined
}

function sourcesOf(root) {
  const folders = packageFolders(root)
  return [
    'tsconfig.json',
    'tsconfig.base.json',
    ...bundles.map(([, path]) => path),
    // The installed packages.
    ...['node_modules/.ratatosk-installed'].filter((path) => existsSync(join(root, path))),
    ...folders.map((folder) => `${folder}/tsconfig.json`),
    ...folders.flatMap((folder) => filesIn(root, `${folder}/src`)),
  ]
}

function outputsOf(root) {
  return packageFolders(root)
    .flatMap((folder) => ['dist', 'bundle'].flatMap((name) => filesIn(root, `${folder}/${name}`)))
    .filter((path) => !path.endsWith('.cache'))
}

/** The paths of all files below a folder, relative to the root. */
function filesIn(root, folder) {
  if (!existsSync(join(root, folder))) return []
  return readdirSync(join(root, folder), { withFileTypes: true })
    .sort((one, other) => (one.name < other.name ? -1 : 1))
    .flatMap((entry) => {
      const path = `${folder}/${entry.name}`
      return entry.isDirectory() ? filesIn(root, path) : [path]
    })
}

/** Removes what tsc built from sources that are gone, so that it is neither tested nor packed. */
function removeStaleOutput(folder) {
  const output = join(folder, 'dist')
  if (!existsSync(output)) return
  for (const name of readdirSync(output, { recursive: true })) {
    const source = name.replace(/(\.d\.ts|\.js)(\.map)?$/, '.ts')
    const sources = [source, `${source}x`].map((each) => join(folder, 'src', each))
    if (source !== name && !sources.some(existsSync)) rmSync(join(output, name))
  }
}
