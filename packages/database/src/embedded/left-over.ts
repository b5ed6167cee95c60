import { readdir, readFile, readlink, realpath, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { codeOf } from '../driver-errors.js'
import { DatabaseError } from '../errors.js'

/** The server's setting that has the process id of what started it. */
export const ownerSetting = 'ratatosk.owner'

/** How long a server is given to end in order, in milliseconds. */
const shutdownMs = 5_000
const pollMs = 20

/**
 * Ends the server that a process which was killed has left running on a cluster, and waits for the sessions
 * of a server that was killed itself.
 *
 * @throws DatabaseError `DATABASE_CONFIGURATION` if the process that started the server still runs
 */
export async function endLeftOver(folder: string): Promise<void> {
  const server = await recordedServer(lockOf(folder))
  if (server === undefined) return
  const place = await realpath(folder)
  const owner = await livingOwner(server)
  if (owner !== undefined && owner !== process.pid && (await workingFolder(server)) === place)
    throw new DatabaseError('DATABASE_CONFIGURATION', `The process ${owner} uses "${folder}": stop that one.`)
  const deadline = performance.now() + shutdownMs
  for (let users = await usersOf(place); users.length > 0; users = await usersOf(place)) {
    if (performance.now() > deadline) for (const user of users) signal(user, 'SIGKILL')
    else if (users.includes(server)) signal(server, 'SIGINT')
    await sleep(pollMs)
  }
}

/**
 * Removes the lock files of a server that is gone if other processes have their process ids now: in a
 * container, every start has the same ids, and PostgreSQL would not start. A server killed in its start has
 * left its predecessor's id in the socket's lock.
 */
export async function removeReusedLocks(folder: string): Promise<void> {
  for (const lock of [lockOf(folder), join(folder, `${socketName}.lock`)]) {
    const server = await recordedServer(lock)
    if (server !== undefined && signal(server, 0)) await rm(lock, { force: true })
  }
}

export const socketName = '.s.PGSQL.5432'

const lockOf = (folder: string) => join(folder, 'postmaster.pid')

/** The process id in a lock file; undefined if a server was shut down. */
async function recordedServer(lock: string): Promise<number | undefined> {
  const [line = ''] = (await readFile(lock, 'utf8').catch(() => '')).split('\n')
  const server = Number(line)
  return Number.isSafeInteger(server) && server > 0 ? server : undefined
}

/** Process ids of a server and its sessions: all of them work in the cluster's folder. */
async function usersOf(folder: string): Promise<number[]> {
  const users: number[] = []
  for (const name of await readdir('/proc'))
    if (/^\d+$/.test(name) && (await workingFolder(Number(name))) === folder) users.push(Number(name))
  return users
}

/** Undefined for a process that is gone, or of another user. */
function workingFolder(pid: number): Promise<string | undefined> {
  return readlink(`/proc/${pid}/cwd`).catch(() => undefined)
}

/** The process that started a server, while it runs: a server whose parent is gone has another one. */
async function livingOwner(server: number): Promise<number | undefined> {
  const read = (name: string) => readFile(`/proc/${server}/${name}`, 'utf8').catch(() => '')
  const [, owner] = new RegExp(`${ownerSetting}=(\\d+)`).exec(await read('cmdline')) ?? []
  const [, parent] = /^PPid:\s*(\d+)$/m.exec(await read('status')) ?? []
  return owner !== undefined && owner === parent ? Number(owner) : undefined
}

/** @returns whether there is such a process */
function signal(pid: number, name: NodeJS.Signals | 0): boolean {
  try {
    process.kill(pid, name)
    return true
  } catch (error) {
    return codeOf(error) === 'EPERM'
  }
}
