import { execFileSync } from 'node:child_process'
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { databaseUrl, inDatabase, randomName } from '@ratatosk/test-kit'
import { needServices } from '@ratatosk/test-kit/vitest'
import pg from 'pg'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { readSettings } from '../settings/read.js'
import { fileLimits } from '../settings/regular-file.js'
import { backUp, restore, toolEnvironment } from './backup.js'
import { checkedManifest, inNewFolder, isInside } from './folder.js'

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

const environmentOf = (url: string) => toolEnvironment(url, new pg.Client({ connectionString: url }))

test.each([
  ['postgres://u:p%40w@db:6000/x', { PGPASSWORD: 'p@w', PGHOST: 'db', PGPORT: '6000', PGDATABASE: 'x' }],
  ['postgres://u:pw@/x?host=/run/postgresql', { PGPASSWORD: 'pw', PGHOST: '/run/postgresql' }],
  ['postgres://u@db/x?password=pw', { PGPASSWORD: 'pw', PGUSER: 'u', PGPORT: '5432' }],
  ['postgres://u:100%@db/x', { PGPASSWORD: '100%', PGSSLMODE: undefined }],
  ['postgres://u@db/x', { PGPASSWORD: undefined, PGSERVICE: undefined, PGHOSTADDR: undefined }],
  ['postgres://u@db/x?ssl=true', { PGSSLMODE: 'require' }],
  ['postgres://u@db/x?ssl=0', { PGSSLMODE: 'disable' }],
  ['postgres://u@db/x?sslmode=no-verify', { PGSSLMODE: 'require' }],
  ['postgres://u@db/x?sslmode=verify-full', { PGSSLMODE: 'verify-full' }],
  ['postgres://u@db/x?options=-c%20a=b', { PGOPTIONS: '-c a=b' }],
])('the programs connect as the client does with %s', (url, expected) => {
  vi.stubEnv('PGSERVICE', 'other')
  vi.stubEnv('PGHOSTADDR', '192.0.2.1')
  onTestFinished(() => void vi.unstubAllEnvs())
  expect(environmentOf(url)).toMatchObject(expected)
})

test('a password in any form of the URL is in no argument and no message', async (context) => {
  await needServices(context)
  const folder = await mkdtemp(join(tmpdir(), 'ratatosk-tools-'))
  const schema = randomName()
  onTestFinished(() => rm(folder, { recursive: true }))
  onTestFinished(() => inDatabase(`DROP SCHEMA IF EXISTS ${schema} CASCADE`))
  await inDatabase(`CREATE SCHEMA ${schema}; CREATE TABLE ${schema}.t AS SELECT 1 AS n`)
  // Notes its arguments, and is the real program.
  const log = join(folder, 'arguments')
  for (const tool of ['pg_dump', 'pg_restore']) {
    const program = `#!/bin/sh\necho "$@" >> ${log}\nPATH=\${PATH#*${delimiter}} exec ${tool} "$@"\n`
    await writeFile(join(folder, tool), program)
    await chmod(join(folder, tool), 0o755)
  }
  vi.stubEnv('PATH', `${folder}${delimiter}${process.env.PATH}`)
  onTestFinished(() => void vi.unstubAllEnvs())
  const { user, host, port, database } = new pg.Client({ connectionString: databaseUrl })
  const password = `open%sesame`
  const settingsOf = (url: string) => readSettings({ DATABASE_URL: url, DATABASE_SCHEMA: schema })
  const forms = [
    `postgres://${user}:${password}@/${database}?host=${host}&port=${port}`,
    `postgres://${user}@${host}:${port}/${database}?password=open%25sesame`,
  ]
  for (const [n, form] of forms.entries()) {
    const manifest = await backUp(settingsOf(form), join(folder, `saved-${n}`))
    expect(manifest.rows).toEqual({ [`${schema}.t`]: 1 })
    await inDatabase(`DROP SCHEMA ${schema} CASCADE`)
    expect(await restore(settingsOf(form), join(folder, `saved-${n}`))).toEqual(manifest)
  }
  const written = await readFile(log, 'utf8')
  expect(written.match(/^--dbname= /gm)).toHaveLength(4)
  expect(written).not.toContain('sesame')

  const malformed = settingsOf(`postgres://${user}:open%ffsesame@${host}:${port}/${database}`)
  await expect(backUp(malformed, join(folder, 'none'))).rejects.toMatchObject({
    code: 'NODE_BACKUP',
    message: expect.not.stringContaining('sesame'),
  })
})
