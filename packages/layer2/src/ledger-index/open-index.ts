import { inSchema, quoteSchema } from '@ratatosk/database'
import { addEntries, undo } from './apply.js'
import { entriesOf, entriesOfGenesis } from './entries.js'
import { IndexError, isIndexError } from './errors.js'
import { openQueries } from './queries.js'
import { emptyTables, lockProgress, prepareTables, readProgress, start, writeProgress } from './tables.js'
import type { IndexOptions, LedgerIndex, Progress } from './types.js'

/** The longest pause after failures, in milliseconds. */
const maxPauseMs = 10_000
/** Poll intervals between two polls at most, while there is nothing new: who needs the newest asks for it. */
const maxQuietPolls = 10
const dropsPerStep = 1_000

/**
 * Opens the index and starts to follow. Any number of processes may follow with the same tables: each step
 * locks the progress.
 *
 * @throws DatabaseError `DATABASE_CONFIGURATION` if `schema` is not a plain identifier
 *
 * @example
 * const index = await openIndex({
 *   database: store.database,
 *   schema: 'ratatosk_index',
 *   source: store.changes,
 *   genesis,
 * })
 * await index.caughtUp()
 * await index.outputs({ policy, spent: false }, { offset: 0, limit: 100 })
 */
export async function openIndex(options: IndexOptions): Promise<LedgerIndex> {
  const {
    source,
    genesis,
    bridge,
    pollMs = 100,
    batchSize = 1_000,
    waitMs = 10_000,
    flush = false,
    busy = () => false,
    onError = () => {},
  } = options
  const database = inSchema(options.database, quoteSchema(options.schema))
  await prepareTables(database)
  let progress = await readProgress(database)
  let closed = false

  /** One poll. True: more changes are pending. */
  async function step(): Promise<boolean> {
    const known = progress
    // In this order, so that a transaction which spends what a dropped one had spent is never seen without
    // the drop. The step skips those that were dropped between the two reads.
    const accepted = await source.accepted(known.sequence, batchSize)
    const drops = await source.dropped(known.dropNumber, dropsPerStep)
    const missesGenesis = !known.genesis && (await source.genesisOutputs()) !== undefined
    if (accepted.length === 0 && drops.length === 0 && !missesGenesis) return othersWentOn(known)

    const reset = drops.findLastIndex(({ transaction }) => transaction === undefined)
    const single = drops.slice(reset + 1).flatMap(({ transaction }) => transaction?.sequence ?? [])
    const dropped = new Set(single)
    // More drops than were read may concern what was accepted.
    const complete = drops.length < dropsPerStep
    const added = complete && reset < 0 ? accepted.filter(({ sequence }) => !dropped.has(sequence)) : []
    const newGenesis = reset < 0 && missesGenesis
    if (newGenesis) await checkGenesis()
    const entries = entriesOf(added, bridge)

    const next: Progress = {
      sequence: complete && reset < 0 ? (accepted.at(-1)?.sequence ?? known.sequence) : known.sequence,
      dropNumber: drops.at(-1)?.number ?? known.dropNumber,
      genesis: reset < 0 && (known.genesis || newGenesis),
    }
    let overtaken = false
    progress = await database.transaction(async (connection) => {
      const current = await lockProgress(connection, flush)
      overtaken = !sameProgress(current, known)
      if (overtaken) return current
      if (reset >= 0) await emptyTables(connection)
      await undo(connection, single)
      if (newGenesis) for (const part of entriesOfGenesis(genesis)) await addEntries(connection, part)
      await addEntries(connection, entries)
      await writeProgress(connection, next)
      return next
    })
    return overtaken || !complete || reset >= 0 || accepted.length === batchSize
  }

  /** Nothing new here; but another process may have followed, or have begun to rebuild. */
  async function othersWentOn(known: Progress): Promise<boolean> {
    progress = await readProgress(database)
    return !sameProgress(progress, known)
  }

  async function checkGenesis(): Promise<void> {
    const outputs = await source.genesisOutputs()
    if (outputs === undefined || outputs === genesis.length) return
    throw new IndexError(
      'INDEX_GENESIS',
      `The ledger has ${outputs} genesis outputs, but ${genesis.length} are given: pass the ledger's own`,
    )
  }

  /** Ends when a step has found everything, or when it yields and no caller waits. */
  async function drain(): Promise<void> {
    while (!closed && (waiting > 0 || !yields())) {
      if (await step()) continue
      followedAt = performance.now()
      return
    }
  }

  /**
   * Whether to yield to validation; not for longer than half of `waitMs`, so that callers of `caughtUp` do
   * not time out.
   */
  function yields(): boolean {
    return busy() && performance.now() - followedAt < waitMs / 2
  }

  async function empty(): Promise<void> {
    await database.transaction(async (connection) => {
      await lockProgress(connection, flush)
      await emptyTables(connection)
      await writeProgress(connection, start)
    })
  }

  let followedAt = performance.now()
  /** How many wait until everything is found. */
  let waiting = 0
  let running: Promise<void> = Promise.resolve()
  let upcoming: Promise<void> | undefined

  /** Resolves when polls that started after the call have found everything, if a caller waits. */
  function follow(): Promise<void> {
    upcoming ??= running
      .catch(() => {})
      .then(() => {
        upcoming = undefined
        running = drain()
        return running
      })
    return upcoming
  }

  let timer: NodeJS.Timeout | undefined
  let pause = pollMs
  function followLater(): void {
    timer = setTimeout(() => {
      const before = progress
      const isYielding = yields()
      const followed = isYielding ? Promise.resolve() : follow()
      followed
        .then(
          () => {
            const isQuiet = !isYielding && sameProgress(progress, before)
            pause = isQuiet ? Math.min(2 * pause, maxQuietPolls * pollMs) : pollMs
          },
          async (error: unknown) => {
            onError(error)
            pause = Math.min(2 * pause, maxPauseMs)
            if (isDivergence(error)) await empty().catch(onError)
          },
        )
        .finally(() => {
          if (!closed) followLater()
        })
    }, pause)
  }
  followLater()

  return {
    ...openQueries(database),
    async caughtUp(sequence) {
      if (closed) throw new IndexError('INDEX_CLOSED', 'The index is closed')
      if (sequence !== undefined && progress.sequence >= sequence) return
      waiting++
      const followed = follow().finally(() => waiting--)
      // If the time runs out first, its failure stays unhandled.
      followed.catch(() => {})
      let timeout: NodeJS.Timeout | undefined
      const late = new Promise<never>((_, reject) => {
        timeout = setTimeout(() => {
          const message = `The index is behind, at ${progress.sequence}, after ${waitMs} ms: try again later`
          reject(new IndexError('INDEX_BEHIND', message))
        }, waitMs)
      })
      await Promise.race([followed, late]).finally(() => clearTimeout(timeout))
    },
    progress: () => readProgress(database),
    lagMs: () => performance.now() - followedAt,
    wake() {
      if (!closed && !yields()) follow().catch(() => {})
    },
    rebuild: empty,
    async close() {
      closed = true
      clearTimeout(timer)
      await (upcoming ?? running).catch(() => {})
    },
  }
}

function sameProgress(one: Progress, other: Progress): boolean {
  return (
    one.sequence === other.sequence && one.dropNumber === other.dropNumber && one.genesis === other.genesis
  )
}

/** Errors that a new start mends: the index was damaged, or was filled from another ledger. */
function isDivergence(error: unknown): boolean {
  return isIndexError(error) && error.code === 'INDEX_DIVERGED'
}
