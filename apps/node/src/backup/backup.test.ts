import { execFileSync } from 'node:child_process'
import { mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { fileLimits } from '../settings/regular-file.js'
import { inNewFolder, isInside } from './folders.js'
import { checkedManifest } from './manifest.js'

describe('folders', () => {
  async function temporaryFolder(): Promise<string> {
    const folder = await mkdtemp(join(tmpdir(), 'ratatosk-folders-'))
    onTestFinished(() => rm(folder, { recursive: true }))
    return folder
  }

  describe.runIf(process.platform === 'linux')('a backup that cannot be written', () => {
    test('to a folder that no process can create', async () => {
      await expect(inNewFolder('/proc/ratatosk/backup', async () => undefined)).rejects.toMatchObject({
        code: 'NODE_BACKUP',
        message: expect.stringContaining('cannot be written to'),
      })
    })

    test('to a full disk is one message, and leaves nothing', async () => {
      const folder = await temporaryFolder()
      await mkdir(join(folder, 'empty'))
      for (const place of [join(folder, 'new', 'backup'), join(folder, 'empty')]) {
        const written = inNewFolder(place, async () => {
          await writeFile(join(place, 'file'), 'partial')
          await writeFile('/dev/full', 'x')
        })
        await expect(written).rejects.toMatchObject({
          code: 'NODE_BACKUP',
          message: expect.stringMatching(/ENOSPC.*Nothing was left there/),
        })
      }
      expect(await readdir(folder, { recursive: true })).toEqual(['empty'])
    })
  })

  test('is written to the root of a volume', async () => {
    const folder = await temporaryFolder()
    await mkdir(join(folder, 'lost+found'))
    await inNewFolder(folder, () => writeFile(join(folder, 'file'), 'whole'))
    expect((await readdir(folder)).sort()).toEqual(['file', 'lost+found'])
    await expect(inNewFolder(folder, async () => undefined)).rejects.toThrow('is not empty')
  })

  test('finds what is inside a folder, by links and before it exists', async () => {
    const folder = await temporaryFolder()
    await mkdir(join(folder, 'store'))
    await symlink(join(folder, 'store'), join(folder, 'link'))
    const inside = (path: string) => isInside(join(folder, path), join(folder, 'store'))
    expect(await inside('store')).toBe(true)
    expect(await inside('store/new/one')).toBe(true)
    expect(await inside('link/new')).toBe(true)
    expect(await inside('..store')).toBe(false)
    expect(await inside('store2/new')).toBe(false)
    expect(await isInside(folder, join(folder, 'store'))).toBe(false)
  })
})

describe('manifest', () => {
  test('a manifest that has no end, is too large, or has too many levels is refused', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'ratatosk-manifest-'))
    onTestFinished(() => rm(folder, { recursive: true }))
    const file = join(folder, 'manifest.json')
    const refuses = (reason: string) =>
      expect(checkedManifest(folder, 'embedded', 'ratatosk')).rejects.toThrow(
        `"${folder}" is no complete backup: manifest.json: ${reason}`,
      )
    await refuses('the file cannot be read: it does not exist.')
    execFileSync('mkfifo', [file])
    await refuses('it is not a regular file. Name a file on a disk.')
    await rm(file)
    await writeFile(file, '['.repeat(101) + ']'.repeat(101))
    await refuses('more than 100 levels.')
    await writeFile(file, ' '.repeat(fileLimits.manifest + 1))
    await refuses(`it has more than ${fileLimits.manifest} bytes. Name another file.`)
  })
})
