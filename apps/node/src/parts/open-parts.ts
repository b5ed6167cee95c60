import { mkdir, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { PGlite } from '@electric-sql/pglite'
import { openQueueBackend, type QueueBackend } from '@ratatosk/queue'
import { openStore, type Store } from '@ratatosk/store'
import type { Logger } from 'pino'
import { StartError } from '../errors.js'
import { maskedUrl } from '../settings/masked.js'
import type { Settings } from '../settings/schema.js'
import type { ClosingStack } from './closing-stack.js'
import { takeDataDirectory } from './data-directory.js'

/** What a node is made of beside its server. */
export interface Parts {
  readonly store: Store
  readonly queue: QueueBackend
  /** Where the store and the queue are embedded: their database, and the directory that this process alone uses. */
  readonly embedded?: { readonly pglite: PGlite; readonly directory: string }
  /** Where the two are, for people; without credentials. */
  readonly places: { readonly store: string; readonly queue: string }
}

/**
 * Opens store and queue where the settings say: PostgreSQL or an embedded PGlite, Redis or the queue's own tables in
 * the same database.
 *
 * @param closing closes what was opened, also when a later part fails
 * @throws StartError
 */
export async function openParts(settings: Settings, log: Logger, closing: ClosingStack): Promise<Parts> {
  const { DATABASE_URL, REDIS_URL, DATABASE_SCHEMA } = settings
  const embedded =
    DATABASE_URL === undefined ? await openEmbedded(settings.DATA_DIR, log, closing) : undefined
  const pglite = embedded?.pglite

  const store = await openStoreAt(settings, pglite)
  closing.defer(() => store.close())

  const queue = await openQueueAt(settings, pglite, log)
  closing.defer(() => queue.close(settings.SHUTDOWN_TIMEOUT_MS))
  for (const { code, message } of queue.warnings()) log.warn({ code }, message)

  const storePlace =
    DATABASE_URL === undefined
      ? `embedded PostgreSQL in ${settings.DATA_DIR}`
      : `${maskedUrl(DATABASE_URL)}, schema ${DATABASE_SCHEMA}`
  const queuePlace =
    REDIS_URL === undefined ? 'in the store' : `${maskedUrl(REDIS_URL)}, prefix ${settings.QUEUE_PREFIX}`
  return { store, queue, ...(embedded && { embedded }), places: { store: storePlace, queue: queuePlace } }
}

/**
 * The directory that this process has to itself; undefined where another process has it, which does no harm where it would
 * only keep what can be made anew.
 */
export async function directoryOf(
  { DATA_DIR }: Settings,
  { embedded }: Parts,
  log: Logger,
  closing: ClosingStack,
): Promise<string | undefined> {
  if (embedded !== undefined) return embedded.directory
  try {
    const { path, release } = await takeDataDirectory(DATA_DIR)
    closing.defer(release)
    return path
  } catch (error) {
    if (!(error instanceof StartError)) throw error
    log.info({ reason: error.message }, 'The trie of outputs is kept in memory, and made anew at each start')
    return undefined
  }
}

async function openEmbedded(
  directory: string,
  log: Logger,
  closing: ClosingStack,
): Promise<NonNullable<Parts['embedded']>> {
  const { path, release } = await takeDataDirectory(directory)
  closing.defer(release)
  try {
    const pglite = await openPGlite(join(path, 'store'), log)
    closing.defer(() => pglite.close())
    return { pglite, directory: path }
  } catch (cause) {
    throw new StartError('NODE_DATA_DIR', `The embedded PostgreSQL in "${path}" cannot be opened.`, { cause })
  }
}

/** A new database is made aside, so that a process killed in the middle of it leaves nothing half made. */
async function openPGlite(path: string, log: Logger): Promise<PGlite> {
  if (!(await exists(path))) {
    log.info('Making the embedded PostgreSQL: a few seconds, the first time only')
    const aside = `${path}.new`
    await rm(aside, { recursive: true, force: true })
    await mkdir(aside)
    await (await PGlite.create(aside)).close()
    await rename(aside, path)
  }
  return PGlite.create(path)
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  )
}

async function openStoreAt(settings: Settings, pglite: PGlite | undefined): Promise<Store> {
  const { DATABASE_URL: url, DATABASE_SCHEMA: schema, DATABASE_POOL_SIZE: maxConnections } = settings
  try {
    if (pglite !== undefined) return await openStore({ pglite, schema })
    return await openStore({ url: url ?? '', schema, maxConnections })
  } catch (cause) {
    throw new StartError('NODE_DATABASE', `The store cannot be opened: ${messageOf(cause)}`, { cause })
  }
}

async function openQueueAt(
  settings: Settings,
  pglite: PGlite | undefined,
  log: Logger,
): Promise<QueueBackend> {
  const { DATABASE_URL, REDIS_URL, QUEUE_PREFIX: prefix, DATABASE_SCHEMA } = settings
  const schema = `${DATABASE_SCHEMA}_queue`
  const onError = (err: Error) => log.warn({ err }, 'The queue reports an error')
  try {
    if (REDIS_URL !== undefined) {
      return await openQueueBackend({ kind: 'redis', url: REDIS_URL, prefix, onError })
    }
    if (pglite !== undefined) return await openQueueBackend({ kind: 'pglite', pglite, schema, onError })
    return await openQueueBackend({ kind: 'postgres', url: DATABASE_URL ?? '', schema, onError })
  } catch (cause) {
    throw new StartError('NODE_QUEUE', `The queue cannot be opened: ${messageOf(cause)}`, { cause })
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
