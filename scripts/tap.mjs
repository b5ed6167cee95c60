// Runs the compiled tests of tap, each file in a process of its own. `tap run` would put loaders into each of
// these processes and into all that they start, which take longer to load than most tests take.
//
//   node scripts/tap.mjs [part of a path …]
import { once } from 'node:events'
import { existsSync, readdirSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join, relative } from 'node:path'
import { pathToFileURL } from 'node:url'
import { filesBelow } from './files.mjs'
import { root } from './prepare.mjs'
import { spawnMeasured } from './processor-time.mjs'

/** A file takes a minute or two; on a busy machine some take ten. */
const timeLimitSeconds = 900

/**
 * How long a process has to end when it is asked to, and how long output of processes is read that a test has
 * left running.
 */
const graceMs = 10_000

const nodeArguments = [
  '--enable-source-maps',
  // Optimising PGlite takes V8 a second and more.
  '--wasm-tiering-budget=60000000',
  // Compares every answer of every server with docs/openapi.json.
  `--import=${pathToFileURL(join(root, 'packages/test-kit/dist/answers-hook.js'))}`,
]

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

/**
 * Runs test files, some at a time. Returns for each how many tests passed and were skipped, which failed and
 * why, its processor seconds and what it printed.
 *
 * @param jobs files at a time
 * @param report called with each file and its result
 */
export async function runTap(files, jobs, report) {
  const results = new Map()
  const waiting = [...files]
  const worker = async () => {
    for (let file = waiting.shift(); file !== undefined; file = waiting.shift()) {
      const result = await runFile(file)
      results.set(file, result)
      report(file, result)
    }
  }
  await Promise.all(Array.from({ length: jobs }, worker))
  return results
}

async function runFile(file) {
  const { FORCE_COLOR, ...environment } = process.env
  const env = { NO_COLOR: '1', TAP_TIMEOUT: `${timeLimitSeconds}`, ...environment }
  const stdio = ['ignore', 'pipe', 'pipe']
  const { child, seconds } = spawnMeasured([...nodeArguments, file], { cwd: root, env, stdio })
  const timers = [
    setTimeout(() => child.kill(), timeLimitSeconds * 1000),
    setTimeout(() => child.kill('SIGKILL'), timeLimitSeconds * 1000 + graceMs),
  ]
  child.once('exit', () => {
    timers.push(setTimeout(() => [child.stdout, child.stderr].map((stream) => stream.destroy()), graceMs))
  })
  const output = []
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (data) => output.push(data))
  const count = counted(child.stdout)
  const [code, signal] = await once(child, 'close')
  for (const timer of timers) clearTimeout(timer)
  if (code !== 0 && count.failures.length === 0)
    count.failures.push(signal === null ? `the file ended with exit code ${code}` : `ended by ${signal}`)
  return { ...count, seconds: seconds(), output: Buffer.concat(output).toString() }
}

/**
 * Counts the tests of a file, as vitest does, not each assertion, from its TAP. Failures carry what was found
 * and wanted.
 */
function counted(stdout) {
  const { Parser } = createRequire(import.meta.url)('tap-parser')
  const count = { passed: 0, skipped: 0, failures: [] }
  let causes = []
  const parser = new Parser()
  parser.on('child', (test) => {
    test.on('assert', ({ ok, todo, name, diag }) => {
      const { source, at, ...cause } = diag ?? {}
      if (!ok && !todo) causes.push(`${name} ${JSON.stringify(cause).slice(0, 2000)}`)
    })
  })
  parser.on('assert', (result) => {
    if (result.skip || result.todo) count.skipped++
    else if (result.ok) count.passed++
    else count.failures.push([result.name, ...causes].join('\n  '))
    causes = []
  })
  stdout.pipe(parser)
  return count
}

if (process.argv[1] === import.meta.filename) {
  const parts = process.argv.slice(2).map((part) => part.replace(/\bsrc\b/, 'dist').replace(/\.ts$/, ''))
  const files = tapFiles().filter((file) => parts.length === 0 || parts.some((part) => file.includes(part)))
  if (files.length === 0) throw new Error(`No compiled test of tap has ${parts.join(' or ')} in its path`)
  await runTap(files, 1, (file, { failures, output, seconds }) => {
    process.stdout.write(`# ${file}\n${output}# ${seconds} s of processor\n`)
    for (const why of failures) console.log(`failed: ${file} > ${why}`)
    if (failures.length > 0) process.exitCode = 1
  })
}
