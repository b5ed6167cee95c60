import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import pg from 'pg'
import { BackupError } from '../errors.js'
import { maskedUrl } from '../settings/read.js'
import type { Settings } from '../settings/schema.js'
import { nodeSchemas } from '../storage/open-storage.js'
import {
  checkedManifest,
  countRows,
  createFolder,
  dataName,
  type Manifest,
  type Queries,
  textOf,
  writeManifest,
} from './manifest.js'

/** Dumps the node's schemas as they are at one moment; nodes may run. @throws BackupError */
export async function backUpPostgresql(settings: Settings, url: string, folder: string): Promise<Manifest> {
  await createFolder(folder)
  return connected(url, async (client) => {
    await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY')
    const { rows: exported } = await client.query('SELECT pg_export_snapshot() AS id')
    const schemas = await existing(client, nodeSchemas(settings))
    if (schemas.length === 0)
      throw new BackupError(`${maskedUrl(url)} has no schema ${settings.DATABASE_SCHEMA}.`)
    const rows = await countRows(client, schemas)
    await runTool('pg_dump', url, [
      '--format=custom',
      `--snapshot=${textOf(exported[0] ?? {}, 'id')}`,
      ...schemas.map((schema) => `--schema=${schema}`),
      `--file=${join(folder, dataName.postgresql)}`,
    ])
    return writeManifest(folder, { store: 'postgresql', schemas, rows })
  })
}

/** Restores the schemas to a database that has none of them, or nothing. @throws BackupError */
export async function restorePostgresql(settings: Settings, url: string, folder: string): Promise<Manifest> {
  const manifest = await checkedManifest(folder, 'postgresql', settings.DATABASE_SCHEMA)
  return connected(url, async (client) => {
    const [taken] = await existing(client, manifest.schemas)
    if (taken !== undefined)
      throw new BackupError(
        `${maskedUrl(url)} has the schema ${taken}: rename or drop it, or name another database.`,
      )
    const file = join(folder, dataName.postgresql)
    await runTool('pg_restore', url, ['--single-transaction', '--exit-on-error', '--no-owner', file])
    const rows = await countRows(client, manifest.schemas)
    const wrong = Object.entries(manifest.rows).find(([table, count]) => rows[table] !== count)
    if (wrong !== undefined)
      throw new BackupError(`${wrong[0]} has ${rows[wrong[0]]} rows after the restoration, not ${wrong[1]}.`)
    return manifest
  })
}

async function connected<T>(url: string, work: (client: Queries) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 10_000 })
  try {
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
 * Runs a program of PostgreSQL. The password is in its environment, because other users of the machine can
 * read its arguments.
 */
async function runTool(tool: 'pg_dump' | 'pg_restore', url: string, args: readonly string[]): Promise<void> {
  const { password } = new URL(url)
  const bare = new URL(url)
  bare.password = ''
  const PGPASSWORD = password === '' ? process.env.PGPASSWORD : decodeURIComponent(password)
  try {
    await promisify(execFile)(tool, [`--dbname=${bare}`, ...args], { env: { ...process.env, PGPASSWORD } })
  } catch (cause) {
    if (!(cause instanceof Error)) throw cause
    if ('code' in cause && cause.code === 'ENOENT')
      throw new BackupError(
        `${tool} is not on the PATH: install the client programs of PostgreSQL, of the server's version or ` +
          `later. Without a manifest, this does the same: ${tool} --dbname=<DATABASE_URL> ` +
          args.filter((arg) => !arg.startsWith('--snapshot')).join(' '),
      )
    const reason = 'stderr' in cause ? String(cause.stderr).trim() : cause.message
    throw new BackupError(`${tool} failed: ${reason}`)
  }
}
