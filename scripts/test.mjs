// npm test: install, build, check, then run every test of vitest and tap. The last line sums both runners.
import { spawn } from 'node:child_process'
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

prepare()

const results = join(root, '.test-results')
rmSync(results, { recursive: true, force: true })
mkdirSync(results, { recursive: true })

/** Runs a script to its end. Without a terminal, its output loses colours and cursor control. */
async function node(path, ...args) {
  const environment = { ...process.env }
  if (!interactive) {
    delete environment.FORCE_COLOR
    environment.NO_COLOR = '1'
  }
  const output = interactive ? 'inherit' : 'pipe'
  const child = spawn(process.execPath, [join(root, path), ...args], {
    cwd: root,
    env: environment,
    stdio: ['ignore', output, output],
  })
  const closed = new Promise((resolve) => child.on('close', (code) => resolve(code ?? 1)))
  if (!interactive) await Promise.all([copyPlain(child.stdout), copyPlain(child.stderr)])
  return closed
}

async function copyPlain(stream) {
  for await (const line of createInterface({ input: stream, crlfDelay: Number.POSITIVE_INFINITY })) {
    const plain = stripVTControlCharacters(line)
    // A line of control sequences only is no line of text.
    if (plain !== '' || line === '') console.log(plain)
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
 * Tests of tap by file, from its TAP report: one for each test of a file, as vitest counts, not one for each assertion.
 * Undefined without a report.
 */
function readTap(path) {
  if (!existsSync(path)) return undefined
  const { Parser } = createRequire(import.meta.url)('tap-parser')
  const parser = new Parser()
  const files = new Map()
  const of = (name) => {
    const known = files.get(name) ?? { passed: 0, skipped: 0, failures: [] }
    files.set(name, known)
    return known
  }
  parser.on('child', (file) => {
    file.on('assert', (result) => {
      const count = of(file.name)
      if (result.skip || result.todo) count.skipped++
      else if (result.ok) count.passed++
      else count.failures.push(result.name)
    })
  })
  parser.on('assert', (file) => {
    const count = of(file.name)
    // A file that failed without a failing test of its own (a crash, a time-out) counts as one failure.
    if (!file.ok && !file.skip && !file.todo && count.failures.length === 0)
      count.failures.push(file.diag?.failReason ?? file.diag?.signal ?? 'the file failed')
  })
  parser.end(readFileSync(path, 'utf8'))
  return files
}

/** The sum of {@link readTap}. */
function countTap(files) {
  const count = { passed: 0, failed: 0, skipped: 0, failures: [] }
  if (files === undefined) return { ...count, failed: 1, failures: ['tap: no report'] }
  for (const [name, { passed, skipped, failures }] of files) {
    count.passed += passed
    count.skipped += skipped
    count.failed += failures.length
    count.failures.push(...failures.map((test) => `${name} > ${test}`))
  }
  return count
}

/** More failing files than this are no accident. */
const mostRepeated = 4

const checks = [
  ['format and lint', 'node_modules/@biomejs/biome/bin/biome', 'check', '--error-on-warnings'],
  ['direction of the dependencies', 'scripts/check-arrows.mjs'],
  ['generated documents', 'scripts/write-docs.mjs', '--check'],
  ['generated types of the client', 'scripts/write-client-types.mjs', '--check'],
  ['published packages', 'scripts/check-tarballs.mjs'],
  ['words of documents and comments', 'scripts/check-words.mjs'],
]
const failedChecks = []
for (const [name, ...command] of checks) {
  if ((await node(...command)) !== 0) failedChecks.push(name)
}

const vitestReport = join(results, 'vitest.json')
const vitestStatus = await node(
  'node_modules/vitest/vitest.mjs',
  'run',
  '--reporter=default',
  '--reporter=json',
  `--outputFile.json=${vitestReport}`,
)

// After a fresh installation tap first has to be built without its TypeScript loader; later this does nothing.
await node('node_modules/tap/dist/esm/run.mjs', 'build')
async function tap(report, ...more) {
  const path = join(results, report)
  const status = await node(
    'node_modules/tap/dist/esm/run.mjs',
    'run',
    '--reporter=terse',
    `--output-file=${path}`,
    ...more,
  )
  return { status, files: readTap(path) }
}

let { status: tapStatus, files: tapFiles } = await tap('tap.tap')
// Tests of whole nodes share the processors with each other and with browsers. A file that fails is run once more, alone, and named.
const repeated = [...(tapFiles ?? [])].filter(([, { failures }]) => failures.length > 0)
if (repeated.length > 0 && repeated.length <= mostRepeated) {
  for (const [name, { failures }] of repeated)
    for (const test of failures) console.log(`failed at first: ${name} > ${test}`)
  const again = await tap('tap-again.tap', '--jobs=1', ...repeated.map(([name]) => name))
  tapStatus = again.status
  for (const [name, count] of again.files ?? []) tapFiles.set(name, count)
}

const counts = [countVitest(vitestReport), countTap(tapFiles)]
const sum = (key) => counts.reduce((total, count) => total + count[key], 0)
const runnersFailed = vitestStatus !== 0 || tapStatus !== 0
const failed = Math.max(sum('failed') + failedChecks.length, runnersFailed ? 1 : 0)
for (const name of [...failedChecks, ...counts.flatMap(({ failures }) => failures)])
  console.log(`failed: ${name}`)
// Tap leaves the cursor at the end of a line that holds a control sequence.
if (interactive) console.log()
summarised = true
console.log(`${sum('passed')} passed, ${failed} failed, ${sum('skipped')} skipped`)
process.exitCode = failed > 0 ? 1 : 0
