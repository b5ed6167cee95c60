import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import pg from 'pg'

// The tasks that undo a script's effects, in reverse order when it ends, fails or is interrupted.
const tasks = []

export function defer(task) {
  tasks.push(task)
}

/** Runs every deferred clean-up once; reports failures and continues. */
export async function cleanUp() {
  for (let task = tasks.pop(); task !== undefined; task = tasks.pop()) {
    try {
      await task()
    } catch (error) {
      console.error('while cleaning up:', error)
      process.exitCode = 1
    }
  }
}

/**
 * Measures one after the other, and cleans up after each.
 *
 * @template Each, Figure
 * @param {readonly Each[]} all
 * @param {(each: Each) => Promise<Figure>} measure
 * @returns {Promise<Figure[]>}
 */
export async function measureEach(all, measure) {
  const figures = []
  for (const each of all) {
    try {
      figures.push(await measure(each))
    } finally {
      await cleanUp()
    }
  }
  return figures
}

for (const signal of ['SIGINT', 'SIGTERM']) {
  process.once(signal, async () => {
    await cleanUp()
    process.exit(1)
  })
}

// The resources of a deployment: processor time, memory of its own, and disk. From /proc, so only on Linux,
// and of PostgreSQL only if it runs here.

const everyMs = 1000
/** Of `times` in /proc: USER_HZ. */
const ticksPerSecond = 100

/** Seconds of processor time of a process and its children so far; undefined if it has ended. */
export function processorSeconds(pid) {
  try {
    return familyOf(pid).reduce((sum, { seconds }) => sum + seconds, 0) || undefined
  } catch {
    return undefined
  }
}

/** MiB of memory of a process and its children that belong to no file. */
function anonymousMiB(pid) {
  return familyOf(pid).reduce((sum, member) => {
    const [, kB] = /RssAnon:\s+(\d+)/.exec(readFileSync(`/proc/${member.pid}/status`, 'latin1')) ?? []
    return sum + Number(kB ?? 0) / 1024
  }, 0)
}

/** A process and what descends from it, such as an embedded server and its sessions. */
function familyOf(pid) {
  const all = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  const living = all.map((name) => statusOf(Number(name))).filter((status) => status !== undefined)
  const members = living.filter((status) => status.pid === pid)
  for (const { pid: parent } of members) members.push(...living.filter((status) => status.parent === parent))
  return members
}

/** Its processor time includes that of children that have ended. */
function statusOf(pid) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    const [, parent, ...fields] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    const ticks = fields.slice(9, 13).reduce((sum, field) => sum + Number(field), 0)
    return { pid, parent: Number(parent), seconds: ticks / ticksPerSecond }
  } catch {
    return undefined
  }
}

/** Bytes on disk; a sparse file has fewer than its length. */
export function diskOf(folder) {
  let sum = 0
  for (const entry of readdirSync(folder, { withFileTypes: true, recursive: true })) {
    if (!entry.isFile()) continue
    try {
      sum += statSync(join(entry.parentPath ?? entry.path, entry.name)).blocks * 512
    } catch {
      // Removed meanwhile.
    }
  }
  return sum
}

/**
 * Watches a deployment, until `stop` says what it took since.
 *
 * @param {{ role: string, pid: number, folder: string }[]} nodes processes with the same role are reported as
 * one
 * @param {string | undefined} name of the schema, and `application_name` of the connections; undefined:
 *   embedded
 */
export async function watchUsage(nodes, name) {
  const backends = new Map()
  const roles = [...new Set(nodes.map(({ role }) => role))]
  const sumOf = (wanted, figure) =>
    nodes.reduce((sum, node) => (node.role === wanted ? sum + figure(node) : sum), 0)
  const memory = new Map(roles.map((role) => [role, []]))
  const redis = name === undefined ? undefined : new Redis(redisUrl)
  const samples = []
  const before = await totals()
  let stopped = false
  const watching = watch()

  async function watch() {
    while (!stopped) {
      for (const [role, all] of memory) all.push(sumOf(role, ({ pid }) => anonymousMiB(pid)))
      samples.push({ at: performance.timeOrigin + performance.now(), seconds: await processorTimes() })
      await new Promise((resolve) => setTimeout(resolve, everyMs))
    }
  }

  /** A backend that has ended counts with its usage at the last poll. */
  async function readBackends() {
    await withDatabase(async (client) => {
      const { rows } = await client.query('SELECT pid FROM pg_stat_activity WHERE application_name = $1', [
        name,
      ])
      for (const { pid } of rows) backends.set(pid, processorSeconds(pid) ?? backends.get(pid) ?? 0)
    })
  }

  async function processorTimes() {
    const seconds = new Map(roles.map((role) => [role, sumOf(role, ({ pid }) => processorSeconds(pid))]))
    if (name === undefined) return seconds
    await readBackends()
    seconds.set(
      'PostgreSQL',
      [...backends.values()].reduce((sum, each) => sum + each, 0),
    )
    const info = await redis.info('cpu')
    const used = (kind) => Number(new RegExp(`^used_cpu_${kind}:(\\S+)`, 'm').exec(info)?.[1] ?? 0)
    seconds.set('Redis', used('user') + used('sys'))
    return seconds
  }

  async function totals() {
    const seconds = await processorTimes()
    const disk = new Map(
      roles.map((role) => [`DATA_DIR of ${role}`, sumOf(role, ({ folder }) => diskOf(folder))]),
    )
    if (name !== undefined) {
      await withDatabase(async (client) => {
        const { rows } = await client.query(
          `SELECT (SELECT sum(pg_total_relation_size(c.oid)) FROM pg_class AS c JOIN pg_namespace AS n ON
            n.oid = c.relnamespace
              WHERE n.nspname = $1 AND c.relkind = 'r')::float8 AS tables,
            (pg_current_wal_lsn() - '0/0')::float8 AS wal`,
          [name],
        )
        disk.set('tables and indexes', rows[0].tables)
        disk.set('WAL', rows[0].wal)
      })
    }
    return { seconds, disk }
  }

  return {
    /** Differences since the beginning; by the second, memory of each role and the processor time so far. */
    async stop() {
      stopped = true
      await watching
      const after = await totals()
      redis?.disconnect()
      const since = (kind) =>
        new Map([...after[kind]].map(([key, value]) => [key, value - (before[kind].get(key) ?? 0)]))
      return { seconds: since('seconds'), disk: since('disk'), memory, samples }
    },
  }
}

// The PostgreSQL and the Redis that figures are measured on, and how to leave them as they were found.

export const databaseUrl = process.env.TEST_DATABASE_URL ?? 'postgres://postgres@127.0.0.1:5432/postgres'
export const redisUrl = process.env.TEST_REDIS_URL ?? 'redis://127.0.0.1:6379'

/** Runs work with a connection of its own to the database. */
export async function withDatabase(work, url = databaseUrl) {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}

/** Drops the schemas of a node and deletes its queues. */
export async function removeTraces(name) {
  await withDatabase(async (client) => {
    for (const schema of [name, `${name}_index`, `${name}_devnet`]) {
      await client.query(`DROP SCHEMA IF EXISTS "${schema}" CASCADE`)
    }
  })
  const redis = new Redis(redisUrl)
  try {
    for await (const keys of redis.scanStream({ match: `${name}:*`, count: 10_000 })) {
      if (keys.length > 0) await redis.unlink(keys)
    }
  } finally {
    redis.disconnect()
  }
}
