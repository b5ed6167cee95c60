// Installs an example as its users do, and runs it.
import { execFile } from 'node:child_process'
import { cp, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const run = promisify(execFile)
const here = fileURLToPath(new URL('.', import.meta.url))

/** With RATATOSK_NEWEST_SDKS, the newest versions of what an example depends on; otherwise none. */
async function newest(folder) {
  if (!process.env.RATATOSK_NEWEST_SDKS) return []
  const { dependencies = {} } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'))
  const others = Object.keys(dependencies).filter((name) => !name.startsWith('@ratatosk/'))
  return others.map((name) => `${name}@latest`)
}

/** Installs an example into a folder that is removed when the test ends. */
export async function install(t, name) {
  const folder = await mkdtemp(join(tmpdir(), 'ratatosk-example-'))
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  await cp(join(here, name), folder, { recursive: true })
  const options = ['--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline']
  await run('npm', ['install', ...options, ...(await newest(folder))], { cwd: folder })
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
