import { chmod, chown, lchown, mkdir, readdir, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Programs } from './programs.js'
import { isRoot, start, type Way } from './ways.js'

/** Only its owner may read it. PostgreSQL demands this. */
const ownerOnly = 0o700

/** The user in whose name the server connects. */
export const userName = 'postgres'

/**
 * Creates a cluster under another name first, so that a process killed meanwhile leaves no partial cluster.
 */
export async function createCluster(folder: string, programs: Programs, way: Way): Promise<void> {
  const fresh = `${folder}.new`
  await rm(fresh, { recursive: true, force: true })
  await mkdir(fresh, { mode: ownerOnly })
  if (way.user) await chown(fresh, way.user.uid, way.user.gid)
  await start(programs, programs.initdb, way, [
    ...['--pgdata', fresh, '--username', userName, '--auth', 'trust'],
    ...['--encoding', 'UTF8', '--locale', 'C', '--no-instructions', '--sync-method', 'syncfs'],
    // Of a store that is small most of the time: eight files of 16 MiB are kept otherwise.
    ...['--wal-segsize', '4'],
  ])
  await rename(fresh, folder)
}

/** Lets the user that runs PostgreSQL pass through a directory; no other user than its owner may list it. */
export async function letPass(directory: string, { user }: Way): Promise<void> {
  const { uid, mode } = await stat(directory)
  if (user !== undefined && user.uid !== uid) await chmod(directory, (mode & 0o777) | 0o011)
}

/** Gives a cluster to the user that runs it: a copy, or an earlier start, may have been another's. */
export async function ownCluster(folder: string, way: Way): Promise<void> {
  if (!isRoot()) return
  const { uid, gid } = way.user ?? { uid: 0, gid: 0 }
  if ((await stat(folder)).uid !== uid) {
    for (const name of await readdir(folder, { recursive: true })) await lchown(join(folder, name), uid, gid)
    await chown(folder, uid, gid)
  }
  await chmod(folder, ownerOnly)
}
