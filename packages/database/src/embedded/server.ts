import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { type FileHandle, open, readdir, readFile, readlink, realpath, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { codeOf, DatabaseError } from '../errors.js'
import { userName } from './cluster.js'
import type { Programs, Way } from './programs.js'

/** Gets what people should know of an embedded database. */
export interface EmbeddedLog {
  debug(message: string): void
  info(message: string): void
  warn(message: string): void
  error(message: string): void
}

/** A server on a cluster, which runs until it is closed. */
export interface Server {
  readonly url: string
  close(): Promise<void>
}

/** How long closed connections have to reach the server before it ends their sessions; in milliseconds. */
const sessionsMs = 500
/** How long a shutdown waits for sessions, before it leaves the rest to the next start; in milliseconds. */
const shutdownMs = 10_000
/** Between two starts of a server that does not start, in milliseconds. */
const restartMs = 1_000
/** Lines of the server that explain a failed start. */
const keptLines = 5
/** Bytes of the path of a Unix socket, without the byte that ends it. */
const longestPath = 107

/**
 * Starts a server, and restarts it after an unexpected end: its clients see a server that restarts. It ends
 * soon after this process was killed. Throws DatabaseError with the server's own words.
 */
export async function startServer(
  folder: string,
  programs: Programs,
  way: Way,
  maxConnections: number,
  log: EmbeddedLog,
): Promise<Server> {
  const run = async (): Promise<ChildProcess> => {
    await endLeftOver(folder)
    await removeReusedLocks(folder)
    return launch(folder, programs, way, maxConnections, log)
  }
  const { host, release } = await hostOf(folder)
  let closing = false
  let server = await run().catch(async (error) => {
    await release()
    throw error
  })
  const kept = keepRunning()

  async function keepRunning(): Promise<void> {
    while (!closing) {
      if (!hasEnded(server)) await once(server, 'exit')
      if (closing) return
      log.error(`The embedded PostgreSQL ended (${server.signalCode ?? server.exitCode}): starting it again`)
      try {
        server = await run()
      } catch (error) {
        log.error(`The embedded PostgreSQL does not start: ${error instanceof Error ? error.message : error}`)
        await sleep(restartMs)
      }
    }
  }

  return {
    url: `postgres://${userName}@localhost/postgres?host=${encodeURIComponent(host)}`,
    async close() {
      closing = true
      await shutDown(server)
      await kept
      await release()
    },
  }
}

function hasEnded({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null
}

/** Resolves when the server accepts connections. */
async function launch(
  folder: string,
  { postgres, libraries, environment }: Programs,
  way: Way,
  maxConnections: number,
  log: EmbeddedLog,
): Promise<ChildProcess> {
  const args = [...way.through, postgres, '-D', folder, ...serverSettings(maxConnections)]
  const [command = postgres, ...rest] = args
  const server = spawn(command, rest, {
    cwd: libraries,
    env: environment,
    // In a session of its own: a terminal's Ctrl-C is for this process, which then ends the server in order.
    detached: true,
    stdio: ['ignore', 'ignore', 'pipe'],
    ...way.user,
  })
  const lines: string[] = []
  const output = createInterface(server.stderr)
  await new Promise<void>((ready, failed) => {
    server.once('error', failed)
    server.once('exit', () => {
      const said = lines.slice(-keptLines).join(' ')
      failed(new DatabaseError('DATABASE_UNAVAILABLE', `The embedded PostgreSQL did not start: ${said}`))
    })
    output.on('line', (line) => {
      if (/^(FATAL|PANIC)/.test(line)) log.warn(`PostgreSQL: ${line}`)
      else log.debug(`PostgreSQL: ${line}`)
      lines.splice(0, lines.length - keptLines + 1)
      lines.push(line)
      if (line.includes('ready to accept connections')) ready()
    })
  })
  watch(server)
  return server
}

/** Ends the server when this process is gone: the shell's input ends then. PostgreSQL would not notice. */
function watch(server: ChildProcess): void {
  const shell = spawn('/bin/sh', ['-c', 'read -r _; kill -INT "$0"', String(server.pid)], {
    detached: true,
    env: {},
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  // Without a shell, the next start ends the server.
  shell.once('error', () => undefined)
  server.once('exit', () => shell.kill('SIGKILL'))
  for (const handle of [server, shell]) handle.unref()
  for (const stream of [server.stderr, shell.stdin])
    if (stream !== null && 'unref' in stream && typeof stream.unref === 'function') stream.unref()
}

/** A smart shutdown; then a fast one; then an immediate one, from which the next start recovers. */
async function shutDown(server: ChildProcess): Promise<void> {
  if (hasEnded(server)) return
  const ended = once(server, 'exit')
  server.ref()
  server.kill('SIGTERM')
  const timers = [
    setTimeout(() => server.kill('SIGINT'), sessionsMs),
    setTimeout(() => server.kill('SIGQUIT'), shutdownMs),
  ]
  await ended
  for (const timer of timers) clearTimeout(timer)
}

/** The folder of the socket, by a path that is short enough. */
async function hostOf(folder: string): Promise<{ host: string; release(): Promise<void> }> {
  if (Buffer.byteLength(join(folder, socketName)) <= longestPath)
    return { host: folder, release: async () => undefined }
  const handle: FileHandle = await open(folder)
  return { host: `/proc/self/fd/${handle.fd}`, release: () => handle.close() }
}

/** Sessions beside those of the caller's pools: autovacuum's, a person's, and those that are ending. */
const furtherSessions = 20

/** The settings of a server for one node on a small machine, given at each start by its version. */
function serverSettings(maxConnections: number): readonly string[] {
  const settings = {
    // In the folder of the cluster, which only its owner can enter.
    listen_addresses: '',
    unix_socket_directories: '.',
    max_connections: maxConnections + furtherSessions,
    // Memory. A page is allocated when it is first used; below this, pages of the indexes are read again.
    shared_buffers: '128MB',
    work_mem: '4MB',
    maintenance_work_mem: '32MB',
    huge_pages: 'off',
    // In files: a container may have only 64 MB of shared memory.
    dynamic_shared_memory_type: 'mmap',
    // No processes that a node's short statements do not need.
    io_method: 'sync',
    max_worker_processes: 0,
    max_parallel_workers: 0,
    max_logical_replication_workers: 0,
    autovacuum_max_workers: 1,
    autovacuum_worker_slots: 1,
    jit: 'off',
    // No replicas.
    wal_level: 'minimal',
    max_wal_senders: 0,
    // As much as a start after a crash reads within a few seconds.
    max_wal_size: '256MB',
    min_wal_size: '32MB',
    checkpoint_timeout: '15min',
    // Durable, even if a file in the folder says otherwise.
    fsync: 'on',
    full_page_writes: 'on',
    synchronous_commit: 'on',
    // The caller logs its failed statements.
    log_min_messages: 'log',
    log_checkpoints: 'off',
    log_line_prefix: '',
    [ownerSetting]: process.pid,
  }
  return Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
}

/** The server's setting that has the process id of what started it. */
const ownerSetting = 'ratatosk.owner'

/** How long a server is given to end in order, in milliseconds. */
const endingMs = 5_000
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
  const deadline = performance.now() + endingMs
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
async function removeReusedLocks(folder: string): Promise<void> {
  for (const lock of [lockOf(folder), join(folder, `${socketName}.lock`)]) {
    const server = await recordedServer(lock)
    if (server !== undefined && signal(server, 0)) await rm(lock, { force: true })
  }
}

const socketName = '.s.PGSQL.5432'

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
