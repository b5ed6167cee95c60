import { createHash } from 'node:crypto'
import { createReadStream, type Dirent, type Stats } from 'node:fs'
import { lstat, readdir, writeFile } from 'node:fs/promises'
import { join, relative, sep } from 'node:path'
import { parseJson } from '@ratatosk/client/json'
import { type Static, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { BackupError } from '../errors.js'
import { description } from '../plugins/api-description.js'
import { fileLimits, readRegularFile } from '../settings/regular-file.js'
import { sync } from './folders.js'

const Manifest = Type.Object({
  /** Of this file. */
  format: Type.Literal(1),
  /** Of the node that wrote the backup. */
  nodeVersion: Type.String(),
  /** ISO 8601. */
  createdAt: Type.String(),
  store: Type.Union([Type.Literal('embedded'), Type.Literal('postgresql')]),
  /** Where the data is, beside the manifest: the folder of an embedded store by its kind, or a dump. */
  data: Type.Union([Type.Literal('postgresql'), Type.Literal('pglite'), Type.Literal('database.dump')]),
  /** DATABASE_SCHEMA, followed by the others of the node. */
  schemas: Type.Array(Type.String(), { minItems: 1 }),
  /** SHA-256 of the files, in hex. */
  digest: Type.String(),
  /**
   * Folders without files of an embedded store, by their paths in it. PostgreSQL needs them, but object
   * storage, and an archive of files, do not keep them.
   */
  emptyFolders: Type.Optional(Type.Array(Type.String({ pattern: '^[^./\\\\]+(/[^./\\\\]+)*$' }))),
  /** Number of rows by schema and table. */
  rows: Type.Record(Type.String(), Type.Integer()),
})

/** The content of a backup. */
export type Manifest = Static<typeof Manifest>

/** A connection that runs SQL: PGlite, or a client of PostgreSQL. */
export interface Queries {
  query(text: string): Promise<{ readonly rows: readonly object[] }>
}

/** Ends a backup: a folder without a manifest cannot be restored. */
export async function writeManifest(
  folder: string,
  contents: Pick<Manifest, 'store' | 'data' | 'schemas' | 'rows'>,
): Promise<Manifest> {
  const data = join(folder, contents.data)
  const digest = await digestOf(data)
  const folders = contents.store === 'embedded' ? { emptyFolders: await emptyFoldersOf(data) } : {}
  const createdAt = new Date().toISOString()
  const { version: nodeVersion } = description
  const manifest: Manifest = { format: 1, nodeVersion, createdAt, ...contents, digest, ...folders }
  await writeFile(join(folder, 'manifest.json'), `${JSON.stringify(manifest, undefined, 2)}\n`, {
    flush: true,
  })
  await sync(folder)
  return manifest
}

/** Reads a manifest and compares it with the files and the settings. @throws BackupError */
export async function checkedManifest(
  folder: string,
  store: Manifest['store'],
  schema: string,
): Promise<Manifest> {
  let manifest: unknown
  try {
    manifest = parseJson(readRegularFile(join(folder, 'manifest.json'), fileLimits.manifest))
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new BackupError(`"${folder}" is no complete backup: manifest.json: ${reason}.`, { cause })
  }
  if (!Value.Check(Manifest, manifest))
    throw new BackupError(`The manifest of "${folder}" is damaged, or of another version of the node.`)
  if (manifest.store !== store)
    throw new BackupError(
      manifest.store === 'embedded'
        ? `"${folder}" is a backup of an embedded store: unset DATABASE_URL.`
        : `"${folder}" is a backup of PostgreSQL: set DATABASE_URL.`,
    )
  const [original] = manifest.schemas
  if (original !== schema)
    throw new BackupError(`"${folder}" is a backup of the schema ${original}: set DATABASE_SCHEMA to it.`)
  if ((await digestOf(join(folder, manifest.data))) !== manifest.digest)
    throw new BackupError(`The files of "${folder}" are not those that were saved: use another backup.`)
  return manifest
}

/** Number of rows of every table of the schemas; a schema may be missing. */
export async function countRows(
  database: Queries,
  schemas: readonly string[],
): Promise<Readonly<Record<string, number>>> {
  const rows: Record<string, number> = {}
  for (const schema of schemas) {
    const { rows: tables } = await database.query(
      `SELECT table_name AS name FROM information_schema.tables WHERE table_schema = '${schema}' ORDER BY 1`,
    )
    for (const table of tables) {
      const name = textOf(table, 'name')
      const { rows: counted } = await database.query(`SELECT count(*)::text AS n FROM "${schema}"."${name}"`)
      rows[`${schema}.${name}`] = Number(textOf(counted[0] ?? {}, 'n'))
    }
  }
  return rows
}

export function textOf(row: object, column: string): string {
  return String(new Map<string, unknown>(Object.entries(row)).get(column))
}

/** SHA-256 of a file, or of the paths and contents of a folder, in hex. */
async function digestOf(path: string): Promise<string> {
  const hash = createHash('sha256')
  for (const file of await filesOf(path)) {
    hash.update(`${portablePath(path, file)}\0`)
    for await (const chunk of createReadStream(file)) hash.update(chunk)
  }
  return hash.digest('hex')
}

async function emptyFoldersOf(path: string): Promise<string[]> {
  const entries = await readdir(path, { recursive: true, withFileTypes: true })
  const parents = new Set(entries.map(({ parentPath }) => parentPath))
  return entries
    .filter((entry) => entry.isDirectory())
    .map(({ parentPath, name }) => join(parentPath, name))
    .filter((folder) => !parents.has(folder))
    .map((folder) => portablePath(path, folder))
    .sort()
}

/** A path below another one, with slashes on every system. */
function portablePath(from: string, to: string): string {
  return relative(from, to).split(sep).join('/')
}

/** The files at or below a path. @throws BackupError for a device, and for a link, which could lead out */
async function filesOf(path: string): Promise<readonly string[]> {
  const files: string[] = []
  const add = (place: string, entry: Stats | Dirent) => {
    if (entry.isFile()) files.push(place)
    else if (!entry.isDirectory()) throw new BackupError(`"${place}" is neither a file nor a folder.`)
  }
  try {
    const top = await lstat(path)
    add(path, top)
    const entries = top.isDirectory() ? await readdir(path, { recursive: true, withFileTypes: true }) : []
    for (const entry of entries) add(join(entry.parentPath, entry.name), entry)
  } catch (cause) {
    if (cause instanceof BackupError) throw cause
    throw new BackupError(`"${path}" cannot be read.`, { cause })
  }
  return files.sort()
}
