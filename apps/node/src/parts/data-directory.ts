import { link, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { StartError } from '../errors.js'

/** A directory that this process alone uses, until it is released. */
export interface DataDirectory {
  readonly path: string
  release(): Promise<void>
}

/**
 * Takes the data directory for this process, making it where it does not exist. A lock that a killed process left
 * behind is taken over.
 *
 * @throws StartError `NODE_DATA_DIR` where another process has it, or where it cannot be written
 */
export async function takeDataDirectory(directory: string): Promise<DataDirectory> {
  const path = resolve(directory)
  const lock = join(path, 'lock')
  const own = await ownIdentity()
  try {
    await mkdir(path, { recursive: true })
    await takeLock(lock, own)
  } catch (error) {
    if (error instanceof StartError) throw error
    throw new StartError(
      'NODE_DATA_DIR',
      `DATA_DIR is "${directory}": it cannot be written to (${codeOf(error)}).`,
      {
        cause: error,
      },
    )
  }
  return { path, release: () => rm(lock, { force: true }) }
}

async function takeLock(lock: string, own: string): Promise<void> {
  // Each turn ends with the lock, with its holder found alive, or with somebody else having moved it: then once more.
  for (;;) {
    try {
      await writeFile(lock, own, { flag: 'wx' })
      return
    } catch (error) {
      if (codeOf(error) !== 'EEXIST') throw error
    }
    const holder = await readFile(lock, 'utf8').catch(() => undefined)
    if (holder === undefined) continue
    if (await isAlive(holder)) {
      throw new StartError(
        'NODE_DATA_DIR',
        `DATA_DIR is "${join(lock, '..')}": the process ${holder.split(' ')[0]} uses it. Stop that one, or choose another directory.`,
      )
    }
    await discard(lock, holder)
  }
}

/** Removes the lock of a dead holder; whoever took it over in the meantime keeps it. */
async function discard(lock: string, holder: string): Promise<void> {
  const aside = `${lock}.${process.pid}`
  try {
    await rename(lock, aside)
    if ((await readFile(aside, 'utf8')) !== holder) await link(aside, lock)
    await rm(aside)
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error
  }
}

async function isAlive(holder: string): Promise<boolean> {
  const [pid, started] = holder.split(' ')
  const number = Number(pid)
  if (!Number.isSafeInteger(number) || number < 1) return false
  try {
    process.kill(number, 0)
  } catch (error) {
    // EPERM: it is there, but somebody else's.
    if (codeOf(error) !== 'EPERM') return false
  }
  // In a container every start has the same process id: only the time of its start tells two of them apart.
  return (await startOf(number)) === started
}

async function ownIdentity(): Promise<string> {
  return `${process.pid} ${await startOf(process.pid)}`
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
    return `${boot.trim()}:${ticks}`
  } catch {
    return 'unknown'
  }
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : String(error)
}
