import { mkdir, readdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { PGlite } from '@electric-sql/pglite'
import { openQueueBackend, type QueueBackend } from '@ratatosk/queue'
import { isStoreError, openStore, readStored, type Store } from '@ratatosk/store'
import type { Logger } from 'pino'
import type { NodeContext } from '../context.js'
import { isSettingsError, StartError } from '../errors.js'
import { maskedUrl } from '../settings/read.js'
import type { Settings } from '../settings/schema.js'
import { takeDataDirectory } from './data-directory.js'
import { createDatabase } from './empty-database.js'
import { logQueueErrors } from './queue-errors.js'
import { deploymentRecord, isEmbeddedStore, readEmbedded, type StoredHead } from './stored-ledger.js'

/** What to do about a store that this version cannot continue. */
export const beginAnew =
  'begin anew with another DATABASE_SCHEMA or, if DATABASE_URL is not set, another DATA_DIR.'

/** The store and the queue of a node. */
export interface Storage {
  readonly store: Store
  readonly queue: QueueBackend
  /** Set if the store is embedded: its database, and the data directory that this process has locked. */
  readonly embedded?: { readonly pglite: PGlite; readonly directory: string }
  /** Where both are, for people; without credentials. */
  readonly places: { readonly store: string; readonly queue: string }
}

/** Whether a node may open a store. */
interface StoreCheck {
  /** Names what the check depends on. */
  readonly deployment: string
  /** Rejects if it may not. */
  check(stored: StoredHead): Promise<void>
}

/**
 * Opens the store, in PostgreSQL or an embedded PGlite, and the queue, in Redis or in the store's database.
 * What exists is checked first, and stays as it is if the check rejects.
 *
 * @throws StartError `NODE_DATA_DIR`, `NODE_DATABASE` or `NODE_QUEUE`
 */
export async function openStorage(context: NodeContext, check: StoreCheck): Promise<Storage> {
  const { settings, log, onClose } = context
  const { DATABASE_URL, REDIS_URL } = settings
  // A check, because the store that is created before the queue would be left behind.
  if (REDIS_URL !== undefined) await (await openQueueAt(settings, undefined, log)).close()
  const embedded = DATABASE_URL === undefined ? await openEmbedded(context, check) : undefined
  if (DATABASE_URL !== undefined)
    await opening(() =>
      readStored({ url: DATABASE_URL, schema: settings.DATABASE_SCHEMA }, (stored) => checked(stored, check)),
    )

  log.info('Start: opening the store and migrating its schema')
  const store = await openStoreAt(settings, embedded?.pglite)
  onClose(() => store.close())
  await warnOfSettings(store, log)

  log.info('Start: opening the queue')
  const queue = await openQueueAt(settings, embedded?.pglite, log)
  onClose(() => queue.close(settings.SHUTDOWN_TIMEOUT_MS))
  for (const { code, message } of queue.warnings()) log.warn({ code }, message)

  const places = {
    store:
      DATABASE_URL === undefined
        ? `embedded PostgreSQL in ${settings.DATA_DIR}`
        : `${maskedUrl(DATABASE_URL)}, schema ${settings.DATABASE_SCHEMA}`,
    queue:
      REDIS_URL === undefined
        ? "in the store's database"
        : `${maskedUrl(REDIS_URL)}, prefix ${settings.QUEUE_PREFIX}`,
  }
  return { store, queue, ...(embedded && { embedded }), places }
}

/**
 * The data directory, locked for this process. Undefined if another process has locked it: beside PostgreSQL,
 * it only holds what can be rebuilt.
 */
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
    log.info({ reason: error.message }, 'The output trie is kept in memory and rebuilt at each start')
    return undefined
  }
}

async function checked(stored: StoredHead | undefined, { check }: StoreCheck): Promise<void> {
  if (stored !== undefined) await check(stored)
}

