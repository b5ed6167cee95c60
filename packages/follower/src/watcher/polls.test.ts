import { encodeHeader, type Header, headerHash } from '@ratatosk/block'
import { equalBytes } from '@ratatosk/cbor'
import { type Layer1, openWallet } from '@ratatosk/layer1'
import { mergeBlock } from '@ratatosk/protocol'
import type { Store } from '@ratatosk/store'
import { expect, test } from 'vitest'
import { ofLie } from './test/lies.js'
import { evaluator, openWatched, openWatcher, otherKeys, until } from './test/scene.js'

const timeout = 120_000

/** Layer 1, which counts polls, and how often a transaction is looked up. */
function counted(layer1: Layer1, id: Uint8Array) {
  const calls = { polls: 0, lookups: 0 }
  const counting: Layer1 = {
    ...layer1,
    async tip(options) {
      calls.polls++
      return layer1.tip(options)
    },
    async status(wanted, options) {
      if (equalBytes(wanted, id)) calls.lookups++
      return layer1.status(wanted, options)
    },
  }
  return { calls, counting }
}

test('follows what is recorded at each poll, also while another thing fails', { timeout }, async () => {
  const watched = await openWatched()
  const { scene, store } = watched
  const {
    headerHash: hash,
    header,
    height,
  } = await watched.commit(ofLie('inputSpentElsewhere', watched.story))
  const resume = await watched.stopMining()
  await store.verdicts.found({ headerHash: hash, height, header: encodeHeader(header), reason: 'a rule' })
  const wallet = openWallet({ layer1: scene.layer1, keys: otherKeys, evaluator })
  const { id, bytes, fee } = await wallet.send({ outputs: [{ address: otherKeys.address.bytes }] })
  const recorded = { id, stage: 'removal', cbor: bytes, fee, locked: 0n } as const
  await store.verdicts.record(hash, recorded)
  const { calls, counting } = counted(scene.layer1, id)
  const verdicts: Store['verdicts'] = {
    ...store.verdicts,
    newestRemoved: async () => Promise.reject(new Error('The store does not answer')),
  }
  const { watcher } = openWatcher(watched, [], { layer1: counting, verdicts, pollMs: 100 })
  await until('it fails', () => watcher.status().trouble !== undefined)
  const before = { ...calls }
  await until('it polls', () => calls.polls >= before.polls + 40)
  expect(watcher.status().trouble).toBe('The store does not answer')
  // The wallet reads the tip too, and looks up nothing.
  expect(calls.lookups - before.lookups).toBeGreaterThanOrEqual(20)
  resume()
})

test('does not look up at each poll what became of blocks before the confirmed state', {
  timeout,
}, async () => {
  const watched = await openWatched()
  const { scene, store, referenceScripts } = watched
  const { contracts, clock, devnet, slots } = scene
  const { header } = await watched.commit(ofLie('inputSpentElsewhere', watched.story))
  const resume = await watched.stopMining()
  const queue = await scene.queue()
  const commitId = queue.blocks[0]!.utxo.reference.transactionId
  clock.time = Math.max(clock.time, Number(header.endTime + contracts.parameters.maturityWindow))
  await scene.run(mergeBlock(contracts, { queue, slot: devnet.currentSlot(), slots, referenceScripts }))
  resume()
  const gone: Header = { ...header, prevHeaderHash: new Uint8Array(28).fill(9) }
  await store.verdicts.found({
    headerHash: headerHash(gone),
    height: 1n,
    header: encodeHeader(gone),
    reason: 'No peer serves its body',
    commitId,
    state: 'unavailable',
  })
  const { calls, counting } = counted(scene.layer1, commitId)
  openWatcher(watched, [], { layer1: counting })
  await until('it polls', () => calls.polls >= 40)
  expect(calls.lookups).toBe(1)
  expect((await store.verdicts.open()).map(({ state }) => state)).toEqual(['unavailable'])
})
