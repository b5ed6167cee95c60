import { mkdir, mkdtemp, readdir, readFile, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { blockVersion } from '@ratatosk/block'
import { openEmbedded } from '@ratatosk/database/embedded'
import { openStore, readStored } from '@ratatosk/store'
import { createPGlite, SourceChain } from '@ratatosk/test-kit'
import { expect, it, onTestFinished } from 'vitest'
import { loadContext } from '../context.js'
import { readSettings } from '../settings/read.js'
import { checkStored } from './check-stored.js'
import { readEmbedded, type StoredHead, silent } from './stored-ledger.js'

it('takes an archive of this block version, and refuses any other', async () => {
  const pglite = await createPGlite()
  onTestFinished(() => pglite.close())
  const place = { pglite, schema: 'ratatosk' }
  const { archive } = await openStore(place)
  const context = await loadContext(readSettings({ LOG_LEVEL: 'silent', DATA_DIR: "/old node's" }), {})
  const check = () =>
    readStored(place, async (stored) => checkStored(context, undefined, stored as StoredHead))
  await check()

  const chain = new SourceChain()
  for (const version of [blockVersion, blockVersion - 1n]) {
    const { height, headerHash, header } = await chain.commit(1, { blockVersion: version })
    if (version !== blockVersion) await check()
    await archive.put([{ headerHash, header, height, merged: false, body: Uint8Array.of(0) }])
  }
  await expect(check()).rejects.toMatchObject({
    code: 'NODE_DATABASE',
    message: expect.stringMatching(
      new RegExp(
        `^The archive in .*old node's" has blocks of block version ${blockVersion - 1n}, and this node has ` +
          `version ${blockVersion}\\. Nothing was changed\\. .*another DATA_DIR`,
      ),
    ),
  })
})

it('reads a copy of a store behind a link', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'ratatosk-stored-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const at = (name: string) => join(folder, name)
  const [original, link, copies] = [at('original'), at('postgresql'), at('copies')]
  const { place, close } = await openEmbedded(original, { log: silent })
  await openStore({ ...place, schema: 'ratatosk' }).then((store) => store.close())
  await close()
  await symlink(join(original, 'postgresql'), link)
  await mkdir(copies)
  const control = () => readFile(join(link, 'global', 'pg_control'))
  const before = await control()
  const isStored = await readEmbedded(link, 'ratatosk', copies, async (stored) => stored !== undefined)
  expect(isStored).toBe(true)
  expect(await control()).toEqual(before)
  expect(await readdir(copies)).toEqual([])
})
