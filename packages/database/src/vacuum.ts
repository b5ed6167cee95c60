import type { Executor } from './connection.js'

/** Poll interval in milliseconds. */
const everyMs = 5_000

/** Rows changed between two polls, up to which the load is low and a vacuum delays no writer. */
const fewChanges = 500

/** Dead rows for which a table is vacuumed at low load. */
const deadWhileQuiet = 1_000

/** Dead rows for which a table is vacuumed in any case: so many, and a fifth of its live rows. */
const deadInAnyCase = { count: 10_000, share: 0.2 }

const tables = `
  SELECT relid::regclass::text AS name, n_live_tup AS live, n_dead_tup AS dead,
    n_tup_ins + n_tup_upd + n_tup_del AS changes
  FROM pg_catalog.pg_stat_user_tables WHERE schemaname = ANY ($1::text[])
  ORDER BY n_dead_tup DESC`

interface Table {
  readonly name: string
  readonly live: bigint
  readonly dead: bigint
  readonly changes: bigint
}

/** Vacuums the tables of an embedded database, which has no autovacuum. */
export interface Vacuum {
  /**
   * Vacuums at most one table: that with the most dead rows, if they are enough. So vacuuming holds others up
   * for one table, and amounts to a small part of the work that left the dead rows.
   *
   * @returns its name
   */
  poll(): Promise<string | undefined>
}

export function createVacuum(executor: Executor, schemas: readonly string[]): Vacuum {
  let changesBefore: bigint | undefined
  return {
    async poll() {
      const rows = (await executor.run(tables, [schemas])).rows as readonly Table[]
      const changes = rows.reduce((sum, table) => sum + table.changes, 0n)
      const isQuiet = changesBefore !== undefined && changes - changesBefore <= fewChanges
      changesBefore = changes
      const { count, share } = deadInAnyCase
      const next = rows.find(({ live, dead }) =>
        isQuiet ? dead >= deadWhileQuiet : Number(dead) >= count + share * Number(live),
      )
      if (next !== undefined) await executor.run(`VACUUM ${next.name}`, [])
      return next?.name
    },
  }
}

/**
 * Polls until `stop` resolves.
 *
 * @param poll {@link Vacuum.poll}; if it fails, the next one is tried
 */
export function keepVacuumed(poll: () => Promise<unknown>): { stop(): Promise<void> } {
  let polling: Promise<unknown> | undefined
  const timer = setInterval(() => {
    polling ??= poll()
      .catch(() => undefined)
      .finally(() => {
        polling = undefined
      })
  }, everyMs).unref()
  return {
    async stop() {
      clearInterval(timer)
      await polling
    },
  }
}
