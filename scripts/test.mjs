// npm test: install, build, check, then run every test of vitest and tap. The last line sums both runners.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { join, relative } from 'node:path'
import { createInterface } from 'node:readline'
import { stripVTControlCharacters } from 'node:util'
import { prepare, root } from './prepare.mjs'
import { runTap, tapFiles } from './tap.mjs'

/** Files of tap that run at a time: most wait for databases, blocks and child processes. */
const tapJobs = 3

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
  interactive ? exitStatus(launch('inherit', process.env, path, args)) : piped(path, args)

/** Runs a script to its end. Its output loses colours and cursor control. Returns its exit status. */
async function piped(path, args) {
  const { FORCE_COLOR, ...environment } = process.env
  const child = launch('pipe', { ...environment, NO_COLOR: '1' }, path, args)
  const status = exitStatus(child)
  await Promise.all([plainLines(child.stdout), plainLines(child.stderr)])
  return status
}

const launch = (output, env, path, args) =>
  spawn(process.execPath, [join(root, path), ...args], { cwd: root, env, stdio: ['ignore', output, output] })

const exitStatus = async (child) => (await once(child, 'close'))[0] ?? 1

async function plainLines(stream) {
  for await (const line of createInterface({ input: stream, crlfDelay: Number.POSITIVE_INFINITY })) {
    const plain = stripVTControlCharacters(line)
    // A line of control sequences only is no line of text.
    if (plain !== '' || line === '') console.log(plain)
  }
}

/** The results of each file of vitest, from its JSON report. */
function readVitest(path) {
  const files = new Map()
  if (!existsSync(path)) return files.set('vitest', { passed: 0, skipped: 0, failures: ['no report'] })
  for (const { name, status, assertionResults } of JSON.parse(readFileSync(path, 'utf8')).testResults) {
    const withStatus = (...wanted) => assertionResults.filter((test) => wanted.includes(test.status))
    const failures = withStatus('failed').map(({ fullName }) => fullName)
    if (status === 'failed' && failures.length === 0) failures.push('the file failed')
    const passed = withStatus('passed').length
    files.set(relative(root, name), {
      passed,
      skipped: assertionResults.length - passed - withStatus('failed').length,
      failures,
    })
  }
  return files
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

/** Runs the tests of vitest: all, or those of the given files, one after another. */
async function runVitest(name, ...files) {
  const report = join(results, `vitest-${name}.json`)
  const args = files.length > 0 ? ['--no-file-parallelism', ...files] : []
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`]
  const status = await node('node_modules/vitest/vitest.mjs', 'run', ...reporters, ...args)
  return { status, files: readVitest(report) }
}

/** Runs the tests of tap: all, or those of the given files, one after another. */
async function runTapTests(_name, ...files) {
  const [chosen, jobs] = files.length > 0 ? [files, 1] : [tapFiles(), tapJobs]
  const results = await runTap(chosen, jobs, (file, { passed, seconds, failures, output }) => {
    console.log(` ${failures.length > 0 ? '❯' : '✓'} ${file} (${passed} tests) ${seconds.toFixed()} s`)
    if (failures.length > 0) console.log(stripVTControlCharacters(output))
  })
  return { status: 0, files: results }
}

const runners = [runVitest, runTapTests]
// Both at once, because tests of vitest wait for databases half of the time.
const [vitestRun, tapRun] = runners.map((run) => run('first'))
const runs = [await vitestRun, await tapRun]

const failing = ({ files }) => [...files].filter(([, { failures }]) => failures.length > 0)
const lines = (files) => files.flatMap(([file, { failures }]) => failures.map((why) => `${file} > ${why}`))

// A busy machine fails a few tests of clocks and processes. They run once more, one after another.
const maxRetried = 4
const flaky = []
if (runs.flatMap(failing).length <= maxRetried)
  for (const [place, run] of runs.entries()) {
    const failed = failing(run)
    const names = failed.map(([name]) => name)
    if (names.length === 0 || names.some((name) => !existsSync(join(root, name)))) continue
    const again = await runners[place]('again', ...names)
    runs[place] = { status: again.status, files: new Map([...run.files, ...again.files]) }
    flaky.push(...failed.filter(([name]) => again.files.get(name)?.failures.length === 0))
  }

const counts = runs.flatMap(({ files }) => [...files.values()])
const sum = (key) => counts.reduce((total, count) => total + count[key], 0)
const failures = failedChecks.length + counts.flatMap((count) => count.failures).length
const failed = Math.max(failures, runs.some(({ status }) => status !== 0) ? 1 : 0)
for (const name of failedChecks) console.log(`failed: ${name}`)
for (const line of lines(flaky)) console.log(`flaky, passed when it ran again: ${line}`)
for (const line of lines(runs.flatMap(failing))) console.log(`failed: ${line}`)
summarised = true
console.log(`${sum('passed')} passed, ${failed} failed, ${sum('skipped')} skipped`)
process.exitCode = failed > 0 ? 1 : 0
