import { execFile, spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { chown, mkdtemp, readdir, rm } from 'node:fs/promises'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

/** A TCP proxy in front of a service, with which a test interrupts and restores the service. */
export interface BreakableProxy {
  /** The service's address, through the proxy. */
  readonly url: string
  /** Cuts every connection and refuses new ones. */
  break(): Promise<void>
  /** Keeps connections open but forwards nothing. */
  freeze(): void
  mend(): Promise<void>
  close(): Promise<void>
}

const ports: Readonly<Record<string, number>> = {
  redis: 6379,
  rediss: 6379,
  postgres: 5432,
  postgresql: 5432,
}

/** @param serviceUrl of Redis or PostgreSQL */
export async function breakableProxy(serviceUrl: string): Promise<BreakableProxy> {
  const service = new URL(serviceUrl)
  const target = {
    host: service.hostname,
    port: Number(service.port || ports[service.protocol.slice(0, -1)]),
  }
  const sockets = new Set<Socket>()
  let frozen = false
  const server = createServer((client) => {
    const upstream = connect(target)
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(from)
      from.on('data', (chunk) => {
        if (!frozen) to.write(chunk)
      })
      from.on('error', () => undefined)
      from.on('close', () => {
        sockets.delete(from)
        to.destroy()
      })
    }
  })
  const listen = async (port: number) => {
    server.listen(port, '127.0.0.1')
    await once(server, 'listening')
  }
  const stop = async () => {
    if (!server.listening) return
    const closed = once(server, 'close')
    server.close()
    for (const socket of sockets) socket.destroy()
    await closed
  }
  await listen(0)
  const { port } = server.address() as AddressInfo
  const url = new URL(service)
  url.hostname = '127.0.0.1'
  url.port = String(port)
  return {
    url: url.href,
    break: stop,
    freeze() {
      frozen = true
    },
    async mend() {
      frozen = false
      if (!server.listening) await listen(port)
    },
    close: stop,
  }
}

/** Systems take the ports of outgoing connections from above. */
const [firstPort, endOfPorts] = [16_384, 32_768]

/** A port on which nothing listens, and that no connection gets while nothing does. */
export async function freePort(): Promise<string> {
  for (;;) {
    const port = randomInt(firstPort, endOfPorts)
    const server = createServer().listen(port, '127.0.0.1')
    const isFree = await once(server, 'listening').then(
      () => true,
      () => false,
    )
    server.close()
    if (isFree) return once(server, 'close').then(() => String(port))
  }
}

const run = promisify(execFile)

/** A PostgreSQL server that belongs to a test. */
export interface OwnPostgres {
  readonly url: string
  /** Ends it as a crash would, and starts it again. Resolves when it accepts connections. */
  restart(): Promise<void>
  /** Ends it, with its connections; resolves when it has ended. */
  stop(): Promise<void>
  /** Starts it again after {@link stop}. */
  start(): Promise<void>
  /** Starts a replica that streams from it, with its own settings. */
  replica(): Promise<OwnPostgres>
  /** Ends it and removes its files. */
  close(): Promise<void>
}

/** Writes survive the end of a process; only that of the machine needs more. */
const unsynced: Readonly<Record<string, string>> = { fsync: 'off' }

/**
 * Starts an empty PostgreSQL server.
 *
 * @param settings of its configuration; otherwise as it is installed
 * @returns undefined if the programs of a server are not installed
 */
export async function ownPostgres(settings = unsynced): Promise<OwnPostgres | undefined> {
  const programs = await programsOf()
  if (programs === undefined) return undefined
  const user = await unprivileged()
  return startServer({ programs, user, settings }, (call, data) =>
    call('initdb', '-D', data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '-N'),
  )
}

interface ServerMeans {
  readonly programs: string
  readonly user: { readonly uid: number; readonly gid: number } | undefined
  readonly settings: Readonly<Record<string, string>>
}

type Call = (program: string, ...args: string[]) => Promise<unknown>

