// Runs a built program in this terminal and forwards signals to it, so that it can shut down cleanly.
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { root } from './prepare.mjs'

export function launch(path, args = process.argv.slice(2), environment = process.env) {
  const child = spawn(process.execPath, ['--enable-source-maps', join(root, path), ...args], {
    stdio: 'inherit',
    env: environment,
  })
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
  child.on('exit', (code, signal) => process.exit(signal ? 1 : (code ?? 1)))
}
