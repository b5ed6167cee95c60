// The resources of a deployment: processor time, memory of its own, and disk. From /proc, so only on Linux,
// and of PostgreSQL only if it runs here.
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { redisUrl, withDatabase } from './services.mjs'

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
