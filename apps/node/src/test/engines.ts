import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** Their lock files pin the binaries with their integrity. */
const folderOf = (name: string) => fileURLToPath(new URL(`../../../../scripts/${name}`, import.meta.url))

interface Engine {
  readonly name: string
  readonly version: string
  /** Path of its program. */
  readonly program: string
  /** Those before the path of a script. */
  readonly args: readonly string[]
}

type Installed = readonly Engine[] | string

/** Node versions, installed on first use, or why not. @throws if RATATOSK_REQUIRE_SERVICES requires them */
export const engines = (): Promise<Installed> => installed('engines', () => ['bin/node'])

/** Bun and Deno, in the same way. */
export const runtimes = (): Promise<Installed> =>
  installed('runtimes', (name) => (name === 'deno' ? ['deno', 'run', '--allow-all', '--quiet'] : ['bin/bun']))

/** @param commandOf the path of a program in its package, and its arguments */
async function installed(
  tools: string,
  commandOf: (name: string) => readonly [string, ...string[]],
): Promise<Installed> {
  if (process.platform !== 'linux' || process.arch !== 'x64') return 'The binaries are for Linux on x64'
  const folder = folderOf(tools)
  const { dependencies } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'))
  const wanted = Object.entries<string>(dependencies).map(([name, specifier]): Engine => {
    const [path, ...args] = commandOf(name)
    const version = specifier.slice(specifier.lastIndexOf('@') + 1)
    return { name, version, program: join(folder, 'node_modules', name, path), args }
  })
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
    return found.every(({ stdout }, index) => stdout.includes(wanted[index]?.version ?? ''))
  } catch {
    return false
  }
}
