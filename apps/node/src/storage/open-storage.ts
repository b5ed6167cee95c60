import { mkdir, rename, rm } from 'node:fs/promises'
import { isDatabaseError } from '@ratatosk/database'
import { type EmbeddedDatabase, openEmbedded } from '@ratatosk/database/embedded'
import type { Log } from '@ratatosk/ports'
import {
  createSubmissionQueue,
  isQueueError,
  openQueueBackend,
  type QueueBackend,
  type QueueBackendOptions,
  type QueueWarning,
  type SubmissionQueue,
} from '@ratatosk/queue'
import { isStoreError, openStore, readStored, type Store, type StoredOptions } from '@ratatosk/store'
import pg from 'pg'
import type { Logger } from 'pino'
import type { NodeContext } from '../context.js'
import { StartError } from '../errors.js'
import { maskedUrl } from '../settings/read.js'
import type { Settings } from '../settings/schema.js'
import { refuseUnfinishedRestoration, takeDataDirectory } from './data-directory.js'
import { checkQueue, foreignQueue, otherLedger, remedyOfRedis, type StoredHead } from './stored-ledger.js'

/** The remedy for a store that this version cannot continue. */
export const beginAnew =
  'begin anew with another DATABASE_SCHEMA or, if DATABASE_URL is not set, another DATA_DIR.'

export interface Storage {
  readonly store: Store
  readonly queue: QueueBackend
  /** Set if the database is embedded: the data directory, which this process has locked. */
  readonly embedded?: { readonly directory: string }
  /** Where both are, for people; without credentials. */
  readonly places: { readonly store: string; readonly queue: string }
}

type RedisOptions = Extract<QueueBackendOptions, { kind: 'redis' }>

/** Where the database is. */
type Place = EmbeddedDatabase['place']

/** Sessions of a queue in the database, and of what listens to it. */
const queueSessions = 13

/**
 * Opens store and queue in their databases. Existing ones are checked first, and stay as they are if `check`
 * rejects.
 * @throws StartError `NODE_DATA_DIR`, `NODE_DATABASE` or `NODE_QUEUE`
 */
export async function openStorage(
  context: NodeContext,
  check: (stored: StoredHead) => Promise<void>,
): Promise<Storage> {
  const { settings, log, onClose } = context
  const { DATABASE_URL, DATABASE_SCHEMA: schema, REDIS_URL } = settings
  // A check, because the store that is created before the queue would be left behind.
  const bound = REDIS_URL === undefined ? undefined : await checkRedisQueue(settings, log)
  const embedded = DATABASE_URL === undefined ? await openEmbeddedDatabase(context) : undefined
  const place = embedded?.place ?? { url: DATABASE_URL ?? '' }
  const ledgerId = await checkStoreAt({ ...place, schema }, check)
  if (bound !== undefined && bound !== ledgerId) throw new StartError('NODE_QUEUE', otherLedger(settings))

  log.info('Start: opening the store and migrating its schema')
  const store = await openStoreAt(settings, place)
  onClose(() => store.close())
  if (embedded === undefined) await warnOfSettings(store, log)
  await checkQueue(context, (own) => opening(() => store.ledgerQueue(own)))

  log.info('Start: opening the queue')
  const queue = await openQueueAt(settings, place, log)
  onClose(() => queue.close(settings.SHUTDOWN_TIMEOUT_MS))
  queue.warnings().forEach(warnOfQueue(log))
  await bindQueue(settings, queue, store)

  const places = {
    store:
      embedded === undefined
        ? `${maskedUrl(DATABASE_URL ?? '')}, schema ${schema}`
        : `${embedded.description} in ${settings.DATA_DIR}`,
    queue:
      REDIS_URL === undefined
        ? "in the store's database"
        : `${maskedUrl(REDIS_URL)}, prefix ${settings.QUEUE_PREFIX}`,
  }
  return { store, queue, ...(embedded && { embedded }), places }
}

