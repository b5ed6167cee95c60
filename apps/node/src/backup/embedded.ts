import { cp, mkdir, readdir, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { PGlite } from '@electric-sql/pglite'
import { BackupError } from '../errors.js'
import type { Settings } from '../settings/schema.js'
import { takeDataDirectory } from '../storage/data-directory.js'
import { nodeSchemas } from '../storage/open-storage.js'
import {
  checkedManifest,
  countRows,
  createFolder,
  dataName,
  type Manifest,
  writeManifest,
} from './manifest.js'

const name = dataName.embedded

/**
 * Copies the embedded store. What else is in DATA_DIR is rebuilt from it.
 *
 * @throws StartError `NODE_DATA_DIR` while a node uses it, or may use it in another container
 */
export async function backUpEmbedded(settings: Settings, folder: string): Promise<Manifest> {
  const { DATA_DIR } = settings
  const store = join(DATA_DIR, name)
  const isStore = await stat(join(store, 'PG_VERSION')).then(
    () => true,
    () => false,
  )
  if (!isStore) throw new BackupError(`DATA_DIR is "${DATA_DIR}": it has no store.`)
  await createFolder(folder)
  const { release } = await takeDataDirectory(DATA_DIR, { waitMs: 0, refuseForeign: true })
  try {
    const schemas = nodeSchemas(settings)
    // Opening it also recovers what a node that was killed has left.
    const pglite = await PGlite.create(store)
    const rows = await countRows(pglite, schemas).finally(() => pglite.close())
    await cp(store, join(folder, name), { recursive: true })
    return await writeManifest(folder, { store: 'embedded', schemas: [...schemas], rows })
  } finally {
    await release()
  }
}

/**
 * Restores an embedded store to a DATA_DIR that is empty or does not exist.
 *
 * @throws BackupError, or StartError `NODE_DATA_DIR` while a node uses it, or may use it in another container
 */
export async function restoreEmbedded(settings: Settings, folder: string): Promise<Manifest> {
  const { DATA_DIR, DATABASE_SCHEMA } = settings
  const manifest = await checkedManifest(folder, 'embedded', DATABASE_SCHEMA)
  const store = join(DATA_DIR, name)
  const { release } = await takeDataDirectory(DATA_DIR, { waitMs: 0, refuseForeign: true })
  try {
    const temporary = `${store}.restored`
    // Left by a restoration that did not end.
    await rm(temporary, { recursive: true, force: true })
    if ((await readdir(DATA_DIR)).some((entry) => !entry.startsWith('lock.')))
      throw new BackupError(`DATA_DIR is "${DATA_DIR}": it is not empty. Move it away, or set another one.`)
    await cp(join(folder, name), temporary, { recursive: true })
    for (const path of manifest.emptyFolders ?? [])
      await mkdir(join(temporary, path), { recursive: true, mode: 0o700 })
    await rename(temporary, store)
    return manifest
  } finally {
    await release()
  }
}
