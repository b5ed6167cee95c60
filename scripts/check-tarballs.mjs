// Every published package installs alone and imports, from ESM and from CommonJS, with types.
//
// npm test runs the short form: it lays out the files that npm would pack, without packing and without a
// registry. RATATOSK_TARBALLS=npm, pnpm or yarn packs with pnpm and installs each tarball with that package
// manager into an empty project; `all` does so with each of them. This needs a registry. Names of packages as
// arguments, such as `cli`, install these alone.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { packPackages, tarballIn } from './pack.mjs'
import { prepare, root } from './prepare.mjs'

const chosen = process.env.RATATOSK_TARBALLS
const full = Boolean(chosen)
/** The most bytes that @ratatosk/submit may add to an installation of Fastify. */
const submitLimit = 5_000_000
/** Settings of TypeScript that README names: with each of them, a program compiles. */
const typeScripts = [
  { module: 'NodeNext', files: ['types.mts', 'types.cts'] },
  { module: 'Node20', files: ['types.mts', 'types.cts'] },
  { module: 'Node16', files: ['types.mts'] },
  { module: 'Preserve', files: ['types.mts'] },
]

if (full) await prepare()
// These import development dependencies, which a clean clone has only now.
const { installedSize, installPacked } = await import('./tarballs/install.mjs')
const { lintPackage } = await import('./tarballs/lint.mjs')
const { packageManagers, prepareProject } = await import('./tarballs/managers.mjs')
const { entryPoints, publishedPackages } = await import('./tarballs/packages.mjs')
const managers = packageManagers.filter((name) => chosen === 'all' || chosen === name)
if (full && managers.length === 0) {
  console.error(`RATATOSK_TARBALLS is "${chosen}": name all, ${packageManagers.join(', ')}.`)
  process.exit(2)
}
const packages = await publishedPackages()
const wanted = process.argv.slice(2).map((name) => `@ratatosk/${name}`)
const unknown = wanted.filter((name) => !packages.some((each) => each.name === name))
if (unknown.length > 0) {
  console.error(`There is no published package ${unknown.join(', ')}.`)
  process.exit(2)
}
const folder = mkdtempSync(join(tmpdir(), 'ratatosk-tarballs-'))
const faults = []
try {
  for (const subject of packages) {
    for (const fault of await lintPackage(subject)) faults.push(`${subject.name}: ${fault}`)
  }
  const consumer = installPacked(packages, folder)
  useFromEveryModuleSystem(consumer, packages.flatMap(entryPoints), 'all packages')
  checkTypes(consumer)
  measureSubmit(consumer)
  if (full) await installTarballs()
} finally {
  rmSync(folder, { recursive: true, force: true })
}
for (const fault of faults) console.error(fault)
if (faults.length === 0) {
  const how = full ? `, each as a tarball with ${managers.join(', ')}` : ''
  console.log(`${packages.length} packages install alone${how}`)
}
process.exit(faults.length > 0 ? 1 : 0)

/** Imports the entry points from an ES module, and requires them from a CommonJS one. */
function useFromEveryModuleSystem(consumer, specifiers, what) {
  const list = JSON.stringify(specifiers)
  const programs = {
    'esm.mjs': `for (const name of ${list}) await import(name)\nprocess.exit(0)\n`,
    'commonjs.cjs': `for (const name of ${list}) require(name)\nprocess.exit(0)\n`,
  }
  for (const [file, text] of Object.entries(programs)) {
    writeFileSync(join(consumer, file), text)
    const { status, stderr } = spawnSync(process.execPath, [file], { cwd: consumer, encoding: 'utf8' })
    if (status !== 0) faults.push(`${what} from ${file}: ${stderr.trim()}`)
  }
}

/** Compiles an import of every entry point strictly; only faults of our declarations count. */
function checkTypes(consumer) {
  const text = packages
    .flatMap(entryPoints)
    .map((name, index) => `import * as n${index} from '${name}'\nexport const v${index} = n${index}\n`)
    .join('')
  for (const file of ['types.mts', 'types.cts']) writeFileSync(join(consumer, file), text)
  for (const { module, files } of typeScripts) {
    writeFileSync(
      join(consumer, 'tsconfig.json'),
      JSON.stringify({
        compilerOptions: {
          module,
          target: 'ES2022',
          lib: ['ES2022'],
          strict: true,
          exactOptionalPropertyTypes: true,
          skipLibCheck: false,
          noEmit: true,
          types: ['node'],
          typeRoots: [join(root, 'node_modules/@types')],
        },
        files,
      }),
    )
    const tsc = join(root, 'node_modules/typescript/bin/tsc')
    const { stdout } = spawnSync(process.execPath, [tsc, '-p', '.', '--pretty', 'false'], {
      cwd: consumer,
      encoding: 'utf8',
    })
    const ours = stdout.split('\n').filter((line) => /^(\S*@ratatosk\S*|types\.[mc]ts)\(|^error /.test(line))
    for (const line of ours) faults.push(`types, ${module}: ${line.replace(/^\S*\/(@ratatosk\/)/, '$1')}`)
  }
}

/** Prints what @ratatosk/submit adds to an installation that has Fastify already. */
function measureSubmit(consumer) {
  const beside = join(folder, 'store/@ratatosk+submit/node_modules')
  const seen = new Set()
  installedSize(join(beside, 'fastify'), seen)
  const added = installedSize(join(consumer, 'node_modules/@ratatosk/submit'), seen)
  console.log(`@ratatosk/submit adds ${(added / 1e6).toFixed(1)} MB to an installation of Fastify`)
  if (added > submitLimit)
    faults.push(`@ratatosk/submit adds ${added} bytes to Fastify, more than ${submitLimit}`)
}

/** Packs with pnpm and installs each tarball alone, its @ratatosk dependencies from the other tarballs. */
async function installTarballs() {
  const tarballs = join(folder, 'tarballs')
  if (!(await packPackages(packages, tarballs))) {
    faults.push('pnpm pack failed')
    return
  }
  const tarballOf = (each) => tarballIn(tarballs, each)
  const installed = wanted.length > 0 ? packages.filter(({ name }) => wanted.includes(name)) : packages
  for (const subject of installed) {
    const { name, files } = subject
    const listed = spawnSync('tar', ['tzf', tarballOf(subject)], { encoding: 'utf8' }).stdout
    const packed = listed
      .trim()
      .split('\n')
      .map((path) => path.slice('package/'.length))
    if (packed.sort().join() !== files.join())
      faults.push(`${name}: pnpm packs other files than the short form checks`)

    for (const manager of managers) {
      const project = mkdtempSync(join(folder, 'project-'))
      const others = packages.filter((other) => other !== subject)
      const tarballsOf = (list) =>
        Object.fromEntries(list.map((each) => [each.name, `file:${tarballOf(each)}`]))
      const install = await prepareProject(manager, project, tarballsOf([subject]), tarballsOf(others))
      const { status, stdout, stderr } = install()
      if (status !== 0) {
        faults.push(`${name}: ${manager} install: ${stderr.trim() || stdout.trim()}`)
        continue
      }
      useFromEveryModuleSystem(project, entryPoints(subject), `${name} with ${manager}`)
      const count = readdirSync(join(project, 'node_modules')).length
      console.log(`${name}: ${count} folders in node_modules with ${manager}`)
      rmSync(project, { recursive: true })
    }
  }
}
