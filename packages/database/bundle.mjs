// Saves the files of a new PostgreSQL cluster: a node's first start writes them faster than initdb would.
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { initialise, pack, templateOf } from './dist/embedded/cluster.js'
import { findPrograms, findWay } from './dist/embedded/programs.js'

const programs = findPrograms()
const path = programs && templateOf(programs)
if (path !== undefined && !existsSync(path)) {
  const directory = mkdtempSync(join(tmpdir(), 'ratatosk-template-'))
  const way = await findWay(directory, programs)
  if ('obstacle' in way) console.error(`A first start will run initdb: ${way.obstacle}`)
  else {
    const folder = join(directory, 'cluster')
    await initialise(folder, programs, way)
    rmSync(dirname(path), { recursive: true, force: true })
    mkdirSync(dirname(path))
    writeFileSync(path, await pack(folder))
  }
  rmSync(directory, { recursive: true })
}
