// Installs an example as its users do, and runs it.
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const run = promisify(execFile)
const here = fileURLToPath(new URL('.', import.meta.url))

/** Installs an example into a folder that is removed when the test ends. */
export async function install(t, name) {
  const folder = await mkdtemp(join(tmpdir(), 'ratatosk-example-'))
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  await cp(join(here, name), folder, { recursive: true })
  const options = ['--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline']
  await run('npm', ['install', ...options], { cwd: folder })
  return folder
}

/** The lines that a file prints, each with the milliseconds since the line before it. */
export async function runTimed(folder, file, environment) {
  const child = spawn(process.execPath, [file], {
    cwd: folder,
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: 600_000,
  })
  const ended = once(child, 'exit')
  let errors = ''
  child.stderr.on('data', (data) => {
    errors += data
  })
  const lines = []
  let before = performance.now()
  for await (const line of createInterface(child.stdout)) {
    const now = performance.now()
    lines.push({ line, afterMs: now - before })
    before = now
  }
  const [code] = await ended
  if (code !== 0) throw new Error(`${file} ended with ${code}: ${errors}`)
  return lines
}
