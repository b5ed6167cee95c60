// A process that runs files of tap (`tap-worker.mjs`), and the results in what it prints.
import { once } from 'node:events'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { pathToFileURL } from 'node:url'
import { root } from './prepare.mjs'
import { spawnMeasured } from './processor-time.mjs'

/** A file takes a minute or two; on a busy machine some take ten. */
const timeLimitSeconds = 900

/** How long a process has to end on request, and how long the output of left processes is read. */
const graceMs = 10_000

const nodeArguments = [
  '--enable-source-maps',
  // Optimising PGlite takes V8 a second and more.
  '--wasm-tiering-budget=60000000',
  // Compares every answer of every server with docs/openapi.json.
  `--import=${pathToFileURL(join(root, 'packages/test-kit/dist/answers-hook.js'))}`,
]

/** Runs files of a folder, by which the hook knows whether their servers may take long turns. */
export function tapProcess(folder) {
  const { FORCE_COLOR, ...environment } = process.env
  const env = { NO_COLOR: '1', TAP_TIMEOUT: `${timeLimitSeconds}`, ...environment }
  const args = [...nodeArguments, join(root, 'scripts/tap-worker.mjs'), join(root, folder)]
  const { child, seconds } = spawnMeasured(args, { cwd: root, env, stdio: ['pipe', 'pipe', 'pipe'] })
  // It may end before it has read what is written.
  child.stdin.on('error', () => undefined)
  let output = []
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (data) => output.push(data))
  let count = noTests()
  let charged = 0
  let onEnd
  readTap(child.stdout, {
    test: (result, causes) => add(count, result, causes),
    ended({ seconds, fault }) {
      if (fault !== '') count.failures.push(fault)
      charged += seconds
      onEnd?.({ ...count, seconds })
    },
  })
  child.once('exit', () =>
    setTimeout(() => [child.stdout, child.stderr].map((stream) => stream.destroy()), graceMs).unref(),
  )
  const closed = once(child, 'close').then(([code, signal]) => signal ?? code)

  async function run(file) {
    const timers = [
      setTimeout(() => child.kill(), timeLimitSeconds * 1000),
      setTimeout(() => child.kill('SIGKILL'), timeLimitSeconds * 1000 + graceMs),
    ]
    count = noTests()
    output = []
    const ended = new Promise((resolve) => {
      onEnd = resolve
    })
    child.stdin.write(`${file}\n`)
    const died = closed.then((how) => {
      const failures = [...count.failures, `the process ended with ${how}`]
      return { ...count, failures, seconds: 0, died: true }
    })
    const result = await Promise.race([ended, died])
    for (const timer of timers) clearTimeout(timer)
    const { passed, skipped, failures } = result
    if (passed + skipped + failures.length === 0) failures.push('no test ran')
    return { ...result, output: Buffer.concat(output).toString() }
  }

  /** Returns what is not of a file: faults that are found at the exit, and the rest of the processor time. */
  async function end() {
    count = noTests()
    output = []
    child.stdin.end()
    const timer = setTimeout(() => child.kill('SIGKILL'), graceMs)
    const how = await closed
    clearTimeout(timer)
    return { how, seconds: Math.max(0, seconds() - charged), output: Buffer.concat(output).toString() }
  }

  return { run, end }
}

const noTests = () => ({ passed: 0, skipped: 0, failures: [] })

const endOfFile = '(end of the file)'

/** Counts tests, as vitest does, not each assertion. Failures carry what was found and wanted. */
function add(count, { ok, skip, todo, name }, causes) {
  if (name === endOfFile) return
  if (skip || todo) count.skipped++
  else if (ok) count.passed++
  else count.failures.push([name, ...causes].join('\n  '))
}

/** Calls back for each test of a TAP, with the assertions in it that failed, and for each end of a file. */
async function readTap(stdout, { test, ended }) {
  const { Parser } = createRequire(import.meta.url)('tap-parser')
  let causes = []
  const parser = new Parser()
  parser.on('child', (child) => {
    child.on('assert', ({ ok, todo, name, diag }) => {
      const { source, at, ...cause } = diag ?? {}
      if (!ok && !todo) causes.push(`${name} ${JSON.stringify(cause).slice(0, 2000)}`)
    })
  })
  parser.on('assert', (result) => {
    test(result, causes)
    causes = []
  })
  const mark = '# ended: '
  for await (const line of createInterface({ input: stdout })) {
    parser.write(`${line}\n`)
    // The parser keeps a comment until it has read the next line.
    if (line.startsWith(mark)) ended(JSON.parse(line.slice(mark.length)))
  }
}
