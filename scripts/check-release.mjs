// All published packages have one version, and CHANGELOG.md begins with it. A release names its tag as well:
//   node scripts/check-release.mjs v0.1.0
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './prepare.mjs'

const [, , tag] = process.argv
const read = (path) => JSON.parse(readFileSync(path, 'utf8'))
const { version } = read(join(root, 'package.json'))
const faults = ['packages', 'apps']
  .flatMap((parent) =>
    readdirSync(join(root, parent)).map((name) => join(root, parent, name, 'package.json')),
  )
  .filter((path) => existsSync(path))
  .map(read)
  .filter((manifest) => !manifest.private && manifest.version !== version)
  .map((manifest) => `${manifest.name} has the version ${manifest.version}, the root ${version}`)
if (tag !== undefined && tag !== `v${version}`) faults.push(`the tag is ${tag}, the version ${version}`)
const heading = /^## (\S+)/m.exec(readFileSync(join(root, 'CHANGELOG.md'), 'utf8'))?.[1]
if (heading !== version) faults.push(`CHANGELOG.md begins with ${heading}, the version is ${version}`)
for (const fault of faults) console.error(fault)
process.exit(faults.length > 0 ? 1 : 0)
