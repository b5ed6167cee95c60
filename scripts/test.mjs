// npm test: install, build, check, then run every test of vitest and tap. The last line sums both runners.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join, relative } from 'node:path'
import { createInterface } from 'node:readline'
import { stripVTControlCharacters } from 'node:util'
import { prepare, root } from './prepare.mjs'

/** In a terminal the runners may use colours and the cursor. Elsewhere their output is plain text. */
const interactive = process.stdout.isTTY === true && !process.env.CI

let summarised = false
process.on('exit', () => {
  // A failed installation or build is a failure too, and has to be found where every other sum is.
  if (!summarised) console.log('0 passed, 1 failed, 0 skipped')
})

await prepare()

const results = join(root, '.test-results')
rmSync(results, { recursive: true, force: true })
mkdirSync(results, { recursive: true })

/** Runs a script to its end, and shows its output. Returns its exit status. */
const node = (path, ...args) =>
  interactive ? exitStatus(launch('inherit', process.env, path, args)) : piped(console.log, path, args)

/** Runs a script to its end. Returns its exit status, and its output in lines. */
async function collected(path, ...args) {
  const lines = []
  const status = await piped((line) => lines.push(line), path, args)
  return { status, lines }
}

/** Runs a script to its end. Its output loses colours and cursor control. Returns its exit status. */
async function piped(write, path, args) {
  const { FORCE_COLOR, ...environment } = process.env
  const child = launch('pipe', { ...environment, NO_COLOR: '1' }, path, args)
  const status = exitStatus(child)
  await Promise.all([plainLines(child.stdout, write), plainLines(child.stderr, write)])
  return status
}

const launch = (output, env, path, args) =>
  spawn(process.execPath, [join(root, path), ...args], { cwd: root, env, stdio: ['ignore', output, output] })

const exitStatus = async (child) => (await once(child, 'close'))[0] ?? 1

async function plainLines(stream, write) {
  for await (const line of createInterface({ input: stream, crlfDelay: Number.POSITIVE_INFINITY })) {
    const plain = stripVTControlCharacters(line)
    // A line of control sequences only is no line of text.
    if (plain !== '' || line === '') write(plain)
  }
}

/** Test cases of vitest, from its JSON report. */
function countVitest(path) {
  if (!existsSync(path)) return { passed: 0, failed: 1, skipped: 0, failures: ['vitest: no report'] }
  const report = JSON.parse(readFileSync(path, 'utf8'))
  const failures = report.testResults
    .filter((file) => file.status === 'failed')
    .flatMap((file) => {
      const name = relative(root, file.name)
      const tests = file.assertionResults.filter((test) => test.status === 'failed')
      return tests.length === 0 ? [name] : tests.map((test) => `${name} > ${test.fullName}`)
    })
  return {
    passed: report.numPassedTests,
    failed: failures.length,
    skipped: report.numPendingTests + report.numTodoTests,
    failures,
  }
}

/**
 * Tests of tap, from its TAP report: one for each test of a file, as vitest counts, not one for each
 * assertion.
 */
function countTap(path) {
  const count = { passed: 0, failed: 0, skipped: 0, failures: [] }
  if (!existsSync(path)) return { ...count, failed: 1, failures: ['tap: no report'] }
  const { Parser } = createRequire(import.meta.url)('tap-parser')
  const fail = (name) => {
    count.failed++
    count.failures.push(name)
  }
  const parser = new Parser()
  const failing = new Map()
  parser.on('child', (file) => {
    file.on('assert', (result) => {
      if (result.skip || result.todo) count.skipped++
      else if (result.ok) count.passed++
      else failing.set(file.name, [...(failing.get(file.name) ?? []), result.name])
    })
  })
  parser.on('assert', (file) => {
    // A file that failed without a failing test of its own (a crash, a time-out) counts as one failure.
    if (!file.ok && !file.skip && !file.todo) {
      const tests = failing.get(file.name) ?? [
        file.diag?.failReason ?? file.diag?.signal ?? 'the file failed',
      ]
      for (const test of tests) fail(`${file.name} > ${test}`)
    }
  })
  parser.end(readFileSync(path, 'utf8'))
  return count
}

const checks = [
  ['format and lint', 'node_modules/@biomejs/biome/bin/biome', 'check', '--error-on-warnings'],
  ['direction of the dependencies', 'scripts/check-arrows.mjs'],
  [
    'unused files, exports and dependencies',
    'node_modules/knip/bin/knip.js',
    '--no-progress',
    '--no-config-hints',
  ],
  ['generated documents', 'scripts/write-docs.mjs', '--check'],
  ['generated types of the client', 'scripts/write-client-types.mjs', '--check'],
  ['published packages', 'scripts/check-tarballs.mjs'],
  ['words of documents and comments', 'scripts/check-words.mjs'],
  ['links of documents', 'scripts/check-links.mjs'],
  ['names in documents', 'scripts/check-names.mjs'],
  ['code blocks of documents', 'scripts/check-readmes.mjs'],
  ['lengths of files and lines', 'scripts/check-lengths.mjs'],
  ['versions of packages and changelog', 'scripts/check-release.mjs'],
]
const failedChecks = []
for (const [name, ...command] of checks) {
  if ((await node(...command)) !== 0) failedChecks.push(name)
}

const tap = 'node_modules/tap/dist/esm/run.mjs'
// After a fresh installation tap first has to be built without its TypeScript loader; later this does
// nothing.
await node(tap, 'build')
const tapReport = join(results, 'tap.tap')
// Both at once, because tests of vitest wait for databases half of the time.
const tapRun = collected(tap, 'run', '--reporter=terse', `--output-file=${tapReport}`)

const vitestReport = join(results, 'vitest.json')
const vitestStatus = await node(
  'node_modules/vitest/vitest.mjs',
  'run',
  '--reporter=default',
  '--reporter=json',
  `--outputFile.json=${vitestReport}`,
)

console.log('Waiting for the tests of tap …')
const { status: tapStatus, lines } = await tapRun
for (const line of lines) console.log(line)

const counts = [countVitest(vitestReport), countTap(tapReport)]
const sum = (key) => counts.reduce((total, count) => total + count[key], 0)
const runnersFailed = vitestStatus !== 0 || tapStatus !== 0
const failed = Math.max(sum('failed') + failedChecks.length, runnersFailed ? 1 : 0)
for (const name of [...failedChecks, ...counts.flatMap(({ failures }) => failures)])
  console.log(`failed: ${name}`)
summarised = true
console.log(`${sum('passed')} passed, ${failed} failed, ${sum('skipped')} skipped`)
process.exitCode = failed > 0 ? 1 : 0
