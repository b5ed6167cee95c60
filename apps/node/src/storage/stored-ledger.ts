import { chmod, constants, cp, readdir, realpath, rm, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { endLeftOver, openEmbedded } from '@ratatosk/database/embedded'
import { readStored, type Store, type StoredLedger } from '@ratatosk/store'
import type { NodeContext } from '../context.js'
import { StartError } from '../errors.js'
import { loadProtocolParameters } from '../network/protocol-parameters.js'
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
