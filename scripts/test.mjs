// npm test: install, build, lint, then every test of tap and vitest, closed by one line that sums both.
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { prepare, root, run } from './prepare.mjs'

prepare()

const results = join(root, '.test-results')
rmSync(results, { recursive: true, force: true })
mkdirSync(results, { recursive: true })

const require = createRequire(import.meta.url)
const terminal = { stdio: ['ignore', 'inherit', 'inherit'] }
const node = (path, ...args) => run(process.execPath, [join(root, path), ...args], terminal)

/** Tests of vitest, from its JSON report: one a test case. */
function countVitest(path) {
  if (!existsSync(path)) return { passed: 0, failed: 1, skipped: 0 }
  const report = JSON.parse(readFileSync(path, 'utf8'))
  const brokenFiles = report.testResults.filter(
    (file) => file.status === 'failed' && file.assertionResults.length === 0,
  )
  return {
    passed: report.numPassedTests,
    failed: report.numFailedTests + brokenFiles.length,
    skipped: report.numPendingTests + report.numTodoTests,
  }
}

/** Tests of tap, from its TAP report: one a test of a file, as vitest counts, not one an assertion. */
function countTap(path) {
  const count = { passed: 0, failed: 0, skipped: 0 }
  if (!existsSync(path)) return { ...count, failed: 1 }
  const { Parser } = require('tap-parser')
  const add = (result) => {
    if (result.skip || result.todo) count.skipped++
    else if (result.ok) count.passed++
    else count.failed++
  }
  const parser = new Parser()
  parser.on('child', (file) => file.on('assert', add))
  // A file that failed without a failing test of its own (a crash, a time-out) counts as one failure.
  parser.on('assert', (file) => {
    if (!file.ok && count.failed === 0) count.failed++
  })
  parser.end(readFileSync(path, 'utf8'))
  return count
}

const checks = [
  ['format and lint', () => node('node_modules/@biomejs/biome/bin/biome', 'check', '--error-on-warnings')],
  ['direction of the dependencies', () => node('scripts/check-arrows.mjs')],
  ['generated documents', () => node('scripts/write-docs.mjs', '--check')],
]
const failedChecks = checks.filter(([, check]) => check() !== 0).map(([name]) => name)

const vitestReport = join(results, 'vitest.json')
const vitestStatus = node(
  'node_modules/vitest/vitest.mjs',
  'run',
  '--reporter=default',
  '--reporter=json',
  `--outputFile.json=${vitestReport}`,
)

const tapReport = join(results, 'tap.tap')
// After a fresh installation tap first has to be built without its TypeScript loader; later this does nothing.
node('node_modules/tap/dist/esm/run.mjs', 'build')
const tapStatus = node(
  'node_modules/tap/dist/esm/run.mjs',
  'run',
  '--reporter=terse',
  `--output-file=${tapReport}`,
)

const parts = [countVitest(vitestReport), countTap(tapReport)]
const sum = (key) => parts.reduce((total, part) => total + part[key], 0)
const runnersFailed = [vitestStatus, tapStatus].some((status) => status !== 0)
for (const name of failedChecks) console.log(`failed: ${name}`)
const failed = sum('failed') + failedChecks.length
console.log(
  `${sum('passed')} passed, ${runnersFailed ? Math.max(1, failed) : failed} failed, ${sum('skipped')} skipped`,
)
process.exit(failed > 0 || runnersFailed ? 1 : 0)
