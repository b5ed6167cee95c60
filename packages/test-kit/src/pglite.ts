import { existsSync, readFileSync } from 'node:fs'
import { cp, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { PGlite } from '@electric-sql/pglite'
import { randomName } from './services.js'
import { whileStarting } from './turns.js'

/** An empty database of this PGlite's version: a folder with its files, and the same as a tar archive. */
interface Template {
  readonly files: string
  readonly archive: string
}

/** Tests share it across processes and runs. */
const folder = join(tmpdir(), `ratatosk-tests-${userInfo().uid}`)
const template = join(folder, `empty-${version()}`)

function version(): string {
  const manifest = new URL('../package.json', import.meta.resolve('@electric-sql/pglite'))
  return JSON.parse(readFileSync(manifest, 'utf8')).version
}

/** Creates an empty PGlite in memory from a template. */
export function createPGlite(): Promise<PGlite> {
  return whileStarting(async () => {
    const { archive } = await readTemplate()
    return PGlite.create({ loadDataDir: new Blob([await readFile(archive)]) })
  })
}

/** Creates the files of an empty PGlite in a new or empty folder from a template. */
export async function createPGliteFiles(directory: string): Promise<void> {
  const { files } = await readTemplate()
  await cp(files, directory, { recursive: true })
}

let known: Promise<Template> | undefined

/** Initdb in WebAssembly takes seconds: the first call on a machine makes the template. */
function readTemplate(): Promise<Template> {
  known ??= makeTemplate()
  return known
}

async function makeTemplate(): Promise<Template> {
  const made = { files: join(template, 'files'), archive: join(template, 'files.tar') }
  if (existsSync(made.archive)) return made
  await mkdir(folder, { recursive: true, mode: 0o700 })
  // Another process reads a complete template or none.
  const partial = `${template}.${randomName()}`
  await mkdir(partial)
  const pglite = await PGlite.create(join(partial, 'files'))
  const archive = await pglite.dumpDataDir('none')
  await writeFile(join(partial, 'files.tar'), new Uint8Array(await archive.arrayBuffer()))
  await pglite.close()
  await rename(partial, template).catch(() => rm(partial, { recursive: true }))
  return made
}