/** Starts a server in a directory that `make` fills. */
async function startServer(
  means: ServerMeans,
  make: (call: Call, data: string) => Promise<unknown>,
): Promise<OwnPostgres> {
  const { programs, user, settings } = means
  const directory = await mkdtemp(join(tmpdir(), 'ratatosk-postgres-'))
  if (user !== undefined) await chown(directory, user.uid, user.gid)
  const [port, data] = [await freePort(), join(directory, 'data')]
  const options = [
    `-p ${port}`,
    '-c listen_addresses=127.0.0.1',
    "-c unix_socket_directories=''",
    ...Object.entries(settings).map(([name, value]) => `-c ${name}=${value}`),
  ].join(' ')
  const call: Call = (program, ...args) => run(join(programs, program), args, { cwd: directory, ...user })
  const control = (...args: string[]) =>
    call('pg_ctl', '-D', data, '-l', join(directory, 'log'), '-o', options, '-w', ...args)
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`
  try {
    await make(call, data)
    await control('start')
  } catch (error) {
    await rm(directory, { recursive: true, force: true })
    throw error
  }
  return {
    url,
    replica: () =>
      startServer({ ...means, settings: { ...settings, hot_standby_feedback: 'on' } }, (backUp, copy) =>
        backUp('pg_basebackup', '-D', copy, '-d', url, '--write-recovery-conf', '--checkpoint=fast', '-N'),
      ),
    stop: async () => void (await control('stop', '-m', 'fast')),
    start: async () => void (await control('start')),
    restart: async () => void (await control('restart', '-m', 'immediate')),
    async close() {
      await control('stop', '-m', 'immediate')
      await rm(directory, { recursive: true, force: true })
    },
  }
}

/** The directory of the newest version, or the one that pg_config names. */
async function programsOf(): Promise<string | undefined> {
  const debian = '/usr/lib/postgresql'
  const versions = (await readdir(debian).catch(() => [])).sort((a, b) => Number(b) - Number(a))
  const named = await run('pg_config', ['--bindir']).then(
    ({ stdout }) => stdout.trim(),
    () => undefined,
  )
  for (const directory of [...versions.map((version) => join(debian, version, 'bin')), named]) {
    const files = directory === undefined ? [] : await readdir(directory).catch(() => [])
    if (files.includes('initdb') && files.includes('pg_ctl')) return directory
  }
  return undefined
}

/** PostgreSQL does not run as root: its own user then. */
async function unprivileged(): Promise<{ readonly uid: number; readonly gid: number } | undefined> {
  if (process.getuid?.() !== 0) return undefined
  const [uid, gid] = await Promise.all(
    ['-u', '-g'].map(async (which) => Number((await run('id', [which, 'postgres'])).stdout)),
  )
  return { uid: uid ?? 0, gid: gid ?? 0 }
}

/** A Redis server that belongs to a test. */
interface OwnRedis {
  readonly url: string
  close(): Promise<void>
}

/**
 * Starts a Redis server that keeps nothing; undefined if the program is not installed.
 *
 * @param policy `maxmemory-policy`
 */
export async function ownRedis(
  policy: string,
  { port, databases = 16 }: { readonly port?: string; readonly databases?: number } = {},
): Promise<OwnRedis | undefined> {
  port ??= await freePort()
  const nothing = ['--save', '', '--appendonly', 'no']
  const server = spawn('redis-server', [
    '--port',
    port,
    '--bind',
    '127.0.0.1',
    '--maxmemory-policy',
    policy,
    '--databases',
    String(databases),
    ...nothing,
  ])
  const isReady = await new Promise<boolean>((resolve) => {
    server.on('error', () => resolve(false))
    server.stdout.on('data', (line) => String(line).includes('Ready to accept') && resolve(true))
  })
  if (!isReady) return undefined
  return {
    url: `redis://127.0.0.1:${port}`,
    async close() {
      const exited = once(server, 'exit')
      server.kill()
      await exited
    },
  }
}
