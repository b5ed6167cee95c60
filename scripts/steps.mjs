// The steps of a start and the commands that they run, each with its time, on stderr.
import { spawn } from 'node:child_process'
import { once } from 'node:events'

const windows = process.platform === 'win32'

/** A step that goes on says so this often. */
const everyMs = 4000

/** Prints a step's name and its time every few seconds, until the returned function is called. */
export function begin(name, intervalMs = everyMs) {
  const start = performance.now()
  const seconds = () => ((performance.now() - start) / 1000).toFixed(1)
  process.stderr.write(`${name} …\n`)
  const timer = setInterval(() => process.stderr.write(`  … ${seconds()} s\n`), intervalMs)
  return () => {
    clearInterval(timer)
    process.stderr.write(`  done in ${seconds()} s\n`)
  }
}

export async function step(name, work) {
  const end = begin(name)
  const result = await work()
  end()
  return result
}

/** Runs a command to its end and returns its exit code. By default, its output goes to stderr. */
export async function run(command, args, options = {}) {
  const child = spawn(command, args, { stdio: ['ignore', 2, 2], shell: windows, ...options })
  const [code] = await once(child, 'exit')
  return code ?? 1
}
