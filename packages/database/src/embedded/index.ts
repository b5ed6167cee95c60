import { mkdir, readdir, realpath } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { PGlite } from '@electric-sql/pglite'
import { codeOf, DatabaseError } from '../errors.js'
import { createCluster, letPass, ownCluster } from './cluster.js'
import { findPrograms, findWay, type Programs, type Way } from './programs.js'
import { type EmbeddedLog, startServer } from './server.js'

export { type EmbeddedLog, endLeftOver } from './server.js'

/** A database that belongs to this process. */
export interface EmbeddedDatabase {
  /** Where it is, for what opens it: a server, or a PGlite in this process. */
  readonly place: { readonly url: string } | { readonly pglite: PGlite }
  /** For people, such as `PostgreSQL 18.4 in a user namespace`. */
  readonly description: string
  /** To be called after all connections are closed. */
  close(): Promise<void>
}

/** Options of {@link openEmbedded}. */
export interface EmbeddedOptions {
  /** The most connections of all pools of the caller. Default 20. */
  readonly maxConnections?: number
  readonly log: EmbeddedLog
}

/** The folders of a database in its directory, by what runs on it. */
const names = { server: 'postgresql', pglite: 'pglite' } as const

/** The folder of the database in a directory; undefined if there is none. */
export async function embeddedFolder(directory: string): Promise<string | undefined> {
  for (const name of Object.values(names))
    if (await isDatabase(join(directory, name))) return join(directory, name)
  return undefined
}

/**
 * Opens the database of a directory, or creates one: a native PostgreSQL server on a Unix socket, or a PGlite
 * where no server can run. A database is always opened by what created it. The caller has locked the
 * directory, so that it alone uses it.
 *
 * @throws DatabaseError `DATABASE_CONFIGURATION` if the database cannot be opened here, or is of an earlier
 *   version; nothing was changed. `DATABASE_UNAVAILABLE` if the server does not start.
 *
 * @example
 * const { place, close } = await openEmbedded('.ratatosk', { log: console })
 * const driver = 'url' in place ? openPostgres(place) : openPGlite(place.pglite)
 * await driver.close()
 * await close()
 */
export async function openEmbedded(
  directory: string,
  { log, maxConnections = 20 }: EmbeddedOptions,
): Promise<EmbeddedDatabase> {
  await mkdir(directory, { recursive: true, mode: 0o700 })
  const path = await realpath(directory)
  await refuseEarlier(path)
  const pglite = join(path, names.pglite)
  if (await isDatabase(pglite)) {
    log.info('Start: opening the store in PGlite, which created it')
    return openPGliteAt(pglite)
  }
  // A link may lead to another disk.
  const folder = await realpath(join(path, names.server)).catch(() => join(path, names.server))
  await refuseDamaged(folder)
  const programs = findPrograms()
  const way = await findWay(dirname(folder), programs)
  if (programs !== undefined && !('obstacle' in way))
    return openServer(folder, programs, way, maxConnections, log)
  const obstacle = 'obstacle' in way ? way.obstacle : ''
  if (await isDatabase(folder))
    refuse(`"${folder}" needs a PostgreSQL server, and none can run here: ${obstacle}. Nothing was changed.`)
  await refuseDamaged(pglite)
  log.warn(`The store is in PGlite, which is slower, because no PostgreSQL server can run here: ${obstacle}`)
  return openPGliteAt(pglite)
}

async function openServer(
  folder: string,
  programs: Programs,
  way: Way,
  maxConnections: number,
  log: EmbeddedLog,
): Promise<EmbeddedDatabase> {
  await letPass(dirname(folder), way)
  if (!(await isDatabase(folder))) {
    log.info('Start: creating the embedded PostgreSQL')
    await createCluster(folder, programs, way)
  }
  log.info('Start: opening the embedded PostgreSQL')
  await ownCluster(folder, way)
  const { url, close } = await startServer(folder, programs, way, maxConnections, log)
  return { place: { url }, description: `PostgreSQL ${programs.version} ${way.as}`.trim(), close }
}

async function openPGliteAt(folder: string): Promise<EmbeddedDatabase> {
  const { PGlite } = await import('@electric-sql/pglite')
  const pglite = await PGlite.create(folder)
  return { place: { pglite }, description: 'PGlite', close: () => pglite.close() }
}

/** Earlier versions had a PGlite in `store`, or, of a devnet alone, in the directory itself. */
async function refuseEarlier(path: string): Promise<void> {
  const place = (await isDatabase(path)) ? path : join(path, 'store')
  if (await isEmpty(place)) return
  refuse(
    `"${place}" is a store of an earlier version, which this version does not open. Nothing was changed. ` +
      'Start the version that wrote it, or choose another DATA_DIR, which begins anew.',
  )
}

/** A new database would be created over what is left of the old one. */
async function refuseDamaged(folder: string): Promise<void> {
  if ((await isDatabase(folder)) || (await isEmpty(folder))) return
  refuse(
    `The folder "${folder}" is not empty, but it has no file PG_VERSION: it is damaged, or not a store. ` +
      'Restore it from a backup, or move it elsewhere and start again, which begins anew.',
  )
}

function refuse(message: string): never {
  throw new DatabaseError('DATABASE_CONFIGURATION', message)
}

async function isDatabase(folder: string): Promise<boolean> {
  return (await entriesOf(folder)).includes('PG_VERSION')
}

async function isEmpty(folder: string): Promise<boolean> {
  return (await entriesOf(folder)).length === 0
}

/** None if there is no such folder. */
async function entriesOf(folder: string): Promise<readonly string[]> {
  try {
    return await readdir(folder)
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return []
    throw error
  }
}
