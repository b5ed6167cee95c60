// Dependencies point down and never form a circle: between packages by their manifests, between files by
// their imports, type imports included. pnpm lets a package import only what its manifest names, so manifests
// suffice for packages.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { root } from './prepare.mjs'

const layers = {
  ground: ['ports', 'cbor', 'ledger', 'trie', 'contracts', 'block', 'transaction', 'protocol'],
  http: ['http'],
  apis: ['chain-apis'],
  clients: ['client', 'dev-wallet'],
  parts: ['store', 'ledger-index', 'queue', 'layer1', 'devnet'],
  work: ['workers', 'sequencer', 'follower', 'faucet-payer', 'prover'],
  plugins: [
    'dead-letters',
    'network',
    'health',
    'tx-query',
    'submit',
    'state-queue',
    'faucet',
    'operator',
    'archivist',
    'evaluate',
    'tx-status',
    'events',
    'openapi',
    'proofs',
  ],
  apps: ['node'],
  tests: ['test-kit', 'test-vectors'],
}

/** The layers that a layer may import. Parts and plugins never import their own kind; ground and work may. */
const allowed = {
  ground: ['ground'],
  http: ['ground'],
  apis: ['ground'],
  clients: [],
  parts: ['ground', 'apis', 'clients'],
  work: ['ground', 'parts'],
  plugins: ['ground', 'http'],
  apps: ['ground', 'http', 'apis', 'clients', 'parts', 'work', 'plugins'],
  tests: ['ground', 'tests'],
}

const layerOf = (name) => Object.keys(layers).find((layer) => layers[layer].includes(name))
const errors = []

/** Packages and apps, by folder. */
const packages = ['packages', 'apps'].flatMap((folder) =>
  readdirSync(join(root, folder))
    .map((name) => ({ name, folder: `${folder}/${name}` }))
    .filter(({ folder }) => existsSync(join(root, folder, 'package.json'))),
)

const packageGraph = new Map()
for (const { name, folder } of packages) {
  const layer = layerOf(name)
  if (!layer) {
    errors.push(`${folder} is in no layer: add it to scripts/check-arrows.mjs`)
    continue
  }
  const manifest = JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8'))
  const dependencies = Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies })
    .filter((dependency) => dependency.startsWith('@ratatosk/'))
    .map((dependency) => dependency.slice('@ratatosk/'.length))
  packageGraph.set(name, dependencies)
  for (const dependency of dependencies) {
    const target = layerOf(dependency)
    if (!target || !allowed[layer].includes(target)) {
      errors.push(`${folder} (${layer}) must not depend on ${dependency} (${target ?? 'no layer'})`)
    }
  }
}
for (const circle of circles(packageGraph))
  errors.push(`packages depend on each other: ${circle.join(' → ')}`)

const importOf = /(?:^|\n)\s*(?:import|export)\b[^'"]*?from\s+'(\.[^']+)'|import\(\s*'(\.[^']+)'\s*\)/g
const fileGraph = new Map()
for (const { folder } of packages) {
  for (const file of sources(join(root, folder, 'src'))) {
    const imports = [...readFileSync(file, 'utf8').matchAll(importOf)].map(([, named, dynamic]) =>
      join(dirname(file), (named ?? dynamic).replace(/\.js$/, '.ts')),
    )
    fileGraph.set(file, imports)
  }
}
for (const circle of circles(fileGraph)) {
  errors.push(`files import each other: ${circle.map((file) => relative(root, file)).join(' → ')}`)
}

function sources(folder) {
  if (!existsSync(folder)) return []
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) return sources(path)
    return /\.[cm]?ts$/.test(entry.name) ? [path] : []
  })
}

/** Each circle that a depth-first walk closes, as the path from a node back to itself. */
function circles(graph) {
  const found = []
  const done = new Set()
  const path = []
  const visit = (node) => {
    const start = path.indexOf(node)
    if (start >= 0) {
      found.push([...path.slice(start), node])
      return
    }
    if (done.has(node)) return
    path.push(node)
    for (const next of graph.get(node) ?? []) visit(next)
    path.pop()
    done.add(node)
  }
  for (const node of graph.keys()) visit(node)
  return found
}

for (const error of errors) console.error(error)
process.exit(errors.length > 0 ? 1 : 0)
