import { randomBytes, randomInt } from 'node:crypto'
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { StartError } from '../errors.js'

/** A directory that this process alone uses, until it is released. */
export interface DataDirectory {
  readonly path: string
  release(): Promise<void>
}

/** Two that begin at the same moment both step back; each tries so often, after up to so many milliseconds. */
const attempts = 6
const pauseMs = 100

/**
 * Takes the data directory for this process, making it where it does not exist. What a killed process left behind is
 * cleared away.
 *
 * Each process first puts up a lock of its own, whose name tells who it is, and then looks for others: of any two at
 * least one sees the other, so no two can stay.
 *
 * @throws StartError `NODE_DATA_DIR` where another process has it, or where it cannot be written
 */
export async function takeDataDirectory(directory: string): Promise<DataDirectory> {
  const path = resolve(directory)
  const name = `lock.${process.pid}.${await startOf(process.pid)}.${randomBytes(6).toString('hex')}`
  const lock = join(path, name)
  const release = () => rm(lock, { force: true })
  let holder: string | undefined
  try {
    await mkdir(path, { recursive: true })
    for (let attempt = 0; attempt < attempts; attempt++) {
      await writeFile(lock, '')
      holder = await otherHolder(path, name)
      if (holder === undefined) return { path, release }
      await release()
      await sleep(randomInt(pauseMs))
    }
  } catch (cause) {
    const reason = `it cannot be written to (${codeOf(cause)})`
    throw new StartError('NODE_DATA_DIR', `DATA_DIR is "${directory}": ${reason}.`, { cause })
  }
  throw new StartError(
    'NODE_DATA_DIR',
    `DATA_DIR is "${path}": the process ${holder} uses it. Stop that one, or choose another directory.`,
  )
}

/** The id of another process that has its lock here; locks of the dead are removed. */
async function otherHolder(path: string, own: string): Promise<string | undefined> {
  for (const name of await readdir(path)) {
    const [prefix, pid = '', start = ''] = name.split('.')
    if (prefix !== 'lock' || name === own) continue
    if (await isAlive(Number(pid), start)) return pid
    await rm(join(path, name), { force: true })
  }
  return undefined
}

async function isAlive(pid: number, start: string): Promise<boolean> {
  if (!Number.isSafeInteger(pid) || pid < 1) return false
  try {
    process.kill(pid, 0)
  } catch (error) {
    // EPERM: it is there, but somebody else's.
    if (codeOf(error) !== 'EPERM') return false
  }
  // In a container every start has the same process id: only the time of its start tells two of them apart.
  return (await startOf(pid)) === start
}

/** When a process began, in a form that differs between boots and processes; `unknown` where the system does not tell. */
async function startOf(pid: number): Promise<string> {
  try {
    const [boot, stat] = await Promise.all([
      readFile('/proc/sys/kernel/random/boot_id', 'utf8'),
      readFile(`/proc/${pid}/stat`, 'utf8'),
    ])
    // proc(5): the second field may hold spaces, but ends with the last parenthesis; the start is field 22.
    const ticks = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]
    return `${boot.trim()}-${ticks}`
  } catch {
    return 'unknown'
  }
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : String(error)
}
