import { execFileSync } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { fileLimits } from '../settings/regular-file.js'
import { checkedManifest } from './manifest.js'

test('a manifest that has no end, is too large, or has too many levels is refused', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'ratatosk-manifest-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const file = join(folder, 'manifest.json')
  const refuses = (reason: string) =>
    expect(checkedManifest(folder, 'embedded', 'ratatosk')).rejects.toThrow(
      `"${folder}" is no complete backup: manifest.json: ${reason}`,
    )
  await refuses('the file cannot be read.')
  execFileSync('mkfifo', [file])
  await refuses('it is not a regular file. Name a file on a disk.')
  await rm(file)
  await writeFile(file, '['.repeat(101) + ']'.repeat(101))
  await refuses('more than 100 levels.')
  await writeFile(file, ' '.repeat(fileLimits.manifest + 1))
  await refuses(`it has more than ${fileLimits.manifest} bytes. Name another file.`)
})
