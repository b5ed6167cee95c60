// Dependencies between packages point down the drawing of docs/layout.md. pnpm lets a package import only
// what its manifest names, so the manifests suffice. `tsc -b` refuses circles of packages, the linter circles
// of files, type imports included, and this program circles of the folders of a package.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { filesBelow } from './files.mjs'
import { folderCircles, importsOf } from './imports.mjs'
import { readLayers } from './packages.mjs'
import { root } from './prepare.mjs'

/** The layers that a layer may import. Parts and plugins never import their own kind; ground and work may. */
const allowed = {
  ground: ['ground'],
  base: [],
  http: ['ground'],
  apis: ['ground'],
  clients: [],
  parts: ['ground', 'base', 'http', 'apis', 'clients'],
  work: ['ground', 'base', 'parts', 'work', 'apis'],
  plugins: ['ground', 'http', 'apis'],
  apps: ['apps', 'ground', 'base', 'http', 'apis', 'clients', 'parts', 'work', 'plugins'],
  tests: ['ground', 'tests'],
}

const layers = readLayers()
const errors = []
for (const folder of ['packages', 'apps'].flatMap((parent) =>
  readdirSync(join(root, parent)).map((name) => `${parent}/${name}`),
)) {
  const path = join(root, folder, 'package.json')
  if (!existsSync(path)) continue
  const { name, dependencies, peerDependencies } = JSON.parse(readFileSync(path, 'utf8'))
  const layer = layers.get(name)
  if (!allowed[layer]) errors.push(`${folder} is in no layer of docs/layout.md`)
  for (const dependency of Object.keys({ ...dependencies, ...peerDependencies })) {
    if (!dependency.startsWith('@ratatosk/')) continue
    const below = layers.get(dependency)
    if (!allowed[layer]?.includes(below)) {
      errors.push(`${folder} (${layer}) must not depend on ${dependency} (${below ?? 'no layer'})`)
    }
  }
}
const imports = filesBelow(root, /\.tsx?$/)
  .map((path) => relative(root, path))
  .filter((name) => /^(?:packages|apps)\//.test(name) && !/\.(?:test|tap)\.|\/(?:test|e2e)\//.test(name))
  .flatMap((name) => importsOf(name, readFileSync(join(root, name), 'utf8')))
  .filter(({ to }) => !/\/test\//.test(to))
for (const circle of folderCircles(imports)) errors.push(`a circle of folders: ${circle}`)
for (const error of errors) console.error(error)
process.exit(errors.length > 0 ? 1 : 0)
