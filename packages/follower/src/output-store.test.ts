import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { archiveOfBlocks } from '@ratatosk/archivist'
import { bodyOf } from '@ratatosk/block'
import { SourceChain } from '@ratatosk/test-kit'
import { expect, it, onTestFinished } from 'vitest'
import { openOutputStore } from './output-store.js'
import { follow } from './test/following.js'
import { serve } from './test/serve.js'

it('keeps what the blocks of the kept states have spent, and nothing that older blocks have', async () => {
  const chain = new SourceChain(3)
  for (let n = 0; n < 68; n++) await chain.commit(1)
  const trieDir = await mkdtemp(join(tmpdir(), 'ratatosk-outputs-'))
  onTestFinished(() => rm(trieDir, { recursive: true, force: true }))
  const { follower } = await follow(chain, [await serve(archiveOfBlocks(chain))], { trieDir })
  await follower.synced()
  await follower.close()
  const outputs = openOutputStore(join(trieDir, 'outputs'))
  const kept = chain.blocks.map(({ cbors }) => outputs.get(bodyOf(cbors).spent[0]!) !== undefined)
  await outputs.close()
  // The newest 64 states before the present one, and one that the next block forgets.
  expect(kept).toEqual(chain.blocks.map((_, place) => place >= 68 - 65))
})
