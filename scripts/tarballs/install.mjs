// Installs packages as their users would see them, without a registry: each package has its packed files and
// may import what its own manifest names, and nothing else. Other dependencies are links into the workspace's
// installation.
import {
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { root } from '../prepare.mjs'

/** Lays the packages out below `folder` and links them into `folder/consumer`, which it returns. */
export function installPacked(packages, folder) {
  const home = (name) => join(folder, 'store', name.replace('/', '+'), 'node_modules')
  const names = new Set(packages.map(({ name }) => name))
  const consumer = join(folder, 'consumer')
  for (const { name, folder: source, manifest, files } of packages) {
    const target = join(home(name), name)
    for (const file of files) {
      mkdirSync(dirname(join(target, file)), { recursive: true })
      copyFileSync(join(root, source, file), join(target, file))
    }
    writeFileSync(join(target, 'package.json'), JSON.stringify(manifest, null, 2))
    for (const dependency of Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies })) {
      link(
        names.has(dependency)
          ? join(home(dependency), dependency)
          : realpathSync(join(root, source, 'node_modules', dependency)),
        join(home(name), dependency),
      )
    }
    link(target, join(consumer, 'node_modules', name))
  }
  return consumer
}

function link(target, path) {
  mkdirSync(dirname(path), { recursive: true })
  symlinkSync(target, path, 'junction')
}

/** Bytes of a package and of everything that it depends on, peers included; each package once. */
export function installedSize(path, seen = new Set()) {
  const folder = realpathSync(path)
  if (seen.has(folder)) return 0
  seen.add(folder)
  const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  // Beside a package lie its dependencies, in pnpm's layout as in the one above.
  const beside = manifest.name.startsWith('@') ? dirname(dirname(folder)) : dirname(folder)
  let size = folderSize(folder)
  for (const dependency of Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies })) {
    if (manifest.peerDependenciesMeta?.[dependency]?.optional) continue
    size += installedSize(join(beside, dependency), seen)
  }
  return size
}

function folderSize(folder) {
  return readdirSync(folder, { withFileTypes: true }).reduce((total, entry) => {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) return entry.name === 'node_modules' ? total : total + folderSize(path)
    return entry.isFile() ? total + statSync(path).size : total
  }, 0)
}
