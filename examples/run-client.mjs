// Installs an example as its users do, and runs it.
import { execFile } from 'node:child_process'
import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
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

export async function linesOf(folder, file, environment) {
  const { stdout } = await run(process.execPath, [file], {
    cwd: folder,
    env: { ...process.env, ...environment },
    timeout: 600_000,
  })
  return stdout.trim().split('\n')
}
