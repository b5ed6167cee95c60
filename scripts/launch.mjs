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
 * Calls back when the shell of npm has ended: npm sends signals to its shell only. Only below npm: any other
 * parent may end, and leave a node that is to run on.
 */
function whenNpmEnds(callback) {
  if (process.env.npm_lifecycle_event === undefined) return
  const timer = setInterval(() => {
    if (process.ppid === parent) return
    clearInterval(timer)
    callback()
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
  let signalled = false
  // A signal to the whole group reaches the program twice: a node takes both for one.
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGQUIT', 'SIGHUP'])
    process.on(signal, () => {
      signalled = true
      child.kill(signal)
    })
  whenNpmEnds(() => signalled || child.kill('SIGTERM'))
  // Node 20 aborts at its end on an open descriptor of a terminal that was closed.
  process.on('exit', () => {
    for (const descriptor of terminals) if (!isatty(descriptor)) closeSync(descriptor)
  })
  child.on('exit', (code, signal) => process.exit(signal ? 1 : (code ?? 1)))
  return child
}
