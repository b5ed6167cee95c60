import { toHex } from '@ratatosk/cbor'
import { verdictPolicies } from '@ratatosk/contracts'
import { type Contracts, openContracts } from '@ratatosk/protocol'
import { movedParts } from '@ratatosk/protocol/fraud'
import { beforeAll, describe, expect, test } from 'vitest'
import { blockOf, type Committed } from '../../../protocol/dist/fraud/test/lying-blocks.js'
import { signedTheft, theft, undecodedOf } from '../../../protocol/dist/fraud/test/theft.js'
import { openScene, contracts as plain } from '../../../protocol/dist/test/protocol-scene.js'
import type { InvalidBlock } from '../index.js'
import { followReally } from './test/real-follower.js'
import { newest, openWatched, openWatcher, until } from './test/scene.js'

/* Blocks with a transaction that no claim shows, because it does not decode. It takes and hides nothing. */

const timeout = 120_000
const read = movedParts
const stolen = theft({ inputs: [30] })

let contracts: Contracts
beforeAll(async () => {
  const { devnet, layer1, slots } = await openScene()
  const rules = { parameters: await layer1.parameters(), networkId: 0, slots }
  await devnet.close()
  const policies = Object.values(verdictPolicies).map(({ script }) => script(rules))
  contracts = openContracts({ ...plain.parameters, verdictPolicies: policies }, 0)
})

/** Commits blocks one after the other, and watches them. */
async function watchBlocks(tell: (honest: readonly Uint8Array[]) => readonly Committed[]) {
  const watched = await openWatched({ contracts })
  const blocks: InvalidBlock[] = []
  for (const block of tell(watched.story.transactions)) blocks.push(await watched.commit(block))
  const { watcher, errors } = openWatcher(watched, [], {
    follow: (watcher) => followReally(watched, watcher, blocks),
  })
  return { ...watched, watcher, errors, hashes: blocks.map(({ headerHash }) => toHex(headerHash)) }
}

describe.each(Object.entries(undecodedOf(9_500_000n)))('%s that does not decode', (_what, harmless) => {
  const strange = signedTheft({ inputs: [20, 21], ...harmless })

  test('hides no theft in its block', { timeout }, async () => {
    const { queued, store, scene } = await watchBlocks((honest) => [
      blockOf([...honest, strange, stolen], { read }),
    ])
    await until('the block is removed', async () => (await queued()).length === 0)
    const verdict = await newest({ store })
    expect(verdict).toMatchObject({ proof: { policy: 'witness', fraud: 'missingSignature' } })
    expect((await scene.registry()).datum.operators).toEqual([])
  })

  test('hides no theft in the block behind', { timeout }, async () => {
    const { queued, store, scene, watcher, errors, hashes } = await watchBlocks((honest) => {
      const first = blockOf([...honest, strange], { read })
      return [first, blockOf([stolen], { outputs: first.outputs.after })]
    })
    await until('the theft is removed', async () => (await queued()).join() === hashes[0])
    const { verdicts } = await store.verdicts.list({ limit: 2 })
    expect(verdicts.map(({ proof }) => proof?.fraud)).toContain('missingSignature')
    expect((await scene.registry()).datum.operators).toEqual([])
    expect(toHex(watcher.status().unprovable!.headerHash)).toBe(hashes[0])
    expect(errors).toEqual([expect.stringMatching(/^WATCHER_UNPROVABLE: /)])
  })
})
