import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** Its lock file pins the binaries with their integrity. */
const folder = fileURLToPath(new URL('../../../../scripts/engines', import.meta.url))

export interface Engine {
  readonly version: string
  /** Path of its program. */
  readonly program: string
}

/** Node versions, installed on first use, or why not. @throws if RATATOSK_REQUIRE_SERVICES requires them */
export async function engines(): Promise<readonly Engine[] | string> {
  if (process.platform !== 'linux' || process.arch !== 'x64') return 'The binaries are for Linux on x64'
  const { dependencies } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'))
  const wanted = Object.entries<string>(dependencies).map(([name, specifier]) => ({
    version: specifier.slice(specifier.lastIndexOf('@') + 1),
    program: join(folder, 'node_modules', name, 'bin', 'node'),
  }))
  try {
    if (!(await areInstalled(wanted))) {
      const options = ['--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline', '--loglevel=error']
      await run('npm', ['ci', '--prefix', folder, ...options])
    }
    return wanted
  } catch (error) {
    if (process.env.RATATOSK_REQUIRE_SERVICES === '1') throw error
    return 'The binaries cannot be installed; RATATOSK_REQUIRE_SERVICES=1 makes this a failure'
  }
}

async function areInstalled(wanted: readonly Engine[]): Promise<boolean> {
  try {
    const found = await Promise.all(wanted.map(({ program }) => run(program, ['--version'])))
    return found.every(({ stdout }, index) => stdout.trim() === `v${wanted[index]?.version}`)
  } catch {
    return false
  }
}
