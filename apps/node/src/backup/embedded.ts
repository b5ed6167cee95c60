import { mkdir, realpath, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { isDatabaseError } from '@ratatosk/database'
import { type EmbeddedDatabase, embeddedFolder, openEmbedded } from '@ratatosk/database/embedded'
import pg from 'pg'
import { BackupError } from '../errors.js'
import type { Settings } from '../settings/schema.js'
import { contentsOf, restorationFolder, takeDataDirectory } from '../storage/data-directory.js'
import { nodeSchemas } from '../storage/open-storage.js'
import { silent } from '../storage/stored-ledger.js'
import { backupErrorOf, copyFolder, inNewFolder, isInside, sync } from './folders.js'
import { checkedManifest, countRows, type Manifest, writeManifest } from './manifest.js'
import { separate } from './separate.js'

/**
 * Copies the embedded store; the rest of DATA_DIR can be rebuilt.
 * @throws StartError `NODE_DATA_DIR` while a node uses it, or may use it in another container
 */
export async function backUpEmbedded(settings: Settings, folder: string): Promise<Manifest> {
  const { DATA_DIR } = settings
  const store = await embeddedFolder(DATA_DIR)
  if (store === undefined) throw new BackupError(`DATA_DIR is "${DATA_DIR}": it has no store.`)
  for (const place of [DATA_DIR, await realpath(store)])
    if (await isInside(folder, place))
      throw new BackupError(`The folder "${folder}" is inside "${place}", which is saved: name another one.`)
  const { path, release } = await takeDataDirectory(DATA_DIR, { waitMs: 0, refuseForeign: true })
  try {
    return await inNewFolder(folder, async () => {
      const schemas = nodeSchemas(settings)
      const rows = await countAll(path, schemas)
      const data = store.endsWith('pglite') ? 'pglite' : 'postgresql'
      await copyFolder(store, join(folder, data))
      return await writeManifest(folder, { store: 'embedded', data, schemas: [...schemas], rows })
    })
  } finally {
    await release()
  }
}

/** Opening the store also recovers what a node that was killed has left. */
function countAll(directory: string, schemas: readonly string[]): Promise<Manifest['rows']> {
  return inEmbedded(directory, async (place) => {
    if ('pglite' in place) return countRows(place.pglite, schemas)
    const client = new pg.Client({ connectionString: place.url })
    await client.connect()
    return countRows(client, schemas).finally(() => client.end())
  })
}

async function inEmbedded<T>(
  directory: string,
  work: (place: EmbeddedDatabase['place']) => Promise<T>,
): Promise<T> {
  const { place, close } = await openEmbedded(directory, { log: silent }).catch((cause) => {
    throw isDatabaseError(cause) ? new BackupError(cause.message) : cause
  })
  try {
    return await work(place)
  } finally {
    await close()
  }
}

/**
 * Restores an embedded store to an empty or missing DATA_DIR, or one with an unfinished restoration; the
 * ledger gets an id of its own.
 * @throws BackupError, or StartError `NODE_DATA_DIR` while a node uses it, or may use it in another container
 */
export async function restoreEmbedded(settings: Settings, folder: string): Promise<Manifest> {
  const { DATA_DIR, DATABASE_SCHEMA } = settings
  const manifest = await checkedManifest(folder, 'embedded', DATABASE_SCHEMA)
  if (await isInside(DATA_DIR, folder))
    throw new BackupError(`DATA_DIR is "${DATA_DIR}", inside the backup: set another one.`)
  const { path, release } = await takeDataDirectory(DATA_DIR, { waitMs: 0, refuseForeign: true })
  const temporary = restorationFolder(DATA_DIR)
  try {
    // Checked before anything is removed: a folder of this name may be of others.
    const isOther = (name: string) => !name.startsWith('lock.') && join(DATA_DIR, name) !== temporary
    if ((await contentsOf(DATA_DIR)).some(isOther))
      throw new BackupError(`DATA_DIR is "${DATA_DIR}": it is not empty. Move it away, or set another one.`)
    await rm(temporary, { recursive: true, force: true })
    const [copy, place] = [join(temporary, manifest.data), join(DATA_DIR, manifest.data)]
    try {
      await restoreTo(copy, join(folder, manifest.data), manifest.emptyFolders)
      await rename(copy, place)
      await inEmbedded(path, (at) => separate({ ...at, schema: DATABASE_SCHEMA }, manifest))
    } catch (error) {
      await rm(place, { recursive: true, force: true })
      throw error
    } finally {
      // While it exists, no node starts here.
      await rm(temporary, { recursive: true, force: true })
    }
    await sync(DATA_DIR)
    return manifest
  } catch (error) {
    throw backupErrorOf(error, DATA_DIR)
  } finally {
    await release()
  }
}

async function restoreTo(copy: string, saved: string, emptyFolders: readonly string[] = []): Promise<void> {
  for (const path of ['', ...emptyFolders]) await mkdir(join(copy, path), { recursive: true, mode: 0o700 })
  await copyFolder(saved, copy)
}
