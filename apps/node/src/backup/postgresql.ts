import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import pg from 'pg'
import { BackupError } from '../errors.js'
import { maskedUrl } from '../settings/read.js'
import type { Settings } from '../settings/schema.js'
import { nodeSchemas } from '../storage/open-storage.js'
import { separation } from '../storage/queue-ledger.js'
import { inNewFolder, sync } from './folders.js'
import { checkedManifest, countRows, type Manifest, type Queries, textOf, writeManifest } from './manifest.js'
import { hasLedger, separate } from './separate.js'

const dumpName = 'database.dump'

/** Dumps the node's schemas as they are at one moment; nodes may run. @throws BackupError */
export async function backUpPostgresql(settings: Settings, url: string, folder: string): Promise<Manifest> {
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
 * @throws BackupError
 */
export async function restorePostgresql(settings: Settings, url: string, folder: string): Promise<Manifest> {
  const manifest = await checkedManifest(folder, 'postgresql', settings.DATABASE_SCHEMA)
  return connected(url, async (client) => {
    const [taken] = await existing(client, manifest.schemas)
    if (taken !== undefined)
      throw new BackupError(
        `${maskedUrl(url)} has the schema ${taken}: rename or drop it, or name another database.`,
      )
    const file = join(folder, dumpName)
    const options = ['--single-transaction', '--exit-on-error', '--no-owner']
    const { DATABASE_SCHEMA: schema } = settings
    const last = hasLedger(manifest, schema) ? `. Then run ${separation(schema)} in PostgreSQL` : ''
    await runTool('pg_restore', toolEnvironment(url, client), [...options, file], last)
    await separate({ url, schema }, manifest)
    const rows = await countRows(client, manifest.schemas)
    const wrong = Object.entries(manifest.rows).find(([table, count]) => rows[table] !== count)
    if (wrong !== undefined)
      throw new BackupError(`${wrong[0]} has ${rows[wrong[0]]} rows after the restoration, not ${wrong[1]}.`)
    return manifest
  })
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

/**
 * Environment in which a program of PostgreSQL connects as the client of `url` does. Other users can read
 * arguments, and the client accepts more forms of a URL.
 */
export function toolEnvironment(url: string, client: pg.Client): NodeJS.ProcessEnv {
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
