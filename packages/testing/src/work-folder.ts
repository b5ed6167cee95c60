import { rmSync } from 'node:fs'
import { mkdtemp, readdir, rm, stat, statfs } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Memory, where a thousand files are copied ten times as fast as to a disk. */
const memory = '/dev/shm'
/** The least free space, in bytes: a node takes 42 MiB, and grows. */
const leastFree = 2 ** 30
/** Folders of killed processes are removed when they are this old, in milliseconds. */
const abandonedMs = 3_600_000
const prefix = 'ratatosk-testing-'

/** Folders of this process, which are removed when it exits. */
const folders = new Set<string>()
process.once('exit', () => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
})

export async function createWorkFolder(): Promise<string> {
  const parent = (await isRoomy(memory)) ? memory : tmpdir()
  await removeAbandoned(parent)
  const folder = await mkdtemp(join(parent, `${prefix}${process.pid}-`))
  folders.add(folder)
  return folder
}

export async function removeWorkFolder(folder: string): Promise<void> {
  folders.delete(folder)
  await rm(folder, { recursive: true, force: true })
}

async function isRoomy(folder: string): Promise<boolean> {
  try {
    const { bavail, bsize } = await statfs(folder)
    return bavail * bsize >= leastFree
  } catch {
    return false
  }
}

async function removeAbandoned(parent: string): Promise<void> {
  for (const name of await readdir(parent)) {
    const [, pid] = new RegExp(`^${prefix}(\\d+)-`).exec(name) ?? []
    if (pid === undefined || isRunning(Number(pid))) continue
    const path = join(parent, name)
    const age = await stat(path).then(
      ({ mtimeMs }) => Date.now() - mtimeMs,
      () => 0,
    )
    // One of another user cannot be removed, and does not matter to this one.
    if (age > abandonedMs) await rm(path, { recursive: true, force: true }).catch(() => undefined)
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return !(error instanceof Error && 'code' in error && error.code === 'ESRCH')
  }
}
