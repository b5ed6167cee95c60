import { existsSync, readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { PGlite } from '@electric-sql/pglite'

/** Where an archive of a new database of the installed PGlite is; the build makes it. */
export function emptyDatabase(): string {
  const manifest = new URL('../package.json', import.meta.resolve('@electric-sql/pglite'))
  const { version } = JSON.parse(readFileSync(manifest, 'utf8')) as { version: string }
  return fileURLToPath(new URL(`../../bundle/empty-${version}.tar.gz`, import.meta.url))
}

/**
 * Creates the files of a new database: from the archive, or by initdb, which takes seconds, if the archive is
 * of another version of PGlite.
 */
export async function createDatabase(path: string): Promise<void> {
  const archive = emptyDatabase()
  const loaded = existsSync(archive)
    ? { loadDataDir: new Blob([await readFile(archive)], { type: 'application/gzip' }) }
    : {}
  await (await PGlite.create({ dataDir: path, ...loaded })).close()
}
