import { setTimeout as sleep } from 'node:timers/promises'
import {
  bool,
  type Database,
  inSchema,
  int8,
  nullable,
  openPostgres,
  sql,
  statement,
  text,
} from '@ratatosk/database'
import { shareAnswers } from '@ratatosk/http'
import { isStoreError, openStore, type Store } from '@ratatosk/store'
import type { NodeContext } from '../context.js'
import { StartError } from '../errors.js'
import { maskedUrl } from '../settings/read.js'
import type { Settings } from '../settings/schema.js'

/** Knows how far a replica is behind, by positions in the log that its primary writes. */
interface ReplicaLag {
  /** Notes where the log of the primary ended at a time. */
  flushed(position: bigint, at: number): void
  /** Notes that the replica has replayed the log up to a position. */
  replayed(position: bigint): void
  /** Milliseconds: the replica shows everything that was committed before. Undefined before it is known. */
  ms(): number | undefined
}

interface Mark {
  readonly position: bigint
  at: number
}

/** How many marks wait to be replayed at most; beyond it, every second one is forgotten. */
const mostMarks = 512

/**
 * The marks are times of one clock, this process's, so that neither an idle primary nor a clock that is wrong
 * makes a replica look better than it is.
 */
export function trackReplicaLag(now: () => number): ReplicaLag {
  let marks: Mark[] = []
  let shownAt: number | undefined
  return {
    flushed(position, at) {
      const last = marks.at(-1)
      if (last?.position === position) last.at = at
      else {
        // Another server has become the primary.
        if (last !== undefined && position < last.position) marks = []
        marks.push({ position, at })
      }
      if (marks.length > mostMarks) marks = marks.filter((_, place) => place % 2 === 0)
    },
    replayed(position) {
      const place = marks.findLastIndex((mark) => mark.position <= position)
      const mark = marks[place]
      if (mark === undefined) return
      shownAt = mark.at
      marks = marks.slice(place + 1)
    },
    ms: () => (shownAt === undefined ? undefined : now() - shownAt),
  }
}

/** The server of DATABASE_READ_URL. */
export interface Replica {
  /** For reads: a replica refuses to write. */
  readonly store: Store
  /** Milliseconds: it shows everything that was committed before. `Infinity` if that is not known. */
  lagMs(): number
  /** The reason not to serve from it, such as how far it is behind; undefined if there is none. */
  fault(): string | undefined
  /** Waits until it shows what is committed now, or for a second. */
  caughtUp(): Promise<void>
}

const pollMs = 500
/** How long a start waits for the tables. */
const tablesMs = 10_000
const catchUpMs = 1000
const inspectMs = 5000
const catchUpPollMs = 10

const system = `(SELECT system_identifier::text FROM pg_control_system()) AS system`
const primaryState = statement(
  { position: int8, time: int8, system: text },
  sql`SELECT pg_wal_lsn_diff(pg_current_wal_flush_lsn(), '0/0')::bigint AS position,
    (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS time, ${system}`,
)
const replicaState = statement(
  { standby: bool, position: nullable(int8), replayedUntil: nullable(int8), feedback: bool, system: text },
  sql`SELECT pg_is_in_recovery() AS standby,
    pg_wal_lsn_diff(pg_last_wal_replay_lsn(), '0/0')::bigint AS position,
    (extract(epoch FROM pg_last_xact_replay_timestamp()) * 1000)::bigint AS "replayedUntil",
    current_setting('hot_standby_feedback') = 'on' AS feedback, ${system}`,
)

/**
 * Opens the replica of the settings, and measures until the node closes how far it is behind; undefined
 * without DATABASE_READ_URL. One that is far behind is opened.
 *
 * @throws StartError `NODE_DATABASE` if it cannot be read, or is no replica of `primary`
 */
export async function openReplica(
  { settings, log, onClose }: Pick<NodeContext, 'settings' | 'log' | 'onClose'>,
  primary: Store,
): Promise<Replica | undefined> {
  const { DATABASE_READ_URL: url, REPLICA_MAX_LAG_MS } = settings
  if (url === undefined) return undefined
  log.info('Start: opening the replica')
  const store = await openTables(settings, url)
  onClose(() => store.close())
  const watch = watchReplica(asDatabase(primary), asDatabase(store))
  onClose(async () => watch.close())
  const fault = await watch.polled()
  if (fault !== undefined) throw refusal(url, fault)
  const warning = watch.warning()
  if (warning !== undefined) log.warn(warning)

  async function catchUp(): Promise<void> {
    const [wanted] = await asDatabase(primary).query(primaryState)
    for (const deadline = performance.now() + catchUpMs; performance.now() < deadline; ) {
      const [now] = await asDatabase(store).query(replicaState)
      if (wanted !== undefined && (now?.position ?? 0n) >= wanted.position) return
      await sleep(catchUpPollMs)
    }
  }

  const shared = shareAnswers<void>(0)
  return {
    store,
    lagMs: watch.lagMs,
    fault() {
      const reason = watch.fault()
      if (reason !== undefined && watch.isDefinite()) return reason
      const lagMs = watch.lagMs()
      if (lagMs <= REPLICA_MAX_LAG_MS) return undefined
      const by = Number.isFinite(lagMs) ? `up to ${Math.round(lagMs / 1000)} s` : 'an unknown time'
      return `the replica of DATABASE_READ_URL is ${by} behind${reason === undefined ? '' : `: ${reason}`}`
    },
    caughtUp: () => shared('', catchUp),
  }
}

