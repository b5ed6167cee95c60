// npm run pack: packs packages and those that they need, as npm would publish them, for projects outside of
// the checkout.
import { mkdirSync, readdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { packageManager, prepare, root } from './prepare.mjs'
import { run } from './steps.mjs'

const scope = '@ratatosk/'

const usage = `Usage: npm run pack -- [options] [packages]

Packs packages, such as submit and tx-query, with all that they need; without names, all packages. Name all
that a project needs at once. Packages that are already in the folder stay, or are replaced by the new ones.

  --to <folder>  where to put the packages  (default packed, in the checkout)
  -h, --help     print this help
`

/** The packages with some names, and all that these need. @throws Error for a name that no package has */
function closureOf(packages, names) {
  const byName = new Map(packages.map((each) => [each.name, each]))
  const found = new Map()
  const add = (name) => {
    if (found.has(name)) return
    const one = byName.get(name)
    if (one === undefined) throw new Error(`There is no published package ${name}.`)
    found.set(name, one)
    const { dependencies = {}, peerDependencies = {}, peerDependenciesMeta = {} } = one.manifest
    const peers = Object.keys(peerDependencies).filter((peer) => !peerDependenciesMeta[peer]?.optional)
    for (const needed of [...Object.keys(dependencies), ...peers]) if (needed.startsWith(scope)) add(needed)
  }
  for (const name of names) add(name)
  return [...found.values()]
}

/** Where `packPackages` puts a package. */
export const tarballIn = (folder, { name, manifest }) =>
  join(folder, `${name.slice(1).replace('/', '-')}-${manifest.version}.tgz`)

/** Packs packages into a folder. Resolves with whether this worked. */
export async function packPackages(packages, folder) {
  mkdirSync(folder, { recursive: true })
  const names = packages.flatMap(({ name }) => ['--filter', name])
  const packing = [await packageManager(), '-r', ...names, 'pack', '--pack-destination', folder]
  return (await run(process.execPath, packing, { cwd: root, stdio: ['ignore', 'ignore', 2] })) === 0
}

/** The arguments for `npm install`: a pattern if the folder has only these packages. */
function installable(packages, folder) {
  const tarballs = packages.map((each) => tarballIn(folder, each))
  const found = readdirSync(folder).filter((name) => /^ratatosk-.*\.tgz$/.test(name))
  const hasOthers = found.some((name) => !tarballs.includes(join(folder, name)))
  return hasOthers ? tarballs.join(' ') : join(folder, 'ratatosk-*.tgz')
}

function refuse(message) {
  console.error(message)
  process.exit(2)
}

function readArguments() {
  try {
    return parseArgs({
      allowPositionals: true,
      options: { to: { type: 'string' }, help: { type: 'boolean', short: 'h' } },
    })
  } catch (error) {
    // Node adds advice that does not fit.
    const [reason] = error.message.split('. ')
    return refuse(`${reason}\n\n${usage}`)
  }
}

if (process.argv[1] === import.meta.filename) {
  const { values, positionals } = readArguments()
  if (values.help) {
    process.stdout.write(usage)
    process.exit()
  }
  await prepare()
  // It imports a development dependency, which a clean clone has only now.
  const { publishedPackages } = await import('./tarballs/packages.mjs')
  const all = await publishedPackages()
  const wanted = positionals.map((name) => (name.startsWith(scope) ? name : scope + name))
  let chosen
  try {
    chosen = wanted.length > 0 ? closureOf(all, wanted) : all
  } catch (error) {
    refuse(error.message)
  }
  const folder = resolve(values.to ?? join(root, 'packed'))
  if (!(await packPackages(chosen, folder))) process.exit(1)
  const number = chosen.length === 1 ? '1 package is' : `${chosen.length} packages are`
  console.log(`${number} in ${folder}. In your project, run:\n`)
  console.log(`  npm install ${installable(chosen, folder)}\n`)
  console.log('pnpm and Yarn look needed packages up: name their files in overrides or resolutions, too.')
}
