// Arrows point down only: plugins know the ground, parts know the ground, workers know parts, apps know everything.
// pnpm lets a package import only what its package.json names, so the manifests are the arrows.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './prepare.mjs'

const rooms = {
  ground: ['ledger', 'trie', 'contracts'],
  http: ['http'],
  parts: ['store', 'queue', 'layer1', 'devnet'],
  work: ['workers'],
  plugins: ['health', 'tx-query', 'submit', 'state-queue', 'faucet', 'operator', 'archivist'],
  apps: ['node'],
  tests: ['test-services'],
}

/** Which rooms a room may import from. A part or a plugin never knows another of its kind; the ground may. */
const allowed = {
  ground: ['ground'],
  http: [],
  parts: ['ground'],
  work: ['ground', 'parts'],
  plugins: ['ground', 'http'],
  apps: ['ground', 'http', 'parts', 'work', 'plugins'],
  tests: [],
}

const roomOf = (name) => Object.keys(rooms).find((room) => rooms[room].includes(name))
const errors = []

for (const folder of ['packages', 'apps']) {
  for (const name of readdirSync(join(root, folder))) {
    const room = roomOf(name)
    if (!room) {
      errors.push(`${folder}/${name} stands in no room: name it in scripts/check-arrows.mjs`)
      continue
    }
    const manifest = JSON.parse(readFileSync(join(root, folder, name, 'package.json'), 'utf8'))
    for (const dependency of Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies })) {
      if (!dependency.startsWith('@ratatosk/')) continue
      const target = roomOf(dependency.slice('@ratatosk/'.length))
      if (!target || !allowed[room].includes(target)) {
        errors.push(`${folder}/${name} (${room}) must not depend on ${dependency} (${target ?? 'no room'})`)
      }
    }
  }
}

for (const error of errors) console.error(error)
process.exit(errors.length > 0 ? 1 : 0)
