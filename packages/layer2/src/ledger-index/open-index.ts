import { setTimeout as sleep } from 'node:timers/promises'
import { type Database, inSchema, quoteSchema, type SharedDriver } from '@ratatosk/database'
import { addEntries, undo } from './apply.js'
import { entriesOf, entriesOfGenesis } from './entries.js'
import { openQueries } from './queries.js'
import {
  emptyTables,
  IndexError,
  isIndexError,
  lockProgress,
  prepareTables,
  readProgress,
  start,
  writeProgress,
} from './tables.js'
import type { IndexOptions, IndexSource, LedgerIndex, Progress } from './types.js'

/** The longest pause after failures, in milliseconds. */
const maxPauseMs = 10_000
/** Poll intervals between two polls at most, while there is nothing new: who needs the newest asks for it. */
const maxQuietPolls = 10
const dropsPerStep = 1_000

/** An index that follows the ledger. */
interface Follower extends Omit<Required<IndexOptions>, 'database' | 'schema'> {
  readonly database: Database
  progress: Progress
  readonly closing: AbortController
  /** When everything was found, in milliseconds of `performance.now()`. */
  followedAt: number
  /** How many wait until everything is found. */
  waiting: number
}

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
  const { source, genesis, bridge, pollMs = 100, batchSize = 1_000, waitMs = 10_000, flush = false } = options
  const { busy = () => false, onError = () => {} } = options
  const database = inSchema(options.database, quoteSchema(options.schema))
  await prepareTables(database)
  const closing = new AbortController()
  const settings = { source, genesis, bridge, pollMs, batchSize, waitMs, flush, busy, onError, closing }
  const progress = await readProgress(database)
  const index: Follower = { ...settings, database, progress, followedAt: performance.now(), waiting: 0 }
  /** Resolves when polls that started after the call have found everything, if a caller waits. */
  const readChanges = shareReads(() => drain(index))
  const follow = () => readChanges('changes')
  followUntilClosed(index, follow)

  return {
    ...openQueries(database),
    async caughtUp(sequence) {
      if (closing.signal.aborted) throw new IndexError('INDEX_CLOSED', 'The index is closed')
      if (sequence !== undefined && index.progress.sequence >= sequence) return
      index.waiting++
      const followed = follow().finally(() => index.waiting--)
      // If the time runs out first, its failure stays unhandled.
      followed.catch(() => {})
      let timeout: NodeJS.Timeout | undefined
      const late = new Promise<never>((_, reject) => {
        timeout = setTimeout(() => {
          const at = index.progress.sequence
          const message = `The index is behind, at ${at}, after ${waitMs} ms: try again later`
          reject(new IndexError('INDEX_BEHIND', message))
        }, waitMs)
      })
      await Promise.race([followed, late]).finally(() => clearTimeout(timeout))
    },
    progress: () => readProgress(database),
    lagMs: () => performance.now() - index.followedAt,
    wake() {
      if (!closing.signal.aborted && !yields(index)) follow().catch(() => {})
    },
    rebuild: () => empty(index),
    async close() {
      closing.abort()
      await follow().catch(() => {})
    },
  }
}

async function followUntilClosed(index: Follower, follow: () => Promise<void>): Promise<void> {
  const { pollMs, onError } = index
  const { signal } = index.closing
  for (let pause = pollMs; ; ) {
    await sleep(pause, undefined, { signal }).catch(() => {})
    if (signal.aborted) return
    const before = index.progress
    const isYielding = yields(index)
    try {
      if (!isYielding) await follow()
      const isQuiet = !isYielding && sameProgress(index.progress, before)
      pause = isQuiet ? Math.min(2 * pause, maxQuietPolls * pollMs) : pollMs
    } catch (error) {
      onError(error)
      pause = Math.min(2 * pause, maxPauseMs)
      if (isDivergence(error)) await empty(index).catch(onError)
    }
  }
}

/**
 * Whether to yield to validation; not for longer than half of `waitMs`, so that callers of `caughtUp` do
 * not time out.
 */
function yields({ busy, followedAt, waitMs }: Follower): boolean {
  return busy() && performance.now() - followedAt < waitMs / 2
}

/** Ends when a step has found everything, or when it yields and no caller waits. */
async function drain(index: Follower): Promise<void> {
  while (!index.closing.signal.aborted && (index.waiting > 0 || !yields(index))) {
    if (await step(index)) continue
    index.followedAt = performance.now()
    return
  }
}

