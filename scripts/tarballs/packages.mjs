// The published packages, as their tarballs hold them: the files that npm would pack and the manifest that
// pnpm would write.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import packlist from 'npm-packlist'
import { root } from '../prepare.mjs'

const manifestOf = (folder) => JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8'))

/** Ranges of the workspace's catalog, by package name. */
function readCatalog() {
  const text = readFileSync(join(root, 'pnpm-workspace.yaml'), 'utf8')
  const [, section = ''] = text.split(/^catalog:\n/m)
  const entries = section.split(/^\S/m)[0].matchAll(/^ {2}"?([^":]+)"?: (\S+)$/gm)
  return new Map([...entries].map(([, name, range]) => [name, range]))
}

/** The range that pnpm writes in place of `catalog:` and `workspace:^`. */
function publishedRange(name, range, catalog, versions) {
  if (range === 'catalog:') return catalog.get(name)
  if (range === 'workspace:^') return `^${versions.get(name)}`
  return range
}

/** Every published package: its folder, its manifest with plain ranges, and its files' paths. */
export async function publishedPackages() {
  const folders = ['packages', 'apps'].flatMap((parent) =>
    readdirSync(join(root, parent))
      .map((name) => `${parent}/${name}`)
      .filter((folder) => existsSync(join(root, folder, 'package.json'))),
  )
  const sources = folders
    .map((folder) => ({ folder, manifest: manifestOf(folder) }))
    .filter(({ manifest }) => !manifest.private)
  const versions = new Map(sources.map(({ manifest }) => [manifest.name, manifest.version]))
  const catalog = readCatalog()
  return Promise.all(
    sources.map(async ({ folder, manifest }) => {
      const path = join(root, folder)
      const files = await packlist({ path, package: manifest, isProjectRoot: true, edgesOut: new Map() })
      const published = { ...manifest }
      for (const kind of ['dependencies', 'devDependencies', 'peerDependencies', 'optionalDependencies']) {
        if (!manifest[kind]) continue
        published[kind] = Object.fromEntries(
          Object.entries(manifest[kind]).map(([name, range]) => [
            name,
            publishedRange(name, range, catalog, versions),
          ]),
        )
      }
      return { name: manifest.name, folder, manifest: published, files: files.sort() }
    }),
  )
}

/** The specifiers that a package exports, such as `@ratatosk/ledger/plutus`; JSON files apart. */
export function entryPoints({ name, manifest }) {
  return Object.keys(manifest.exports)
    .filter((subpath) => !subpath.endsWith('.json'))
    .map((subpath) => name + subpath.slice(1))
}
