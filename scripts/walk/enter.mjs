// Each function of an instrumented file calls `enter` first. The first entry of a file in a window is written
// to WALK_FILE, with the files that called it. The next window opens when the process receives SIGCONT, calls
// `nextWindow`, or first enters the file that WALK_FROM names.
import { appendFileSync } from 'node:fs'
import { getEnvironmentData, isMainThread, setEnvironmentData } from 'node:worker_threads'

const current = isMainThread ? new Int32Array(new SharedArrayBuffer(4)) : getEnvironmentData('walk')
if (isMainThread) {
  setEnvironmentData('walk', current)
  process.on('SIGCONT', nextWindow)
}
const seen = new Map()

export function nextWindow() {
  Atomics.add(current, 0, 1)
}

export function enter(file) {
  if (current[0] === 0 && file === process.env.WALK_FROM) nextWindow()
  const window = current[0]
  if (seen.get(file) === window) return
  seen.set(file, window)
  appendFileSync(process.env.WALK_FILE, `${JSON.stringify({ window, file, callers: callers() })}\n`)
}

/** The instrumented files on the stack, the nearest first, through awaits. */
function callers() {
  const { prepareStackTrace, stackTraceLimit } = Error
  Error.stackTraceLimit = 200
  Error.prepareStackTrace = (_, calls) => calls.map((call) => call.getFileName() ?? '')
  const files = new Error().stack
  Object.assign(Error, { prepareStackTrace, stackTraceLimit })
  return files.flatMap((file) => /\/((?:packages|apps)\/[^/]+\/dist\/.*)/.exec(file)?.slice(1) ?? []).slice(1)
}
