// Runs the tests of vitest, and reads its reports.
import { once } from 'node:events'
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { join, relative } from 'node:path'
import { createInterface } from 'node:readline'
import { stripVTControlCharacters } from 'node:util'
import { root } from './prepare.mjs'
import { spawnMeasured } from './processor-time.mjs'

/** In a terminal vitest may use colours and the cursor. Elsewhere its output is plain text. */
const interactive = process.stdout.isTTY === true && !process.env.CI

/** The results of each file by its path, and the processor seconds of vitest itself as `vitest`. */
export async function runVitest() {
  const folder = join(root, '.test-results')
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  const [report, times] = ['vitest.json', 'vitest-seconds.jsonl'].map((name) => join(folder, name))
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`]
  const args = ['node_modules/vitest/vitest.mjs', 'run', ...reporters]
  const { status, seconds } = await run(args, { RATATOSK_SECONDS: times, RATATOSK_TOGETHER: '1' })
  const files = readReport(report, readTimes(times))
  const charged = [...files.values()].reduce((sum, file) => sum + file.seconds, 0)
  const ended = status === 0 || [...files.values()].some(({ failures }) => failures.length > 0)
  const failures = ended ? [] : [`ended with exit code ${status}`]
  return files.set('vitest', { passed: 0, skipped: 0, failures, seconds: seconds - charged })
}

async function run(args, variables) {
  const { FORCE_COLOR, ...environment } = process.env
  const env = { ...(interactive ? process.env : { ...environment, NO_COLOR: '1' }), ...variables }
  const output = interactive ? 'inherit' : 'pipe'
  const { child, seconds } = spawnMeasured(args, { cwd: root, env, stdio: ['ignore', output, output] })
  const status = once(child, 'close')
  if (!interactive) await Promise.all([plainLines(child.stdout), plainLines(child.stderr)])
  return { status: (await status)[0] ?? 1, seconds: seconds() }
}

async function plainLines(stream) {
  for await (const line of createInterface({ input: stream, crlfDelay: Number.POSITIVE_INFINITY })) {
    const plain = stripVTControlCharacters(line)
    // A line of control sequences only is no line of text.
    if (plain !== '' || line === '') console.log(plain)
  }
}

function readTimes(path) {
  if (!existsSync(path)) return new Map()
  const lines = readFileSync(path, 'utf8').trim().split('\n')
  return new Map(lines.map((line) => JSON.parse(line)).map(({ file, seconds }) => [file, seconds]))
}

function readReport(path, times) {
  const files = new Map()
  if (!existsSync(path)) return files.set('report', { passed: 0, skipped: 0, failures: ['none'], seconds: 0 })
  for (const { name, status, assertionResults } of JSON.parse(readFileSync(path, 'utf8')).testResults) {
    const withStatus = (wanted) => assertionResults.filter((test) => test.status === wanted)
    const failures = withStatus('failed').map(({ fullName }) => fullName)
    const passed = withStatus('passed').length
    const skipped = assertionResults.length - passed - failures.length
    if (status === 'failed' && failures.length === 0) failures.push('the file failed')
    files.set(sourceOf(relative(root, name)), { passed, skipped, failures, seconds: times.get(name) ?? 0 })
  }
  return files
}

/** The source of a test file that ran compiled. */
const sourceOf = (path) => path.replace(/\/dist\/(.*)\.js$/, '/src/$1.ts')
