import { lchownSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { chmod, chown, mkdir, readdir, readFile, rename, rm, stat } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { isRoot, type Programs, start, type Way } from './programs.js'

/** Only its owner may read it. PostgreSQL demands this. */
const ownerOnly = 0o700

export const userName = 'postgres'

/**
 * Creates a cluster under another name first, so that a killed process leaves no partial cluster: from the
 * build's template, or by initdb if the build has made none for these programs.
 */
export async function createCluster(folder: string, programs: Programs, way: Way): Promise<void> {
  const fresh = `${folder}.new`
  await rm(fresh, { recursive: true, force: true })
  const template = await readFile(templateOf(programs)).catch(() => undefined)
  if (template === undefined) await initialise(fresh, programs, way)
  else {
    await mkdir(fresh, { mode: ownerOnly })
    await unpack(template, fresh)
    await ownCluster(fresh, way)
  }
  await start(programs, programs.initdb, way, ['--sync-only', '--sync-method', 'syncfs', '--pgdata', fresh])
  await rename(fresh, folder)
}

/** Runs initdb, which leaves the files to be written to the disk. */
export async function initialise(folder: string, programs: Programs, way: Way): Promise<void> {
  await letPass(dirname(folder), way)
  await mkdir(folder, { mode: ownerOnly })
  await ownCluster(folder, way)
  await start(programs, programs.initdb, way, [
    ...['--pgdata', folder, '--username', userName, '--auth', 'trust'],
    ...['--encoding', 'UTF8', '--locale', 'C', '--no-instructions', '--no-sync'],
    // Of a store that is small most of the time; by default, each file has 16 MiB.
    ...['--wal-segsize', '4'],
  ])
}

/** Lets the user that runs PostgreSQL pass through a directory, which its owner alone can list. */
export async function letPass(directory: string, { user }: Way): Promise<void> {
  const { uid, mode } = await stat(directory)
  if (user !== undefined && user.uid !== uid) await chmod(directory, (mode & 0o777) | 0o011)
}

/** Gives a cluster to the user that runs it: a copy, or an earlier start, may have been another's. */
export async function ownCluster(folder: string, way: Way): Promise<void> {
  if (!isRoot()) return
  const { uid, gid } = way.user ?? { uid: 0, gid: 0 }
  if ((await stat(folder)).uid !== uid) {
    for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' }))
      lchownSync(join(folder, name), uid, gid)
    await chown(folder, uid, gid)
  }
  await chmod(folder, ownerOnly)
}

/** The contents of a cluster: folders before their entries, and files with their sizes in bytes. */
type Index = readonly (readonly [path: string, size?: number])[]

/** Bytes of the index' length, before the index. */
const lengthBytes = 4

/** Where the files of a new cluster of these programs are, in one file; the build makes it. */
export function templateOf({ build }: Programs): string {
  return fileURLToPath(new URL(`../../bundle/empty-${build}`, import.meta.url))
}

/** The files of a cluster that no server uses. */
export async function pack(folder: string): Promise<Uint8Array> {
  const entries = (await readdir(folder, { recursive: true, withFileTypes: true }))
    .map((entry) => ({ path: join(entry.parentPath, entry.name), isFile: entry.isFile() }))
    .sort((one, other) => (one.path < other.path ? -1 : 1))
  const contents = await Promise.all(entries.map(({ path, isFile }) => (isFile ? readFile(path) : undefined)))
  const index: Index = entries.map(({ path }, i) => {
    const size = contents[i]?.length
    return size === undefined ? [relative(folder, path)] : [relative(folder, path), size]
  })
  const head = Buffer.from(JSON.stringify(index))
  const length = Buffer.alloc(lengthBytes)
  length.writeUInt32BE(head.length)
  return Buffer.concat([length, head, ...contents.filter((each) => each !== undefined)])
}

/** Files that are written in one turn of the event loop. */
const inOneTurn = 32

/** Writes the thousand files to a folder in turns: with a promise each, it takes three times the CPU time. */
async function unpack(packed: Buffer, folder: string): Promise<void> {
  let end = lengthBytes + packed.readUInt32BE()
  const index: Index = JSON.parse(packed.toString('utf8', lengthBytes, end))
  for (const [place, [path, size]] of index.entries()) {
    if (place % inOneTurn === 0) await nextTurn()
    if (size === undefined) mkdirSync(join(folder, path), { mode: 0o700 })
    else writeFileSync(join(folder, path), packed.subarray(end, end + size), { mode: 0o600 })
    end += size ?? 0
  }
}
