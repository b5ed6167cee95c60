import { execFile } from 'node:child_process'
import { mkdir, realpath, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { isDatabaseError } from '@ratatosk/database'
import { type EmbeddedDatabase, embeddedFolder, openEmbedded } from '@ratatosk/database/embedded'
import pg from 'pg'
import { BackupError } from '../errors.js'
import { maskedUrl } from '../settings/read.js'
import type { Settings } from '../settings/schema.js'
import { contentsOf, restorationFolder, takeDataDirectory } from '../storage/data-directory.js'
import { hasRestorationMark, nodeSchemas, restorationMark } from '../storage/open-storage.js'
import { separation, silent } from '../storage/stored-ledger.js'
import {
  backupErrorOf,
  checkedManifest,
  copyFolder,
  countRows,
  hasLedger,
  inNewFolder,
  isInside,
  type Manifest,
  type Queries,
  separate,
  sync,
  textOf,
  writeManifest,
} from './folder.js'

const dumpName = 'database.dump'

/** Dumps the node's schemas as they are at one moment; nodes may run. @throws BackupError */
async function backUpPostgresql(settings: Settings, url: string, folder: string): Promise<Manifest> {
  return connected(url, async (client) => {
    await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY')
    const { rows: exported } = await client.query('SELECT pg_export_snapshot() AS id')
    const schemas = await existing(client, nodeSchemas(settings))
    if (schemas.length === 0)
      throw new BackupError(`${maskedUrl(url)} has no schema ${settings.DATABASE_SCHEMA}.`)
    const rows = await countRows(client, schemas)
    return inNewFolder(folder, async () => {
      const file = join(folder, dumpName)
      await runTool('pg_dump', toolEnvironment(url, client), [
        '--format=custom',
        `--snapshot=${textOf(exported[0] ?? {}, 'id')}`,
        ...schemas.map((schema) => `--schema=${schema}`),
        `--file=${file}`,
      ])
      await sync(file)
      return writeManifest(folder, { store: 'postgresql', data: dumpName, schemas, rows })
    })
  })
}

/**
 * Restores the schemas to a database that has none of them, or nothing; the ledger gets an id of its own.
 * Until that is done, no node starts there. Replaces what a restoration left that was killed.
 * @throws BackupError
 */
async function restorePostgresql(settings: Settings, url: string, folder: string): Promise<Manifest> {
  const manifest = await checkedManifest(folder, 'postgresql', settings.DATABASE_SCHEMA)
  const { DATABASE_SCHEMA: schema } = settings
  return connected(url, async (client) => {
    const { name: mark, comment } = restorationMark(schema)
    const all = [...nodeSchemas(settings), mark]
    const drop = `DROP SCHEMA IF EXISTS ${all.map((name) => `"${name}"`).join()} CASCADE`
    await takeTurn(client, mark, url)
    // No node has started on what a restoration that was killed has left.
    if (await hasRestorationMark(client, schema)) await client.query(drop)
    const [taken] = await existing(client, [...manifest.schemas, mark])
    if (taken !== undefined)
      throw new BackupError(
        `${maskedUrl(url)} has the schema ${taken}: rename or drop it, or name another database.`,
      )
    await client.query(`CREATE SCHEMA "${mark}"; COMMENT ON SCHEMA "${mark}" IS '${comment}'`)
    try {
      await restoreDump(settings, url, { client, manifest, file: join(folder, dumpName) })
    } catch (error) {
      // Failing that, what is left is the next restoration's to replace.
      await client.query(drop).catch(() => undefined)
      throw error
    }
    await client.query(`DROP SCHEMA "${mark}"`)
    return manifest
  })
}

interface Restoration {
  readonly client: pg.Client
  readonly manifest: Manifest
  readonly file: string
}

async function restoreDump(
  { DATABASE_SCHEMA: schema }: Settings,
  url: string,
  { client, manifest, file }: Restoration,
): Promise<void> {
  const options = ['--single-transaction', '--exit-on-error', '--no-owner']
  const last = hasLedger(manifest, schema) ? `. Then run ${separation(schema)} in PostgreSQL` : ''
  await runTool('pg_restore', toolEnvironment(url, client), [...options, file], last)
  await separate({ url, schema }, manifest)
  const rows = await countRows(client, manifest.schemas)
  const wrong = Object.entries(manifest.rows).find(([table, count]) => rows[table] !== count)
  if (wrong !== undefined)
    throw new BackupError(`${wrong[0]} has ${rows[wrong[0]]} rows after the restoration, not ${wrong[1]}.`)
}

/** Keeps a second restoration from what this one restores, until the connection ends. @throws BackupError */
async function takeTurn(client: Queries, name: string, url: string): Promise<void> {
  const { rows } = await client.query(`SELECT pg_try_advisory_lock(hashtext('${name}'))::text AS held`)
  if (textOf(rows[0] ?? {}, 'held') !== 'true')
    throw new BackupError(`Another restoration to ${maskedUrl(url)} runs: wait until it has ended.`)
}

async function connected<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  let client: pg.Client
  try {
    client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 10_000 })
    await client.connect()
  } catch (cause) {
    throw new BackupError(`${maskedUrl(url)}: no connection. Start PostgreSQL, or correct DATABASE_URL.`, {
      cause,
    })
  }
  // The connection is only used between statements that report the same loss.
  client.on('error', () => undefined)
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}