/** One poll. True: more changes are pending. */
async function step(index: Follower): Promise<boolean> {
  const { database, source, batchSize, progress: known } = index
  // In this order, so that a transaction which spends what a dropped one had spent is never seen without
  // the drop. The step skips those that were dropped between the two reads.
  const accepted = await source.accepted(known.sequence, batchSize)
  const drops = await source.dropped(known.dropNumber, dropsPerStep)
  const missesGenesis = !known.genesis && (await source.genesisOutputs()) !== undefined
  if (accepted.length === 0 && drops.length === 0 && !missesGenesis) return othersWentOn(index)

  const reset = drops.findLastIndex(({ transaction }) => transaction === undefined)
  const single = drops.slice(reset + 1).flatMap(({ transaction }) => transaction?.sequence ?? [])
  const dropped = new Set(single)
  // More drops than were read may concern what was accepted.
  const complete = drops.length < dropsPerStep
  const added = complete && reset < 0 ? accepted.filter(({ sequence }) => !dropped.has(sequence)) : []
  const newGenesis = reset < 0 && missesGenesis
  if (newGenesis) await checkGenesis(index)
  const entries = entriesOf(added, index.bridge)

  const next: Progress = {
    sequence: complete && reset < 0 ? (accepted.at(-1)?.sequence ?? known.sequence) : known.sequence,
    dropNumber: drops.at(-1)?.number ?? known.dropNumber,
    genesis: reset < 0 && (known.genesis || newGenesis),
  }
  let overtaken = false
  index.progress = await database.transaction(async (connection) => {
    const current = await lockProgress(connection, index.flush)
    overtaken = !sameProgress(current, known)
    if (overtaken) return current
    if (reset >= 0) await emptyTables(connection)
    await undo(connection, single)
    if (newGenesis) for (const part of entriesOfGenesis(index.genesis)) await addEntries(connection, part)
    await addEntries(connection, entries)
    await writeProgress(connection, next)
    return next
  })
  return overtaken || !complete || reset >= 0 || accepted.length === batchSize
}

/** Nothing new here; but another process may have followed, or have begun to rebuild. */
async function othersWentOn(index: Follower): Promise<boolean> {
  const known = index.progress
  index.progress = await readProgress(index.database)
  return !sameProgress(index.progress, known)
}

async function checkGenesis({ source, genesis }: Follower): Promise<void> {
  const outputs = await source.genesisOutputs()
  if (outputs === undefined || outputs === genesis.length) return
  throw new IndexError(
    'INDEX_GENESIS',
    `The ledger has ${outputs} genesis outputs, but ${genesis.length} are given: pass the ledger's own`,
  )
}

async function empty({ database, flush }: Follower): Promise<void> {
  await database.transaction(async (connection) => {
    await lockProgress(connection, flush)
    await emptyTables(connection)
    await writeProgress(connection, start)
  })
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

/** Shares reads among callers. Each read begins after its call: per key one runs and one waits. */
export function shareReads<Key, T>(read: (key: Key) => Promise<T>): (key: Key) => Promise<T> {
  const running = new Map<Key, Promise<T>>()
  const waiting = new Map<Key, Promise<T>>()

  async function next(key: Key): Promise<T> {
    await running.get(key)?.catch(() => undefined)
    waiting.delete(key)
    const answer = read(key)
    running.set(key, answer)
    try {
      return await answer
    } finally {
      if (running.get(key) === answer) running.delete(key)
    }
  }

  return (key) => {
    const shared = waiting.get(key) ?? next(key)
    waiting.set(key, shared)
    return shared
  }
}

/** A replica of the database of an index and its source. */
export interface IndexReplica {
  readonly database: SharedDriver
  /** Schema of the index. */
  readonly schema: string
  /** The ledger as the replica shows it. */
  readonly source: IndexSource
  /** How long `caughtUp` waits, in milliseconds. Default 10,000. */
  readonly waitMs?: number
}

const pollMs = 10
/** SQLSTATE of a table or schema that does not exist. */
const missing: readonly unknown[] = ['42P01', '3F000']

/**
 * An index whose reads come from a replica. `caughtUp` resolves when the replica's index has everything that
 * the replica's ledger had: a replica that is behind shows the past, but one past in all reads.
 */
export function readByReplica(index: LedgerIndex, replica: IndexReplica): LedgerIndex {
  const { source, waitMs = 10_000 } = replica
  const database = inSchema(replica.database, quoteSchema(replica.schema))
  let known = 0n

  async function progress(): Promise<Progress> {
    try {
      const now = await readProgress(database)
      known = now.sequence
      return now
    } catch (error) {
      if (!(error instanceof Error && 'sqlState' in error && missing.includes(error.sqlState))) throw error
      throw new IndexError('INDEX_BEHIND', 'The replica does not have the index yet: try again later')
    }
  }

  async function hasAll(): Promise<boolean> {
    const { sequence, dropNumber, genesis } = await progress()
    const [accepted, dropped, outputs] = await Promise.all([
      source.accepted(sequence, 1),
      source.dropped(dropNumber, 1),
      genesis ? undefined : source.genesisOutputs(),
    ])
    return accepted.length === 0 && dropped.length === 0 && outputs === undefined
  }

  const catchUp = shareReads(async () => {
    if (await hasAll()) return
    await index.caughtUp()
    const wanted = await index.progress()
    for (const deadline = performance.now() + waitMs; performance.now() < deadline; ) {
      const now = await progress()
      if (now.sequence >= wanted.sequence && now.dropNumber >= wanted.dropNumber) return
      await sleep(pollMs)
    }
    throw new IndexError('INDEX_BEHIND', `The index of the replica is behind, at ${known}: try again later`)
  })

  return {
    ...index,
    ...openQueries(database),
    progress,
    async caughtUp(sequence) {
      if (sequence === undefined || known < sequence) await catchUp('')
    },
  }
}
