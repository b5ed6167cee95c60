// npm run pack -- submit tx-query [--to ../packed]: packs packages and those that they need, as npm would
// publish them, for projects outside of the checkout. Without names, it packs all.
import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { packageManager, prepare, root } from './prepare.mjs'
import { run } from './steps.mjs'

const scope = '@ratatosk/'

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

if (process.argv[1] === import.meta.filename) {
  const { values, positionals } = parseArgs({ allowPositionals: true, options: { to: { type: 'string' } } })
  await prepare()
  // It imports a development dependency, which a clean clone has only now.
  const { publishedPackages } = await import('./tarballs/packages.mjs')
  const all = await publishedPackages()
  const wanted = positionals.map((name) => (name.startsWith(scope) ? name : scope + name))
  let chosen
  try {
    chosen = wanted.length > 0 ? closureOf(all, wanted) : all
  } catch (error) {
    console.error(error.message)
    process.exit(2)
  }
  const folder = resolve(values.to ?? join(root, 'packed'))
  const earlier = existsSync(folder) ? readdirSync(folder) : []
  for (const name of earlier) if (/^ratatosk-.*\.tgz$/.test(name)) rmSync(join(folder, name))
  if (!(await packPackages(chosen, folder))) process.exit(1)
  console.log(`${chosen.length} packages are in ${folder}. In your project, run:\n`)
  console.log(`  npm install ${folder}/ratatosk-*.tgz\n`)
}