/** Those of the schemas that the database has, in the same order. */
async function existing(client: Queries, schemas: readonly string[]): Promise<string[]> {
  const { rows } = await client.query('SELECT schema_name AS name FROM information_schema.schemata')
  const names = rows.map((row) => textOf(row, 'name'))
  return schemas.filter((schema) => names.includes(schema))
}

/** The parts of a URL as a client of `pg` reads them, for readers of the declarations without its types. */
interface ConnectionParts {
  readonly user?: string | undefined
  readonly password?: string | undefined
  readonly host: string
  readonly port: number
  readonly database?: string | undefined
  readonly ssl: boolean
}

/**
 * Environment in which a program of PostgreSQL connects as the client of `url` does. Other users can read
 * arguments, and the client accepts more forms of a URL.
 */
export function toolEnvironment(url: string, client: ConnectionParts): NodeJS.ProcessEnv {
  const { user, password, host, port, database, ssl } = client
  const query = new URLSearchParams(/\?.*/.exec(url)?.[0])
  const mode = query.get('sslmode') ?? (query.has('ssl') ? tlsMode(ssl) : process.env.PGSSLMODE)
  const named = {
    PGSSLROOTCERT: query.get('sslrootcert'),
    PGSSLCERT: query.get('sslcert'),
    PGSSLKEY: query.get('sslkey'),
    PGOPTIONS: query.get('options'),
  }
  return {
    ...process.env,
    // They would come before what follows.
    PGSERVICE: undefined,
    PGHOSTADDR: undefined,
    PGUSER: user,
    // Null without a password: then the programs look for it in the user's file of passwords.
    PGPASSWORD: password ?? undefined,
    PGHOST: host,
    PGPORT: String(port),
    PGDATABASE: database,
    // A mode that only the client has.
    PGSSLMODE: mode === 'no-verify' ? tlsMode(true) : mode,
    ...Object.fromEntries(Object.entries(named).filter(([, value]) => value !== null)),
  }
}

function tlsMode(isEncrypted: boolean): string {
  return isEncrypted ? 'require' : 'disable'
}

/** Runs a program of PostgreSQL; the database is that of the environment. */
async function runTool(
  tool: 'pg_dump' | 'pg_restore',
  env: NodeJS.ProcessEnv,
  args: readonly string[],
  last = '',
): Promise<void> {
  try {
    // Without --dbname, pg_restore writes SQL to its output; if it is empty, PGDATABASE is the database.
    await promisify(execFile)(tool, ['--dbname=', ...args], { env })
  } catch (cause) {
    if (!(cause instanceof Error)) throw cause
    if ('code' in cause && cause.code === 'ENOENT')
      throw new BackupError(
        `${tool} is not on the PATH: install the client programs of PostgreSQL, of the server's version or ` +
          `later. Without a manifest, this does the same: ${tool} --dbname=<DATABASE_URL> ` +
          args.filter((arg) => !arg.startsWith('--snapshot')).join(' ') +
          last,
      )
    const reason = 'stderr' in cause ? String(cause.stderr).trim() : cause.message
    throw new BackupError(`${tool} failed: ${reason}`)
  }
}

export type { Manifest } from './folder.js'

/**
 * Saves the store of a node to a new folder: the ledger, its history and blocks, the index, a queue in the
 * database, and a devnet. A node on an embedded store must be stopped; on PostgreSQL it may run. A queue in
 * Redis is not saved.
 *
 * @throws BackupError, or StartError `NODE_DATA_DIR` while a node uses the data directory
 *
 * @example
 * await backUp(readSettings(process.env), '/var/backups/ratatosk-1')
 */
export function backUp(settings: Settings, folder: string): Promise<Manifest> {
  const { DATABASE_URL } = settings
  return DATABASE_URL === undefined
    ? backUpEmbedded(settings, folder)
    : backUpPostgresql(settings, DATABASE_URL, folder)
}

/**
 * Restores a backup. Overwrites nothing. The ledger gets another id, so that a queue in Redis stays with the
 * original.
 *
 * @throws BackupError, or StartError `NODE_DATA_DIR` while a node uses the data directory
 *
 * @example
 * await restore(readSettings({ DATA_DIR: '/var/lib/ratatosk' }), '/var/backups/ratatosk-1')
 */
export function restore(settings: Settings, folder: string): Promise<Manifest> {
  const { DATABASE_URL } = settings
  return DATABASE_URL === undefined
    ? restoreEmbedded(settings, folder)
    : restorePostgresql(settings, DATABASE_URL, folder)
}

/**
 * Copies the embedded store; the rest of DATA_DIR can be rebuilt.
 * @throws StartError `NODE_DATA_DIR` while a node uses it, or may use it in another container
 */
async function backUpEmbedded(settings: Settings, folder: string): Promise<Manifest> {
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
async function restoreEmbedded(settings: Settings, folder: string): Promise<Manifest> {
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
