import { chmod, constants, cp, readdir, realpath, rm, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { embeddedFolder, endLeftOver, openEmbedded } from '@ratatosk/database/embedded'
import { isQueueError } from '@ratatosk/queue'
import { isStoreError, readStored, type Store, type StoredLedger } from '@ratatosk/store'
import type { NodeContext } from '../context.js'
import { StartError } from '../errors.js'
import { loadProtocolParameters } from '../network/network.js'
import { maskedUrl } from '../settings/read.js'
import type { Settings } from '../settings/schema.js'
import { codeOf } from './data-directory.js'

/** The facts that decide whether a node may continue a store. */
export type StoredHead = Pick<
  StoredLedger,
  'newest' | 'archivedHeader' | 'ledgerVersion' | 'ledgerRules' | 'ledgerQueue' | 'database'
>

/** For work that only a message at its end reports. */
export const silent = { debug() {}, info() {}, warn() {}, error() {} }

/**
 * Reads an embedded store that no process uses, from a copy below `directory`: PostgreSQL changes files even
 * when it reads.
 * @throws StartError `NODE_DATA_DIR` if there is no room for the copy
 */
export async function readEmbedded<T>(
  folder: string,
  schema: string,
  directory: string,
  read: (stored: StoredLedger | undefined) => Promise<T>,
): Promise<T> {
  const copy = join(directory, basename(folder))
  const { mode } = await stat(directory)
  try {
    await endLeftOver(folder)
    await copyStore(folder, copy)
    const { place, close } = await openEmbedded(directory, { log: silent })
    try {
      return await readStored({ ...place, schema }, read)
    } finally {
      await close()
    }
  } finally {
    await rm(copy, { recursive: true, force: true })
    await chmod(directory, mode)
  }
}

/** Follows links: a copy of a link would be the store itself. */
async function copyStore(store: string, copy: string): Promise<void> {
  try {
    // A file system that can share the blocks of a file does not copy them.
    const options = { recursive: true, dereference: true, mode: constants.COPYFILE_FICLONE }
    await cp(await realpath(store), copy, options)
  } catch (cause) {
    if (!['ENOSPC', 'EDQUOT'].includes(codeOf(cause))) throw cause
    const mebibytes = Math.ceil((await sizeOf(store)) / 2 ** 20)
    throw new StartError(
      'NODE_DATA_DIR',
      `"${dirname(copy)}" has no room for a copy of the store, which takes ${mebibytes} MiB. Nothing was ` +
        'changed. Free this space, and start again.',
      { cause },
    )
  }
}

/** Bytes of all files in a folder. */
async function sizeOf(folder: string): Promise<number> {
  let bytes = 0
  for (const name of await readdir(folder, { recursive: true }))
    bytes += (await stat(join(folder, name))).size
  return bytes
}

/**
 * The context at the ledger version of the deployment.
 * @throws StartError `NODE_DATABASE`, with what to do, for another version; SettingsError if the node does
 *   not include its parameters
 */
export async function atLedgerVersion(
  context: NodeContext,
  store: Pick<Store, 'ledgerVersion'>,
): Promise<NodeContext> {
  const { major } = context.parameters.ledgerVersion
  return contextAt(context, await store.ledgerVersion(major))
}

/** The latest result of {@link contextAt}: a start asks for it repeatedly. */
const kept = new WeakMap<NodeContext, NodeContext>()

/** The context at a deployment's version, or of a new one. Throws as {@link atLedgerVersion}. */
export async function contextAt(context: NodeContext, began: number | undefined): Promise<NodeContext> {
  const { settings, parameters, log } = context
  const { major } = parameters.ledgerVersion
  const { LEDGER_VERSION } = settings
  if (began === undefined || began === major) return context
  if (!isStated(settings)) {
    const known = kept.get(context)
    if (known?.parameters.ledgerVersion.major === began) return known
    log.info({ ledgerVersion: began }, 'The deployment keeps the ledger version with which it began')
    const found = { ...context, parameters: await loadProtocolParameters(settings, began) }
    kept.set(context, found)
    return found
  }
  const cause =
    LEDGER_VERSION === undefined
      ? `PROTOCOL_PARAMETERS_FILE has parameters of version ${major}: name a file of version ${began}`
      : `LEDGER_VERSION is ${LEDGER_VERSION}: unset it`
  throw new StartError(
    'NODE_DATABASE',
    `The deployment in this database began with ledger version ${began} and keeps it, but ${cause}, or ` +
      'begin a new deployment with another DATABASE_SCHEMA or, if DATABASE_URL is not set, another DATA_DIR.',
  )
}

function isStated({ LEDGER_VERSION, PROTOCOL_PARAMETERS_FILE }: Settings): boolean {
  return LEDGER_VERSION !== undefined || PROTOCOL_PARAMETERS_FILE !== undefined
}

/**
 * Why a start would refuse the queue in Redis of the ledger `bound`: it would continue another ledger, or
 * begin one. Undefined also if only the start can tell. Changes nothing.
 */
export async function foreignQueue(settings: Settings, bound: string): Promise<string | undefined> {
  const { DATABASE_URL: url, DATABASE_SCHEMA: schema, DATA_DIR } = settings
  if (url === undefined)
    return (await embeddedFolder(DATA_DIR)) === undefined ? otherLedger(settings) : undefined
  try {
    const own = await readStored({ url, schema }, async (stored) => stored?.ledgerId)
    return own === bound ? undefined : otherLedger(settings)
  } catch (error) {
    if (!isStoreError(error)) throw error
    return undefined
  }
}

/** The refusal of a queue of another ledger, with what to do. */
export function otherLedger(settings: Settings): string {
  const { QUEUE_PREFIX, DATABASE_URL, DATABASE_SCHEMA, DATA_DIR } = settings
  const [place, names] =
    DATABASE_URL === undefined
      ? [`"${DATA_DIR}", schema ${DATABASE_SCHEMA}`, 'DATA_DIR or DATABASE_SCHEMA']
      : [`${maskedUrl(DATABASE_URL)}, schema ${DATABASE_SCHEMA}`, 'DATABASE_URL or DATABASE_SCHEMA']
  return (
    `QUEUE_PREFIX is "${QUEUE_PREFIX}", but the queue in Redis with this prefix belongs to another ledger ` +
    `than the one in ${place}. It was not touched. Correct ${names}, or set another QUEUE_PREFIX: the copy ` +
    'of a ledger needs one of its own. If the other ledger is gone for good, run ' +
    `${freeingQueue(settings)}: this ledger then takes the queue, and validates the submissions that wait ` +
    'in it.'
  )
}

/** The command that frees a queue in Redis of its ledger, for another one to take it. */
export function freeingQueue({
  REDIS_URL,
  QUEUE_PREFIX,
}: Pick<Settings, 'REDIS_URL' | 'QUEUE_PREFIX'>): string {
  const server = REDIS_URL === undefined ? '' : ` -u ${maskedUrl(REDIS_URL)}`
  return `\`redis-cli${server} del "${QUEUE_PREFIX}:ledger"\``
}

/** SQL that makes a copy of a store, such as one by pg_dump, a ledger of its own. */
export function separation(schema: string): string {
  return `\`UPDATE ${schema}.deployment SET ledger_id = gen_random_uuid(), queue = NULL\``
}

/** The queue of the settings, as the store records it: without hosts, whose names differ by process. */
function queueOf({ REDIS_URL, QUEUE_PREFIX }: Settings): string {
  if (REDIS_URL === undefined) return "in the store's database"
  const { pathname, searchParams } = new URL(REDIS_URL)
  const database = Number(pathname.slice(1) || (searchParams.get('db') ?? 0))
  return `in database ${database} of Redis, with prefix "${QUEUE_PREFIX}"`
}

/**
 * Refuses another queue than that of the other processes on the store: nothing would validate what waits in
 * it. The first one decides. An embedded store has one process, and an archive needs no queue.
 *
 * @throws StartError `NODE_QUEUE`
 */
export async function checkQueue(
  { settings, duties }: Pick<NodeContext, 'settings' | 'duties'>,
  recorded: (own: string) => Promise<string> | string | undefined,
): Promise<void> {
  const { DATABASE_URL, DATABASE_SCHEMA } = settings
  if (DATABASE_URL === undefined || duties.bodies === 'archive') return
  const own = queueOf(settings)
  const kept = (await recorded(own)) ?? own
  if (kept === own) return
  throw new StartError(
    'NODE_QUEUE',
    `The queue of the ledger in ${maskedUrl(DATABASE_URL)}, schema ${DATABASE_SCHEMA} is ${kept}, but here ` +
      `it is ${own}: nobody would validate its submissions. Correct REDIS_URL or QUEUE_PREFIX. To move the ` +
      'queue, let the processes empty it, stop them all, run ' +
      `\`UPDATE ${DATABASE_SCHEMA}.deployment SET queue = NULL\` in PostgreSQL, and start with the other. ` +
      'In a copy of the database that `ratatosk restore` did not make, run ' +
      `${separation(DATABASE_SCHEMA)} instead: with the queue of the original, the copy would take ` +
      'submissions from it.',
  )
}

/** The remedy for a Redis that cannot be used. */
export function remedyOfRedis(error: unknown, startIt: string): string {
  if (isQueueError(error) && error.code === 'QUEUE_CONFIGURATION')
    return (
      'Correct the database at the end of REDIS_URL, or omit it: deployments on one Redis need no database ' +
      'of their own, but a QUEUE_PREFIX of their own.'
    )
  return startIt
}