/** The consequence where a process that could do without DATA_DIR cannot use it. */
export const withoutDirectory = 'Until then, the output trie is in memory, and each start rebuilds it.'

/** The locked data directory. Undefined if another process has it: beside PostgreSQL, it can be rebuilt. */
export async function cacheDirectory(
  { settings, log, onClose }: NodeContext,
  { embedded }: Storage,
): Promise<string | undefined> {
  if (embedded !== undefined) return embedded.directory
  try {
    const { path, release } = await takeDataDirectory(settings.DATA_DIR)
    onClose(release)
    return path
  } catch (error) {
    if (!(error instanceof StartError)) throw error
    log.warn({}, `${error.message} ${withoutDirectory}`)
    return undefined
  }
}

async function openEmbeddedDatabase({
  settings,
  log,
  onClose,
}: NodeContext): Promise<EmbeddedDatabase & { readonly directory: string }> {
  const { path: directory, release } = await takeDataDirectory(settings.DATA_DIR)
  onClose(release)
  await refuseUnfinishedRestoration(directory)
  try {
    const maxConnections = settings.DATABASE_POOL_SIZE + queueSessions
    const database = await openEmbedded(directory, { maxConnections, log })
    onClose(database.close)
    return { ...database, directory }
  } catch (cause) {
    if (isDatabaseError(cause)) throw new StartError('NODE_DATA_DIR', cause.message)
    throw new StartError('NODE_DATA_DIR', `The store in "${directory}" cannot be opened.`, { cause })
  }
}

async function openStoreAt(settings: Settings, place: Place): Promise<Store> {
  const { DATABASE_SCHEMA: schema, DATABASE_POOL_SIZE: maxConnections } = settings
  const { DEAD_LETTER_MAX_BYTES: maxRejectionBytes } = settings
  return opening(() =>
    'url' in place
      ? openStore({ ...place, schema, maxConnections, maxRejectionBytes })
      : openStore({ ...place, schema, vacuumedSchemas: [indexSchema(settings)], maxRejectionBytes }),
  )
}

/**
 * Checks the store of a place, if there is one. Changes nothing.
 * @returns the id of its ledger
 * @throws StartError `NODE_DATABASE`, also if another version made the store, or a restoration did not end;
 *   what `check` throws
 */
export async function checkStoreAt(
  at: StoredOptions,
  check: (stored: StoredHead) => Promise<void>,
): Promise<string | undefined> {
  if ('url' in at) await refuseUnfinishedCopy(at.url, at.schema)
  return opening(() =>
    readStored(at, async (stored) => {
      if (stored !== undefined) await check(stored)
      return stored?.ledgerId
    }),
  )
}

/** @throws StartError `NODE_DATABASE` */
async function opening<T>(open: () => Promise<T>): Promise<T> {
  try {
    return await open()
  } catch (cause) {
    if (!isStoreError(cause)) throw cause
    const remedy =
      cause.code === 'STORE_SCHEMA_MISMATCH'
        ? `. Nothing was changed. Start the version that made it, or ${beginAnew}`
        : ''
    throw new StartError('NODE_DATABASE', `The store cannot be opened: ${cause.message}${remedy}`, { cause })
  }
}

export function indexSchema({ DATABASE_SCHEMA }: Settings): string {
  return `${DATABASE_SCHEMA}_index`
}

export function queueSchema({ DATABASE_SCHEMA }: Settings): string {
  return `${DATABASE_SCHEMA}_queue`
}

export function devnetSchema({ DATABASE_SCHEMA }: Pick<Settings, 'DATABASE_SCHEMA'>): string {
  return `${DATABASE_SCHEMA}_devnet`
}

/** Every schema that a node may have, its own first. */
export function nodeSchemas(settings: Settings): readonly string[] {
  return [settings.DATABASE_SCHEMA, indexSchema(settings), queueSchema(settings), devnetSchema(settings)]
}

