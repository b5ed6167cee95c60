import { execFile } from 'node:child_process'
import { readFile, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { promisify } from 'node:util'
import { type Programs, packageName } from './programs.js'

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
