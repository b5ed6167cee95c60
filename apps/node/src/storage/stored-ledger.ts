import { constants, cp, readdir, readFile, realpath, rename, rm, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { PGlite } from '@electric-sql/pglite'
import { readStored, type StoredLedger } from '@ratatosk/store'
import { StartError } from '../errors.js'

/** What of a store shows whether a node can continue its deployment. */
export type StoredHead = Pick<StoredLedger, 'newest' | 'archivedHeader' | 'ledgerVersion' | 'database'>

/** Whether a folder has an embedded PostgreSQL. */
export async function isEmbeddedStore(path: string): Promise<boolean> {
  return stat(join(path, 'PG_VERSION')).then(
    () => true,
    () => false,
  )
}

/**
 * Reads an embedded store that no process uses. PostgreSQL changes files also when it only reads, so it opens
 * a copy.
 *
 * @param copy a folder that does not exist, and does not exist afterwards
 * @throws StartError `NODE_DATA_DIR` if there is no room for the copy
 */
export async function readEmbedded<T>(
  store: string,
  schema: string,
  copy: string,
  read: (stored: StoredLedger | undefined) => Promise<T>,
): Promise<T> {
  try {
    await copyStore(store, copy)
    const pglite = await PGlite.create(copy)
    try {
      return await readStored({ pglite, schema }, read)
    } finally {
      await pglite.close()
    }
  } finally {
    await rm(copy, { recursive: true, force: true })
  }
}

/** Follows links: a copy of a link would be the store itself. */
async function copyStore(store: string, copy: string): Promise<void> {
  try {
    // A file system that can share the blocks of a file does not copy them.
    const options = { recursive: true, dereference: true, mode: constants.COPYFILE_FICLONE }
    await cp(await realpath(store), copy, options)
  } catch (cause) {
    if (!(cause instanceof Error && 'code' in cause && ['ENOSPC', 'EDQUOT'].includes(String(cause.code))))
      throw cause
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
 * Which deployment a store was last opened for. Without this record, each start would copy the store to learn
 * it.
 */
interface DeploymentRecord {
  /** Empty for a database that is only created; undefined if there is no record. */
  read(): Promise<string | undefined>
  write(deployment: string): Promise<void>
}

/** The record in the folder of a store: a store that takes the place of another brings its own. */
export function deploymentRecord(store: string): DeploymentRecord {
  const path = join(store, 'deployment.json')
  return {
    read: () => readFile(path, 'utf8').catch(() => undefined),
    async write(deployment) {
      await writeFile(`${path}.new`, deployment)
      await rename(`${path}.new`, path)
    },
  }
}
