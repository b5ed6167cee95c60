import { readFileSync } from 'node:fs'
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { PGlite } from '@electric-sql/pglite'
import { randomName } from './services.js'

/** An empty database of this PGlite's version as a tar archive; tests share it across processes and runs. */
const template = join(tmpdir(), `ratatosk-tests-${userInfo().uid}`, `pglite-${version()}.tar`)

function version(): string {
  const manifest = new URL('../package.json', import.meta.resolve('@electric-sql/pglite'))
  return JSON.parse(readFileSync(manifest, 'utf8')).version
}

/**
 * Creates an empty PGlite, in memory or in a new directory, from a template: initdb in WebAssembly takes
 * seconds. The first call on a machine makes the template.
 */
export async function createPGlite(dataDir?: string): Promise<PGlite> {
  const directory = dataDir === undefined ? {} : { dataDir }
  const archive = await readFile(template).catch(() => undefined)
  if (archive) return PGlite.create({ ...directory, loadDataDir: new Blob([archive]) })
  const pglite = await PGlite.create(directory)
  await mkdir(join(template, '..'), { recursive: true, mode: 0o700 })
  // Another process reads a complete template or none.
  const partial = `${template}.${randomName()}`
  await writeFile(partial, new Uint8Array(await (await pglite.dumpDataDir('none')).arrayBuffer()))
  await rename(partial, template)
  return pglite
}
