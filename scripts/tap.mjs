// Runs the compiled tests of tap. `tap run` would put loaders into each process and into all that they start,
// which take longer to load than most tests take.
//
//   node scripts/tap.mjs [part of a path …]
import { existsSync, readdirSync, rmSync, statSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { packageFolders } from './build.mjs'
import { filesBelow } from './files.mjs'
import { root } from './prepare.mjs'
import { tapProcess } from './tap-process.mjs'

/** Files that share a process, so that each loads the modules once: those below one of these folders. */
const shared = ['packages/', 'apps/node/dist/e2e/']

/** The test files of tap as paths from the root: the compiled ones of packages and apps, and the examples. */
export function tapFiles() {
  const compiled = ['apps', 'packages'].flatMap((parent) =>
    readdirSync(join(root, parent)).flatMap((name) => {
      const [source, dist] = ['src', 'dist'].map((folder) => join(root, parent, name, folder))
      if (!existsSync(source)) return []
      return filesBelow(source, /\.tap\.ts$/).map((path) =>
        join(dist, relative(source, path).replace(/\.ts$/, '.js')),
      )
    }),
  )
  const examples = filesBelow(join(root, 'examples'), /\.tap\.mjs$/)
  return [...compiled, ...examples].map((path) => relative(root, path))
}

/** Runs test files, `jobs` at a time; reports counts, failures, processor seconds and output of each. */
export async function runTap(files, jobs, report) {
  const results = new Map()
  const waiting = [...files]
  const add = (name, result) => {
    results.set(name, result)
    report(name, result)
  }
  const lane = async (_, number) => {
    let used
    const end = async () => {
      const { process, folder, failed } = used ?? {}
      used = undefined
      if (process === undefined) return
      const { how, ...rest } = await process.end()
      const failures = how !== 0 && !failed ? [`the process ended with ${how}`] : []
      const name = `tap ${number}: ${folder}`
      const before = results.get(name)?.seconds ?? 0
      const result = { passed: 0, skipped: 0, failures, ...rest, seconds: before + rest.seconds }
      results.set(name, result)
      if (failures.length > 0) report(name, result)
    }
    for (let file = waiting.shift(); file !== undefined; file = waiting.shift()) {
      const folder = shared.find((each) => file.startsWith(each)) ?? dirname(file)
      if (used?.folder !== folder || !shared.includes(folder)) await end()
      used ??= { folder, failed: false, process: tapProcess(folder) }
      const { died, ...result } = await used.process.run(file)
      add(file, result)
      used.failed = result.failures.length > 0
      if (died) used = undefined
      // The leftovers of a failure must not fail the next file.
      else if (used.failed) await end()
    }
    await end()
  }
  await Promise.all(Array.from({ length: jobs }, lane))
  return results
}

/** Removes the bundle of the node if something was compiled since: the node then loads its modules. */
function removeStaleBundle() {
  const timeOf = (path) => statSync(join(root, path), { throwIfNoEntry: false })?.mtimeMs ?? 0
  const bundle = 'apps/node/bundle/node.js'
  if (packageFolders(root).some((folder) => timeOf(`${folder}/dist/.tsbuildinfo`) > timeOf(bundle)))
    rmSync(join(root, bundle), { force: true })
}

if (process.argv[1] === import.meta.filename) {
  removeStaleBundle()
  const parts = process.argv.slice(2).map((part) => part.replace(/\bsrc\b/, 'dist').replace(/\.ts$/, ''))
  const files = tapFiles().filter((file) => parts.length === 0 || parts.some((part) => file.includes(part)))
  if (files.length === 0) throw new Error(`No compiled test of tap has ${parts.join(' or ')} in its path`)
  await runTap(files, 1, (file, { failures, output, seconds }) => {
    process.stdout.write(`# ${file}\n${output}# ${seconds.toFixed(2)} s of processor\n`)
    for (const why of failures) console.log(`failed: ${file} > ${why}`)
    if (failures.length > 0) process.exitCode = 1
  })
}
