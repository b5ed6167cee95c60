import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { loadContext } from '../context.js'
import { readSettings } from '../settings/read.js'
import { openStorage } from './open-storage.js'

it('checks an embedded store at each start but the first, and changes nothing if it is refused', async () => {
  const DATA_DIR = await mkdtemp(join(tmpdir(), 'ratatosk-storage-'))
  onTestFinished(() => rm(DATA_DIR, { recursive: true }))
  let checks = 0
  const start = async (check: () => Promise<void>) => {
    const context = await loadContext(readSettings({ LOG_LEVEL: 'silent', DATA_DIR }), {})
    await openStorage(context, check).finally(() => context.server.close())
  }
  await start(async () => void checks++)
  expect(checks).toBe(0)
  await expect(start(() => Promise.reject(new Error('another deployment')))).rejects.toThrow('another')
  await start(async () => void checks++)
  expect(checks).toBe(1)
  expect(await readdir(DATA_DIR)).toEqual(['postgresql'])
})
