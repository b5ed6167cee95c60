import { createHash } from 'node:crypto'
import { createReadStream, type Dirent, type Stats } from 'node:fs'
import { cp, lstat, open, readdir, realpath, rm, writeFile } from 'node:fs/promises'
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path'
import { parseJson } from '@ratatosk/client/json'
import { isStoreError, type StoredOptions, separateCopy } from '@ratatosk/store'
import { type Static, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { nodeVersion as versionOfNode } from '../command-line.js'
import { BackupError } from '../errors.js'
import { fileLimits, readRegularFile } from '../settings/regular-file.js'
import { contentsOf, makeDirectory, makePrivate } from '../storage/data-directory.js'

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
  const nodeVersion = versionOfNode()
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

/**
 * Runs a write to a new or empty folder, private to its owner, and removes it after a failure.
 * @throws BackupError if the folder is not empty, or cannot be written to
 */
export async function inNewFolder<T>(folder: string, write: () => Promise<T>): Promise<T> {
  const created = await createFolder(folder)
  try {
    return await write()
  } catch (error) {
    const left = created === undefined ? await contentsOf(folder).catch(() => []) : []
    const paths = created === undefined ? left.map((name) => join(folder, name)) : [created]
    for (const path of paths) await rm(path, { recursive: true, force: true })
    throw backupErrorOf(error, folder)
  }
}

/** @returns the first folder that was created; undefined if all existed */
async function createFolder(folder: string): Promise<string | undefined> {
  try {
    const created = await makeDirectory(folder, 0o700)
    if ((await contentsOf(folder)).length === 0) {
      await makePrivate(folder)
      return created
    }
  } catch (cause) {
    throw new BackupError(`The folder "${folder}" cannot be written to: name another one.`, { cause })
  }
  throw new BackupError(`The folder "${folder}" is not empty: name a new one.`)
}

/** An error of the system as one that says where it came up; other errors as they are. */
export function backupErrorOf(error: unknown, folder: string): unknown {
  const { message, syscall } = (error ?? {}) as Partial<NodeJS.ErrnoException>
  if (syscall === undefined) return error
  return new BackupError(
    `"${folder}" cannot be written: ${message}. Nothing was left there. Free or change the disk, and ` +
      'run the command again.',
    { cause: error },
  )
}

/** Copies a folder and what links in it lead to. Once it resolves, a crash of the machine keeps the copy. */
export async function copyFolder(from: string, to: string): Promise<void> {
  await cp(from, to, { recursive: true, dereference: true })
  const entries = await readdir(to, { recursive: true, withFileTypes: true })
  for (const { parentPath, name } of entries) await sync(join(parentPath, name))
  await sync(to)
}

/** Makes the contents of a file, or the names in a folder, durable. */
export async function sync(path: string): Promise<void> {
  const file = await open(path)
  try {
    await file.sync()
  } finally {
    await file.close()
  }
}

/** Whether a path, which need not exist, is a folder or below it, by whichever links. */
export async function isInside(path: string, folder: string): Promise<boolean> {
  const way = relative(await realPathOf(folder), await realPathOf(path))
  return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way)
}

async function realPathOf(path: string): Promise<string> {
  const whole = resolve(path)
  try {
    return await realpath(whole)
  } catch {
    return dirname(whole) === whole ? whole : join(await realPathOf(dirname(whole)), basename(whole))
  }
}

/** Whether a backup has the tables of a ledger. */
export function hasLedger({ rows }: Pick<Manifest, 'rows'>, schema: string): boolean {
  return rows[`${schema}.deployment`] !== undefined
}

/** Makes what was restored a ledger of its own. @throws BackupError */
export async function separate(at: StoredOptions, manifest: Manifest): Promise<void> {
  if (!hasLedger(manifest, at.schema)) return
  try {
    await separateCopy(at)
  } catch (cause) {
    if (!isStoreError(cause)) throw cause
    throw new BackupError(`The copy got no ledger id of its own: ${cause.message}. Restore again.`, { cause })
  }
}
