// Saves an empty database of the installed PGlite: a node's first start copies it, which takes less time than
// initdb in WebAssembly.
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { PGlite } from '@electric-sql/pglite'
import { emptyDatabase } from './dist/storage/empty-database.js'

const path = emptyDatabase()
if (!existsSync(path)) {
  const pglite = await PGlite.create()
  const archive = await pglite.dumpDataDir('gzip')
  await pglite.close()
  rmSync(dirname(path), { recursive: true, force: true })
  mkdirSync(dirname(path))
  writeFileSync(path, new Uint8Array(await archive.arrayBuffer()))
}
