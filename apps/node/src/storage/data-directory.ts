import { createHash, randomBytes, randomInt } from 'node:crypto'
import { chmod, mkdir, readdir, readFile, readlink, rm, stat, writeFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { StartError } from '../errors.js'

/** A directory that is locked for this process until it is released. */
interface DataDirectory {
  readonly path: string
  release(): Promise<void>
}

interface TakeOptions {
  /** How long a running process is given to leave. */
  readonly waitMs?: number
  /** Whether the lock of a process that cannot be seen from here is refused, instead of removed. */
  readonly refuseForeign?: boolean
}

/** How long a start waits for another process to leave the directory. */
const defaultWaitMs = 5000
/** Of two processes that start at once, both back off for a random time up to this, and retry. */
const pauseMs = 200
/** The directory contains the ledger and the queue: only its owner may read it. */
const ownerOnly = 0o700
/** Flag of proc(5) for a process that the kernel is tearing down (`PF_EXITING` of Linux's sched.h). */
const exitingFlag = 0x4
/** The PID namespace of a machine outside of containers (`PROC_PID_INIT_INO` of Linux's proc_ns.h). */
const initialSpace = '4026531836'

/**
 * Locks the data directory for this process, private to its owner, and removes the locks of processes that
 * are gone; a running one has `waitMs` to leave. Each process writes its lock before it looks for others, so
 * of two at least one sees the other's. A lock of another container or machine is removed, unless
 * `refuseForeign`.
 * @throws StartError `NODE_DATA_DIR` if it is held, or cannot be written to
 */
export async function takeDataDirectory(
  directory: string,
  { waitMs = defaultWaitMs, refuseForeign = false }: TakeOptions = {},
): Promise<DataDirectory> {
  const path = resolve(directory)
  const own = await startOf(process.pid)
  const space = await pidNamespace()
  const machine = await machineOf(space)
  const name = `lock.${process.pid}.${own}.${randomBytes(6).toString('hex')}.${space}.${machine}`
  const lock = join(path, name)
  const release = () => rm(lock, { force: true })
  const isForeign = (start: string, otherSpace: string, otherMachine: string) => {
    const isSameBoot = bootOf(start) === bootOf(own)
    const isGone = !isSameBoot && bootOf(start) !== '' && machine !== '' && otherMachine === machine
    return refuseForeign && !isGone && (otherSpace !== space || !isSameBoot)
  }
  let obstacle: string | undefined
  try {
    await makeDirectory(path, ownerOnly)
    const isPrivate = await isOwn(path)
    const deadline = performance.now() + waitMs
    do {
      await writeFile(lock, '')
      obstacle = await otherHolder(path, name, isForeign)
      if (obstacle === undefined) {
        // Not before: the database of the process that uses it may run as another user, who passes through.
        if (isPrivate) await makePrivate(path)
        return { path, release }
      }
      await release()
      await sleep(randomInt(1, pauseMs))
    } while (performance.now() < deadline)
  } catch (cause) {
    const reason = `it cannot be written to (${codeOf(cause)})`
    const message = `DATA_DIR is "${directory}": ${reason}. Choose another directory.`
    throw new StartError('NODE_DATA_DIR', message, { cause })
  }
  throw new StartError('NODE_DATA_DIR', `DATA_DIR is "${path}": ${obstacle}`)
}

/** Whether it is empty or has what a node writes: `DATA_DIR=/` must not shut others out of a machine. */
async function isOwn(path: string): Promise<boolean> {
  const names = await contentsOf(path)
  return (
    names.length === 0 || names.some((name) => /^(postgresql|pglite|roots|restoration)$|^lock\./.test(name))
  )
}

/** A folder's names, without the folder that mkfs makes in the root of a volume. */
export async function contentsOf(path: string): Promise<string[]> {
  return (await readdir(path)).filter((name) => name !== 'lost+found')
}

/** Closes a folder to others, unless another user owns it, as the root of a mounted volume. */
export async function makePrivate(path: string): Promise<void> {
  try {
    await chmod(path, ownerOnly)
  } catch (error) {
    if (codeOf(error) !== 'EPERM') throw error
  }
}

/** The message about another lock; undefined without one. Removes the locks of processes that are gone. */
async function otherHolder(
  path: string,
  own: string,
  isForeign: (start: string, space: string, machine: string) => boolean,
): Promise<string | undefined> {
  for (const name of await readdir(path)) {
    const [prefix, pid = '', start = '', , space = '', machine = ''] = name.split('.')
    if (prefix !== 'lock' || name === own) continue
    if (await isAlive(Number(pid), start))
      return `the process ${pid} uses it. Stop that one, or choose another directory.`
    if (isForeign(start, space, machine))
      return (
        `"${name}" in it is the lock of a process in another container, on another machine or before a ` +
        'restart of this one, which may still run. Stop the node there, which removes the lock. If it has ' +
        'ended without that, delete this file.'
      )
    await rm(join(path, name), { force: true })
  }
  return undefined
}

/** The process that uses a data directory, as far as it is seen from here. Changes nothing. */
export async function userOf(directory: string): Promise<number | undefined> {
  for (const name of await readdir(directory).catch(() => [])) {
    const [prefix, pid = '', start = ''] = name.split('.')
    if (prefix === 'lock' && (await isAlive(Number(pid), start))) return Number(pid)
  }
  return undefined
}

/** The number of this process's PID namespace; `unknown` if the system does not report it. */
async function pidNamespace(): Promise<string> {
  try {
    return (await readlink('/proc/self/ns/pid')).replaceAll(/\D/g, '')
  } catch {
    return 'unknown'
  }
}

/** This machine's name across boots; empty in a container, whose image may have another machine's id. */
async function machineOf(space: string): Promise<string> {
  if (space !== initialSpace) return ''
  try {
    const id = await readFile('/etc/machine-id', 'utf8')
    const hash = createHash('sha256').update(`ratatosk ${id.trim()} ${hostname()}`)
    return id.trim() === '' ? '' : hash.digest('hex').slice(0, 16)
  } catch {
    return ''
  }
}

function bootOf(start: string): string {
  return start.slice(0, Math.max(0, start.lastIndexOf('-')))
}

async function isAlive(pid: number, start: string): Promise<boolean> {
  if (!Number.isSafeInteger(pid) || pid < 1) return false
  try {
    process.kill(pid, 0)
  } catch (error) {
    // EPERM: the process exists, but belongs to another user.
    if (codeOf(error) !== 'EPERM') return false
  }
  const status = await statusOf(pid)
  if (status === undefined) return start === 'unknown'
  // In a container every start has the same process id; only its start time distinguishes two of them.
  return status.start === start && !status.ending
}

/** A process's start time, unique across boots; `unknown` if the system does not report it. */
async function startOf(pid: number): Promise<string> {
  return (await statusOf(pid))?.start ?? 'unknown'
}

/** The system's report on a process; undefined without /proc, or if the process is gone. */
async function statusOf(pid: number): Promise<{ start: string; ending: boolean } | undefined> {
  try {
    const [boot, stat] = await Promise.all([
      readFile('/proc/sys/kernel/random/boot_id', 'utf8'),
      readFile(`/proc/${pid}/stat`, 'utf8'),
    ])
    return parseStatus(boot, stat)
  } catch {
    return undefined
  }
}

/** Reads proc(5)'s `stat`; after the last parenthesis: state (field 3), flags (9), start in ticks (22). */
export function parseStatus(boot: string, stat: string): { start: string; ending: boolean } {
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  const [state = '', flags, ticks] = [fields[0], fields[6], fields[19]]
  // Z: a zombie; X: dead.
  const ending = /^[ZXx]$/.test(state) || (Number(flags) & exitingFlag) !== 0
  return { start: `${boot.trim()}-${ticks}`, ending }
}

/** Of an error of any realm: a test runner's modules may not share Node's class of errors. */
export function codeOf(error: unknown): string {
  const { code } = (error ?? {}) as { readonly code?: unknown }
  return String(code ?? error)
}

/**
 * Creates a directory and those above it; returns the first new one. Node's `recursive` never ends where the
 * system reports an existing parent as missing, as below `/proc`.
 */
export async function makeDirectory(path: string, mode: number): Promise<string | undefined> {
  try {
    await mkdir(path, { mode })
    return path
  } catch (error) {
    if (codeOf(error) === 'EEXIST' && (await stat(path)).isDirectory()) return undefined
    if (codeOf(error) !== 'ENOENT' || dirname(path) === path) throw error
    const created = await makeDirectory(dirname(path), mode)
    try {
      await mkdir(path, { mode })
      return created ?? path
    } catch (again) {
      // Another process was faster.
      if (!(await stat(path).catch(() => undefined))?.isDirectory()) throw again
      return created
    }
  }
}

/** Where a restoration writes; it is renamed to the store as its last step. */
export function restorationFolder(directory: string): string {
  return join(directory, 'restoration')
}

/** Keeps a node from a new ledger beside an unfinished restoration. @throws StartError `NODE_DATA_DIR` */
export async function refuseUnfinishedRestoration(directory: string): Promise<void> {
  const folder = restorationFolder(directory)
  if (!(await stat(folder).catch(() => undefined))) return
  throw new StartError(
    'NODE_DATA_DIR',
    `"${folder}" is of a restoration that did not end. Run \`ratatosk restore\` again, which replaces it, ` +
      'or remove it to begin a new ledger.',
  )
}