/** Nothing that the server says keeps the node from starting. */
async function warnOfSettings(store: Store, log: Logger): Promise<void> {
  try {
    for (const { code, message } of await store.warnings()) log.warn({ code }, message)
  } catch (err) {
    log.warn({ err }, "PostgreSQL's settings could not be read")
  }
}

/**
 * Returns the ledger of a queue in Redis, if it has one. Changes nothing.
 * @throws StartError `NODE_QUEUE` if it cannot be opened, or is of another ledger
 */
async function checkRedisQueue(settings: Settings, log: Logger): Promise<string | undefined> {
  const queue = await openQueueAt(settings, undefined, log)
  const bound = await queue
    .boundLedger()
    .catch((cause) => {
      throw queueFault(settings, cause)
    })
    .finally(() => queue.close())
  const refusal = bound === undefined ? undefined : await foreignQueue(settings, bound)
  if (refusal !== undefined) throw new StartError('NODE_QUEUE', refusal)
  return bound
}

/**
 * Keeps processes of another ledger from the queue: they would take submissions that this node has accepted.
 * @throws StartError `NODE_QUEUE`
 */
async function bindQueue(settings: Settings, queue: QueueBackend, store: Store): Promise<void> {
  const ledgerId = await opening(() => store.ledgerId())
  try {
    await queue.bind(ledgerId)
  } catch (cause) {
    throw queueFault(settings, cause)
  }
}

function queueFault(settings: Settings, cause: unknown): StartError {
  const isOther = isQueueError(cause) && cause.code === 'QUEUE_LEDGER_CONFLICT'
  const message = isOther
    ? otherLedger(settings)
    : `The queue cannot be opened: ${messageOf(cause)}${adviceOn(settings, cause)}`
  return new StartError('NODE_QUEUE', message, { cause })
}

function adviceOn({ REDIS_URL }: Settings, cause: unknown): string {
  if (REDIS_URL === undefined) return ''
  const startIt =
    `Start Redis at ${maskedUrl(REDIS_URL)}, correct REDIS_URL, or unset it: the store's database then ` +
    'holds the queue.'
  return `. ${remedyOfRedis(cause, startIt)}`
}

async function openQueueAt(settings: Settings, place: Place | undefined, log: Logger): Promise<QueueBackend> {
  const { REDIS_URL } = settings
  const schema = queueSchema(settings)
  const server = REDIS_URL === undefined ? "The store's database" : `Redis at ${maskedUrl(REDIS_URL)}`
  const onError = logQueueErrors(log, server)
  try {
    if (REDIS_URL !== undefined)
      return await openRedisQueue(settings, REDIS_URL, { onError, onWarning: warnOfQueue(log) })
    if (place !== undefined && 'pglite' in place)
      return await openQueueBackend({ kind: 'pglite', pglite: place.pglite, schema, onError })
    return await openQueueBackend({ kind: 'postgres', url: place?.url ?? '', schema, onError })
  } catch (cause) {
    throw queueFault(settings, cause)
  }
}

/** Connects to Redis; this writes nothing. @throws QueueError */
export function openRedisQueue(
  { QUEUE_PREFIX: prefix }: Settings,
  url: string,
  on: Pick<RedisOptions, 'onError' | 'onWarning'> = {},
): Promise<QueueBackend> {
  return openQueueBackend({ kind: 'redis', url, prefix, ...on })
}

const warnOfQueue =
  (log: Logger) =>
  ({ code, message }: QueueWarning): void =>
    log.warn({ code }, message)

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** Milliseconds until the same message is logged again. */
const repeatMs = 30_000

