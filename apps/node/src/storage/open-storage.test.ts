import { mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createPGliteFiles } from '@ratatosk/test-kit'
import { expect, it, onTestFinished } from 'vitest'
import { loadContext } from '../context.js'
import { readSettings } from '../settings/read.js'
import { openStorage } from './open-storage.js'

it('checks an embedded store once at each start, and records a deployment once', async () => {
  const DATA_DIR = await mkdtemp(join(tmpdir(), 'ratatosk-storage-'))
  onTestFinished(() => rm(DATA_DIR, { recursive: true }))
  const store = join(DATA_DIR, 'store')
  await createPGliteFiles(store)
  const start = async (deployment: string) => {
    let checks = 0
    const context = await loadContext(readSettings({ LOG_LEVEL: 'silent', DATA_DIR }), {})
    const check = async () => void checks++
    await openStorage(context, { deployment, check }).finally(() => context.server.close())
    return { checks, recordedAt: (await stat(join(store, 'deployment.json'))).mtimeMs }
  }
  const first = await start('one')
  expect(first.checks).toBe(0)
  expect(await start('one')).toEqual({ checks: 1, recordedAt: first.recordedAt })
  const other = await start('other')
  expect(other.checks).toBe(1)
  expect(other.recordedAt).toBeGreaterThan(first.recordedAt)
})
