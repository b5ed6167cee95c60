// Runs a built program in this terminal and forwards signals to it, so that it can shut down cleanly.
import { spawn } from 'node:child_process'
import { closeSync } from 'node:fs'
import { join } from 'node:path'
import { isatty } from 'node:tty'
import { root } from './prepare.mjs'

/**
 * Options of the node's processes. Most allocations are garbage after their batch; with 16 MiB, the default,
 * much is copied first. V8 ignores the flag once it runs.
 */
export const nodeOptions = ['--max-semi-space-size=64']

/** Whose child this process is, before it builds. */
const parent = process.ppid
const parentEveryMs = 500

/**
 * Ends the program when the shell of npm has ended: npm sends signals to its shell only. Only below npm: any
 * other parent may end, and leave a node that is to run on.
 */
function endWithNpm(child) {
  if (process.env.npm_lifecycle_event === undefined) return
  const timer = setInterval(() => {
    if (process.ppid === parent) return
    clearInterval(timer)
    child.kill('SIGTERM')
  }, parentEveryMs)
  timer.unref()
}

/** Starts the program, and ends with it. The program may send a message. */
export function launch(path, args = process.argv.slice(2), environment = process.env) {
  const terminals = [0, 1, 2].filter((descriptor) => isatty(descriptor))
  const child = spawn(process.execPath, [...nodeOptions, join(root, path), ...args], {
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
    env: environment,
  })
  endWithNpm(child)
  // A terminal that closes may send SIGHUP to this process only.
  for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
  for (const signal of ['SIGINT', 'SIGQUIT'])
    process.on(signal, () => {
      // A terminal sends these to the program too, and a second one would end it at once.
      if (!terminals.includes(0)) child.kill(signal)
    })
  // Node 20 aborts at its end on an open descriptor of a terminal that was closed.
  process.on('exit', () => {
    for (const descriptor of terminals) if (!isatty(descriptor)) closeSync(descriptor)
  })
  child.on('exit', (code, signal) => process.exit(signal ? 1 : (code ?? 1)))
  return child
}
