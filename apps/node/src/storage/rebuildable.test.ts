import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rm, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openRoots } from '@ratatosk/sequencer/roots'
import { pino } from 'pino'
import { expect, onTestFinished, test } from 'vitest'
import { openRebuildable } from './rebuildable.js'

const lines: { readonly msg: string; readonly path: string }[] = []
const log = pino({}, { write: (line: string) => void lines.push(JSON.parse(line)) })

async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'ratatosk-rebuildable-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  return folder
}

test('moves damaged data aside, and opens them anew', async () => {
  const path = join(await temporaryFolder(), 'roots')
  const openIt = () => openRebuildable(path, (folder) => openRoots({ path: folder }), log)
  await (await openIt()).close()
  expect(lines).toEqual([])

  await truncate(join(path, 'data.mdb'), 100)
  await (await openIt()).close()
  expect(lines.splice(0)).toMatchObject([
    { path, movedTo: `${path}.damaged`, err: { message: expect.stringMatching(/damaged/) } },
  ])
  expect(existsSync(join(path, 'data.mdb'))).toBe(true)

  await rm(path, { recursive: true })
  await writeFile(path, 'a file')
  await (await openIt()).close()
  expect(lines.splice(0)).toMatchObject([
    { err: { message: expect.stringMatching(/it is a file, not a folder/) } },
  ])
  expect(await readFile(`${path}.damaged`, 'utf8')).toBe('a file')
})

test('leaves data alone for any other failure', async () => {
  const path = await temporaryFolder()
  const failure = new Error('no space left on device')
  await expect(openRebuildable(path, () => Promise.reject(failure), log)).rejects.toBe(failure)
  expect(existsSync(path)).toBe(true)
})
