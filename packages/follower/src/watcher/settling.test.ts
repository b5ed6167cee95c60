import { encodeHeader, type Header, headerHash } from '@ratatosk/block'
import { accuse, removeFraudulentBlock } from '@ratatosk/fraud'
import { keysFromSigningKey } from '@ratatosk/ledger/builder'
import { mergeBlock } from '@ratatosk/protocol'
import { expect, test } from 'vitest'
import { largeLie, ofLie } from './test/lies.js'
import { evaluator, openWatched, openWatcher, until } from './test/scene.js'

const timeout = 120_000

test('uses a verdict that the wallet holds', { timeout }, async () => {
  const watched = await openWatched()
  const { scene, story, referenceScripts, stopMining, store } = watched
  const block = await watched.commit(largeLie(story))
  const resume = await stopMining()
  const { layer1, slots, devnet, otherWallet, contracts } = scene
  const [queue, registry] = [await scene.queue(), await scene.registry()]
  const wanted = { block: await accuse(block), queue, registry, referenceScripts }
  const parameters = await layer1.parameters()
  const judgement = { parameters, slots, slot: devnet.currentSlot(), evaluator }
  const minted = await removeFraudulentBlock(contracts, wanted, judgement)
  expect(minted?.stage).toBe('verdict')
  await scene.run(minted!.draft, otherWallet)
  resume()
  const { errors } = openWatcher(watched, [block])
  const listed = async () => (await store.verdicts.list({ limit: 1 })).verdicts[0]
  await until('the block is removed', async () => (await listed())?.state === 'removed')
  expect((await listed())!.transactions).toMatchObject([{ stage: 'removal' }])
  expect(errors).toEqual([])
})

test('reports what is merged before it is removed, and what is gone behind merged blocks', {
  timeout,
}, async () => {
  const watched = await openWatched()
  const { scene, story, referenceScripts, stopMining, store, queued } = watched
  const block = await watched.commit(ofLie('inputSpentElsewhere', story))
  await watched.commitNext()
  const walletKeys = keysFromSigningKey('07'.repeat(32), { networkId: 0 })
  const { watcher, errors } = openWatcher(watched, [block], { walletKeys })
  await until('it is found', async () => (await store.verdicts.open()).length > 0)
  const { commitId } = (await store.verdicts.open())[0]!
  expect(commitId).toHaveLength(32)

  const { contracts, clock, devnet, slots } = scene
  const merge = async () => {
    const resume = await stopMining()
    const queue = await scene.queue()
    const { endTime } = queue.blocks[0]!.datum.header
    clock.time = Math.max(clock.time, Number(endTime + contracts.parameters.maturityWindow))
    await scene.run(mergeBlock(contracts, { queue, slot: devnet.currentSlot(), slots, referenceScripts }))
    resume()
  }
  await merge()
  const merged = 'WATCHER_MERGED: An invalid block is not removed: It was merged before it was removed'
  await until('it is reported', () => errors.includes(merged))
  expect(watcher.status()).not.toHaveProperty('unprovable')
  await merge()
  expect(await queued()).toEqual([])

  /** A verdict of an earlier process about a block behind another that the queue no longer has. */
  const foundBefore = async (height: bigint) => {
    const header: Header = { ...block.header, prevHeaderHash: new Uint8Array(28).fill(Number(height)) }
    const hash = headerHash(header)
    const verdict = { headerHash: hash, height, header: encodeHeader(header), reason: 'another' }
    await store.verdicts.found({ ...verdict, commitId: commitId! })
    return hash
  }
  const [gone] = [await foundBefore(2n), await foundBefore(3n), await foundBefore(4n)]
  // The follower has other blocks at the heights of two of them, one of which may still be removed.
  const archived = { header: new Uint8Array(1), body: new Uint8Array(1) }
  await store.archive.put([
    { ...archived, height: 1n, headerHash: block.headerHash, merged: true },
    { ...archived, height: 2n, headerHash: new Uint8Array(28).fill(2), merged: true },
    { ...archived, height: 3n, headerHash: new Uint8Array(28).fill(3), merged: false },
  ])
  const removed = async () => (await store.verdicts.list({ limit: 10, state: 'removed' })).verdicts
  await until('one is settled', async () => (await removed()).length > 0)
  await new Promise((resolve) => setTimeout(resolve, 300))
  expect((await removed()).map(({ headerHash: hash }) => hash)).toEqual([gone])
  expect(errors.filter((line) => line === merged)).toHaveLength(1)
  const open = (await store.verdicts.open()).map(({ state }) => state)
  expect(open).toEqual(['invalid', 'invalid', 'unprovable'])
})
