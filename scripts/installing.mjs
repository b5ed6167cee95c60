import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './prepare.mjs'

/** Whether the packages are on npm; then no README says how to pack one. */
const published = false

const installs = /^np(m install|x) .*@ratatosk\//m

/** For each README that has npm install packages of the project: how to do so today. */
export function installSections() {
  return [...packageSections(), ...exampleSections()]
}

/** Of each package whose README has a command that asks npm for it. */
function packageSections() {
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
prints the command that installs it. Name all packages that a project needs at once.`

/** Of each example that depends on packages of the project. */
function exampleSections() {
  const all = new Set()
  const sections = readdirSync(join(root, 'examples'), { withFileTypes: true }).flatMap((entry) => {
    if (!entry.isDirectory()) return []
    const folder = `examples/${entry.name}`
    const { dependencies } = JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8'))
    const needed = Object.keys(dependencies).filter((name) => name.startsWith('@ratatosk/'))
    for (const name of needed) all.add(name)
    return needed.length > 0 ? [[`${folder}/README.md`, 'install', copying(entry.name, needed)]] : []
  })
  const overview = `
These are not on npm yet. In a checkout, \`npm run pack -- ${shortNames([...all].sort())}\` packs
all, and prints the command that installs them in a copy of an example's folder. Each README has the
commands for its example alone.`
  return [['examples/README.md', 'install', published ? '' : overview], ...sections]
}

function copying(example, needed) {
  if (published) return '```sh\nnpm install\n```'
  const [are, them] = needed.length > 1 ? ['are', 'them'] : ['is', 'it']
  const list = needed.map((name) => `\`${name}\``).join(' and ')
  return `
${list} ${are} not on npm yet. In a checkout, copy this folder, pack ${them} for the copy, and install:

\`\`\`sh
cp -R examples/${example} ..
npm run pack -- ${shortNames(needed)} --to ../${example}/packed
cd ../${example}
npm install ./packed/ratatosk-*.tgz
\`\`\``
}

const shortNames = (names) => names.map((name) => name.replace('@ratatosk/', '')).join(' ')