async function openEmbedded(
  { settings, log, onClose }: NodeContext,
  check: StoreCheck,
): Promise<NonNullable<Storage['embedded']>> {
  const { DATABASE_SCHEMA: schema } = settings
  const { path, release } = await takeDataDirectory(settings.DATA_DIR)
  onClose(release)
  const store = join(path, 'store')
  const record = deploymentRecord(store)
  const { deployment } = check
  try {
    const copy = `${store}.copy`
    // Left by a start that was killed.
    await rm(copy, { recursive: true, force: true })
    const recorded = await record.read()
    const isKnown = recorded === deployment || recorded === ''
    if (!isKnown && (await isEmbeddedStore(store))) {
      log.info('Start: reading a copy of the store, to learn whether this node can continue it')
      await opening(() => readEmbedded(store, schema, copy, (stored) => checked(stored, check)))
    }
    const pglite = await openPGlite(store, log)
    onClose(() => pglite.close())
    if (isKnown) await opening(() => readStored({ pglite, schema }, (stored) => checked(stored, check)))
    if (recorded !== deployment) await record.write(deployment)
    return { pglite, directory: path }
  } catch (cause) {
    if (cause instanceof StartError || isSettingsError(cause)) throw cause
    throw new StartError('NODE_DATA_DIR', `The embedded PostgreSQL in "${path}" cannot be opened.`, { cause })
  }
}

/**
 * Creates a new database under another name first, so that a process killed meanwhile leaves no partial
 * database.
 */
async function openPGlite(path: string, log: Logger): Promise<PGlite> {
  const isStore = await isEmbeddedStore(path)
  // PGlite would create a database over what is left of the old one.
  if (!isStore && !(await isEmpty(path)))
    throw new StartError(
      'NODE_DATA_DIR',
      `The folder "${path}" is not empty, but it has no file PG_VERSION: it is damaged, or not a store. ` +
        'Restore it from a backup, or move it elsewhere and start again, which begins a new ledger.',
    )
  if (!isStore) {
    log.info('Start: creating the embedded PostgreSQL')
    const temporary = `${path}.new`
    await rm(temporary, { recursive: true, force: true })
    await mkdir(temporary)
    await createDatabase(temporary)
    await deploymentRecord(temporary).write('')
    await rename(temporary, path)
  }
  log.info('Start: opening the embedded PostgreSQL')
  return PGlite.create(path)
}

/** Also if there is no such folder. */
async function isEmpty(path: string): Promise<boolean> {
  return readdir(path).then(
    (names) => names.length === 0,
    () => true,
  )
}

async function openStoreAt(settings: Settings, pglite: PGlite | undefined): Promise<Store> {
  const { DATABASE_URL: url, DATABASE_SCHEMA: schema, DATABASE_POOL_SIZE: maxConnections } = settings
  const { DEAD_LETTER_MAX_BYTES: maxRejectionBytes } = settings
  return opening(() => {
    if (pglite === undefined) return openStore({ url: url ?? '', schema, maxConnections, maxRejectionBytes })
    const vacuumedSchemas = [indexSchema(settings)]
    return openStore({ pglite, schema, vacuumedSchemas, maxRejectionBytes })
  })
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

/** The schema of the index's tables. */
export function indexSchema({ DATABASE_SCHEMA }: Settings): string {
  return `${DATABASE_SCHEMA}_index`
}

/** The schema of the queue's tables. */
export function queueSchema({ DATABASE_SCHEMA }: Settings): string {
  return `${DATABASE_SCHEMA}_queue`
}

/** The schema of the tables of a devnet. */
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

async function openQueueAt(
  settings: Settings,
  pglite: PGlite | undefined,
  log: Logger,
): Promise<QueueBackend> {
  const { DATABASE_URL, REDIS_URL } = settings
  const schema = queueSchema(settings)
  const server = REDIS_URL === undefined ? "The store's database" : `Redis at ${maskedUrl(REDIS_URL)}`
  const onError = logQueueErrors(log, server)
  try {
    if (REDIS_URL !== undefined) return await openRedisQueue(settings, REDIS_URL, onError)
    if (pglite !== undefined) return await openQueueBackend({ kind: 'pglite', pglite, schema, onError })
    return await openQueueBackend({ kind: 'postgres', url: DATABASE_URL ?? '', schema, onError })
  } catch (cause) {
    const advice =
      REDIS_URL === undefined
        ? ''
        : `. Start Redis at ${maskedUrl(REDIS_URL)}, correct REDIS_URL, or unset it: the store's database ` +
          'then holds the queue.'
    throw new StartError('NODE_QUEUE', `The queue cannot be opened: ${messageOf(cause)}${advice}`, { cause })
  }
}

/** Connects to Redis; this writes nothing. @throws QueueError */
export function openRedisQueue(
  { QUEUE_PREFIX: prefix }: Settings,
  url: string,
  onError: (error: Error) => void = () => undefined,
): Promise<QueueBackend> {
  return openQueueBackend({ kind: 'redis', url, prefix, onError })
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