/** Logs a queue's errors. While its server does not answer, equal ones are one counted line in 30 seconds. */
export function logQueueErrors(
  log: Pick<Log, 'warn'>,
  server: string,
  now: () => number = () => performance.now(),
): (error: Error) => void {
  const seen = new Map<string, { readonly loggedAt: number; since: number }>()
  return (err) => {
    const time = now()
    const known = seen.get(err.message)
    if (known !== undefined && time < known.loggedAt + repeatMs) {
      known.since++
      return
    }
    for (const [message, { loggedAt }] of seen) if (time >= loggedAt + repeatMs) seen.delete(message)
    seen.set(err.message, { loggedAt: time, since: 0 })
    log.warn(
      { err, ...(known?.since && { repeated: known.since }) },
      `${server} failed in a call of the queue`,
    )
  }
}

/** Opens a rebuildable folder. A damaged one is moved aside, replacing the last, and opened anew. */
export async function openRebuildable<Opened>(
  path: string,
  open: (path: string) => Promise<Opened>,
  log: Logger,
): Promise<Opened> {
  // Where PostgreSQL runs as another user, others can pass through the folder above.
  await mkdir(path, { mode: 0o700 }).catch(() => undefined)
  try {
    return await open(path)
  } catch (err) {
    if (!isDamage(err)) throw err
    const movedTo = `${path}.damaged`
    await rm(movedTo, { recursive: true, force: true })
    await rename(path, movedTo)
    log.warn({ err, path, movedTo }, 'Data that can be rebuilt are damaged: moved aside, and rebuilt')
    return open(path)
  }
}

/** Codes of folders that are damaged or hold something else, of the roots and of the follower's state. */
const damage: readonly unknown[] = ['ROOTS_STORE_CORRUPT', 'TRIE_STORE_CORRUPT']

function isDamage(error: unknown): boolean {
  return error instanceof Error && 'code' in error && damage.includes(error.code)
}

/** The clients' queue. The store notes failures of a queue in its database: the disk is the same. */
export function openSubmissions(
  settings: Settings,
  { queue, store }: Pick<Storage, 'queue' | 'store'>,
): SubmissionQueue {
  const submissions = createSubmissionQueue(queue, {
    maxWaiting: settings.QUEUE_MAX_WAITING,
    maxWaitingBytes: settings.QUEUE_MAX_WAITING_BYTES,
  })
  if (settings.REDIS_URL !== undefined) return submissions
  return {
    ...submissions,
    async add(cbor) {
      try {
        return await submissions.add(cbor)
      } catch (error) {
        store.noteFailure(error)
        throw error
      }
    },
  }
}

/** The mark of a restoration to PostgreSQL that has not ended: an empty schema with this comment. */
export const restorationMark = (schema: string) => ({
  name: `${schema}_restore`,
  comment: 'A restoration that has not ended',
})

/** Whether the database has the mark; the schema of another ledger may have its name. */
export async function hasRestorationMark(
  client: { query(text: string, values: string[]): Promise<{ readonly rows: readonly object[] }> },
  schema: string,
): Promise<boolean> {
  const { name, comment } = restorationMark(schema)
  const { rows } = await client.query(
    `SELECT 1 FROM pg_namespace WHERE nspname = $1 AND obj_description(oid, 'pg_namespace') = $2`,
    [name, comment],
  )
  return rows.length > 0
}

/**
 * Keeps a node from what a restoration that was killed has left: a copy with the queue of the original, or
 * one that the next restoration replaces.
 * @throws StartError `NODE_DATABASE`
 */
async function refuseUnfinishedCopy(url: string, schema: string): Promise<void> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 10_000 })
  client.on('error', () => undefined)
  try {
    await client.connect()
  } catch {
    // Opening the store says why.
    return
  }
  try {
    if (!(await hasRestorationMark(client, schema))) return
  } finally {
    await client.end()
  }
  throw new StartError(
    'NODE_DATABASE',
    `${maskedUrl(url)} has the schema ${restorationMark(schema).name}, of a restoration that did not end. ` +
      'Run `ratatosk restore` again, which replaces what it left.',
  )
}