/** The result of one comparison of a replica with its primary. */
export interface ReplicaInspection {
  readonly fault: string | undefined
  readonly warning: string | undefined
  readonly lagMs: number
}

/** Compares a replica with its primary once. Changes nothing. */
export async function inspectReplica(primaryUrl: string, replicaUrl: string): Promise<ReplicaInspection> {
  const drivers = [primaryUrl, replicaUrl].map((url) =>
    openPostgres({ url, maxConnections: 1, connectTimeoutMs: inspectMs, statementTimeoutMs: inspectMs }),
  )
  const [primary, replica] = drivers.map((driver) => inSchema(driver, '"public"')) as [Database, Database]
  const watch = watchReplica(primary, replica)
  try {
    const fault = await watch.polled()
    return { fault, warning: watch.warning(), lagMs: watch.lagMs() }
  } finally {
    watch.close()
    await Promise.all(drivers.map((driver) => driver.close()))
  }
}

function refusal(url: string, reason: string, cause?: unknown): StartError {
  const message = `The replica of DATABASE_READ_URL, ${maskedUrl(url)}, cannot be used: ${reason}.`
  return new StartError('NODE_DATABASE', message, cause === undefined ? undefined : { cause })
}

/** Waits for tables that the primary may have got a moment ago. */
async function openTables(settings: Settings, url: string): Promise<Store> {
  const { DATABASE_SCHEMA: schema, DATABASE_POOL_SIZE: maxConnections } = settings
  for (const deadline = performance.now() + tablesMs; ; ) {
    try {
      return await openStore({ url, schema, maxConnections, readOnly: true })
    } catch (error) {
      if (!isStoreError(error)) throw error
      if (error.code !== 'STORE_SCHEMA_MISMATCH' || performance.now() > deadline)
        throw refusal(url, error.message, error)
      await sleep(pollMs)
    }
  }
}

const asDatabase = ({ database }: Pick<Store, 'database'>): Database => inSchema(database, '"public"')

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

/** Says of an error which server it is about. */
async function failingWith<T>(fault: string, asked: Promise<T>): Promise<T> {
  try {
    return await asked
  } catch (cause) {
    throw new Error(`${fault} (${messageOf(cause)})`, { cause })
  }
}

/** Compares a replica with its primary twice a second. */
function watchReplica(primary: Database, replica: Database) {
  const now = () => performance.now()
  const lag = trackReplicaLag(now)
  let reason: string | undefined
  /** Whether the reason is no matter of time. */
  let isDefinite = false
  let hasFeedback = true
  /** Of the first comparison, by the clock of the primary: more than the truth, if that was idle. */
  let first: { readonly behindMs: number; readonly at: number } | undefined

  async function compare(): Promise<void> {
    const at = now()
    const [here] = await failingWith(
      'the server of DATABASE_URL does not answer',
      primary.query(primaryState),
    )
    if (here === undefined) return
    lag.flushed(here.position, at)
    const [there] = await failingWith('it does not answer', replica.query(replicaState))
    if (there === undefined) return
    hasFeedback = there.feedback
    isDefinite = !there.standby || there.position === null || there.system !== here.system
    if (!there.standby) reason = 'the server of DATABASE_READ_URL is no replica: it takes writes'
    else if (there.system !== here.system)
      reason = 'the server of DATABASE_READ_URL is no replica of that of DATABASE_URL'
    else if (there.position === null)
      reason = 'the server of DATABASE_READ_URL does not say how far it has replayed'
    else {
      reason = undefined
      lag.replayed(there.position)
      if (there.replayedUntil !== null)
        first ??= { behindMs: Math.max(0, Number(here.time - there.replayedUntil)), at }
    }
  }

  let timer: NodeJS.Timeout | undefined
  let isClosed = false
  function poll(): Promise<void> {
    return compare()
      .catch((error: unknown) => {
        isDefinite = false
        reason = messageOf(error)
      })
      .finally(() => {
        if (!isClosed) timer = setTimeout(poll, pollMs).unref()
      })
  }

  return {
    async polled(): Promise<string | undefined> {
      await poll()
      return reason
    },
    lagMs: () =>
      lag.ms() ?? (first === undefined ? Number.POSITIVE_INFINITY : first.behindMs + now() - first.at),
    fault: () => reason,
    isDefinite: () => isDefinite,
    warning: () =>
      hasFeedback
        ? undefined
        : "The replica's hot_standby_feedback is off: PostgreSQL may end long reads; set it to on",
    close(): void {
      isClosed = true
      clearTimeout(timer)
    },
  }
}
