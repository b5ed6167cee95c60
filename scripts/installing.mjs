import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './prepare.mjs'

/** Whether the packages are on npm; then no README says how to pack one. */
const published = false

const installs = /^np(m install|x) .*@ratatosk\//m

/** For each README of a package with a command that asks npm for packages: how to do so today. */
export function installSections() {
  return ['apps', 'packages'].flatMap((parent) =>
    readdirSync(join(root, parent)).flatMap((name) => {
      const path = `${parent}/${name}/README.md`
      if (!existsSync(join(root, path)) || !installs.test(readFileSync(join(root, path), 'utf8'))) return []
      return [[path, 'install', published ? '' : packing(name)]]
    }),
  )
}

const packing = (name) =>
  `Not on npm yet: in a checkout, \`npm run pack -- ${name}\` packs it with all that it needs, and
prints the command that installs it.`
