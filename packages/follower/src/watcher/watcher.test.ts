import { encodeHeader, type Header, headerHash } from '@ratatosk/block'
import { equalBytes, toHex } from '@ratatosk/cbor'
import { type Layer1, Layer1Error, openWallet } from '@ratatosk/layer1'
import { keysFromSigningKey } from '@ratatosk/ledger/builder'
import { mergeBlock, removeBlock } from '@ratatosk/protocol'
import { accuse, removeFraudulentBlock } from '@ratatosk/protocol/fraud'
import { openStore, type Store } from '@ratatosk/store'
import { openTestStore } from '@ratatosk/test-kit/vitest'
import { expect, test } from 'vitest'
import { honest, largeLie, ofLie } from './test/lies.js'
import {
  bond,
  evaluator,
  isRemoved,
  keys,
  newest,
  openWatched,
  openWatcher,
  otherKeys,
  until,
  type Watched,
} from './test/scene.js'

const timeout = 120_000

test('removes a block, slashes its operator and prunes what is behind it', { timeout }, async () => {
  const watched = await openWatched()
  const { scene, story, queued, commit, commitNext } = watched
  const block = await commit(ofLie('inputSpentElsewhere', story))
  for (let n = 0; n < 2; n++) await commitNext()
  const { watcher, wallet, errors } = openWatcher(watched, [block])
  const before = (await wallet.balance()).lovelace
  await until('the queue is empty', async () => (await queued()).length === 0)
  await until('the verdict is settled', () => isRemoved(watched))

  const verdict = (await newest(watched))!
  expect(verdict).toMatchObject({
    block: { headerHash: block.headerHash, height: 1n, operatorKey: keys.payment.hash },
    reason: 'It breaks a rule',
    position: 0,
    proof: { policy: 'ledger', fraud: 'inputSpentElsewhere' },
    transactions: [{ stage: 'removal' }, { stage: 'prune' }],
    removedAt: expect.any(Date),
  })
  for (const { id, fee } of verdict.transactions) {
    expect((await scene.layer1.status(id)).kind).toBe('confirmed')
    expect(fee).toBeGreaterThan(150_000n)
  }
  expect((await scene.registry()).datum.operators).toEqual([])
  expect((await wallet.balance()).lovelace - before).toBeGreaterThan(bond)
  expect(watcher.status()).toEqual({})
  expect(errors).toEqual([])
})

test('sends a part of a proof first where it is too large, and gets its ada back', { timeout }, async () => {
  const watched = await openWatched()
  const block = await watched.commit(largeLie(watched.story))
  const { errors } = openWatcher(watched, [block])
  await until('the block is removed', () => isRemoved(watched))
  expect((await newest(watched))!.transactions).toMatchObject([{ stage: 'datum' }, { stage: 'removal' }])
  expect(errors).toEqual([])
})

test('two watchers race for a block: one gets the bond, and neither fails', { timeout }, async () => {
  const watched = await openWatched()
  const other = { ...watched, store: await openTestStore(openStore) }
  const block = await watched.commit(ofLie('inputSpentElsewhere', watched.story))
  await watched.commitNext()
  // Both have sent their removal before layer 1 includes one.
  const resume = await watched.stopMining()
  const one = openWatcher(watched, [block])
  const two = openWatcher(other, [block], { walletKeys: keys })
  const hasSent = async (each: Pick<Watched, 'store'>) => ((await newest(each))?.transactions.length ?? 0) > 0
  await until('one has sent', async () => (await hasSent(watched)) || (await hasSent(other)))
  await new Promise((resolve) => setTimeout(resolve, 500))
  resume()
  await until('both know', async () => (await isRemoved(watched)) && (await isRemoved(other)))
  await until('the queue is empty', async () => (await watched.queued()).length === 0)
  const stages = async () =>
    [await newest(watched), await newest(other)]
      .flatMap((verdict) => verdict!.transactions.map(({ stage }) => stage))
      .sort()
  // Who was slower to remove or to prune forgets what it sent.
  await until('one of each is left', async () => (await stages()).join() === 'prune,removal')
  for (const { errors } of [one, two]) expect(errors).toEqual([])
})

test.each([
  ['sends the same bytes again where layer 1 loses the removal', false],
  ['needs nothing where layer 1 includes it again', true],
])('%s', { timeout }, async (_what, resubmit) => {
  const watched = await openWatched()
  const { scene, commit, stopMining, queued } = watched
  const block = await commit(ofLie('inputSpentElsewhere', watched.story))
  const { wallet, errors } = openWatcher(watched, [block])
  await until('the block is removed', () => isRemoved(watched))
  const [removal] = (await newest(watched))!.transactions
  const gained = (await wallet.balance()).lovelace

  const resume = await stopMining()
  const status = await scene.layer1.status(removal!.id)
  if (status.kind !== 'confirmed') throw new Error('it is not included')
  await scene.devnet.rollBack(status.confirmations + 1, { resubmit })
  expect(await queued()).toHaveLength(1)
  if (!resubmit) await until('it is found again', async () => !(await isRemoved(watched)))
  resume()
  await until('the block is removed again', async () => (await queued()).length === 0)
  await until('the verdict is settled again', () => isRemoved(watched))
  expect((await newest(watched))!.transactions.map(({ id }) => toHex(id))).toEqual([toHex(removal!.id)])
  expect((await wallet.balance()).lovelace).toBe(gained)
  expect(errors).toEqual([])
})

test('builds another removal where a roll-back took the inputs of the first', { timeout }, async () => {
  const watched = await openWatched()
  const { scene, commit, stopMining, queued } = watched
  const block = await commit(ofLie('inputSpentElsewhere', watched.story))
  const first = openWatcher(watched, [block])
  await until('the block is removed', () => isRemoved(watched))
  const [removal] = (await newest(watched))!.transactions
  await first.close()
  const resume = await stopMining()
  const status = await scene.layer1.status(removal!.id)
  if (status.kind !== 'confirmed') throw new Error('it is not included')
  await scene.devnet.rollBack(status.confirmations + 1)
  // The wallet's owner spends everything elsewhere.
  const { bytes: address } = otherKeys.address
  await scene.otherWallet.send({ outputs: [{ address, lovelace: 9_000_000_000n }] })
  resume()
  await until('it is included', () => scene.devnet.mempool().length === 0)
  const { errors } = openWatcher(watched, [block])
  await until('the block is removed again', async () => (await queued()).length === 0)
  await until('the verdict is settled again', () => isRemoved(watched))
  const again = (await newest(watched))!.transactions
  expect(again).toMatchObject([{ stage: 'removal' }])
  expect(toHex(again[0]!.id)).not.toBe(toHex(removal!.id))
  expect(errors).toEqual([])
})

test('keeps a finding while the wallet is empty, and goes on when ada comes', { timeout }, async () => {
  const watched = await openWatched()
  const { scene, commit, stopMining, queued } = watched
  // Without outputs.
  const walletKeys = keysFromSigningKey('07'.repeat(32), { networkId: 0 })
  const block = await commit(ofLie('inputSpentElsewhere', watched.story))
  const { watcher, errors } = openWatcher(watched, [block], { walletKeys })
  await until('the lack is known', () => watcher.status().lack !== undefined)
  await until('the block is found', async () => (await newest(watched))?.state === 'invalid')
  await new Promise((resolve) => setTimeout(resolve, 1000))
  const line = /^WATCHER_LACKS_FUNDS: The watcher cannot pay: .*addr_test1/
  expect(errors).toEqual([expect.stringMatching(line)])
  expect(await queued()).toHaveLength(1)

  const resume = await stopMining()
  await scene.otherWallet.send({
    outputs: [1, 2].map(() => ({ address: walletKeys.address.bytes, lovelace: 200_000_000n })),
  })
  resume()
  await until('the block is removed', () => isRemoved(watched))
  await until('nothing is lacking', () => watcher.status().lack === undefined)
  expect(errors).toHaveLength(1)
})

test('spends no more than the budget of an hour', { timeout }, async () => {
  const watched = await openWatched()
  const block = await watched.commit(ofLie('inputSpentElsewhere', watched.story))
  const poor = openWatcher(watched, [block], { maxLovelacePerHour: 100_000n })
  await until('the lack is known', () => poor.watcher.status().lack !== undefined)
  await new Promise((resolve) => setTimeout(resolve, 500))
  expect(poor.errors).toEqual([
    expect.stringMatching(/^WATCHER_BUDGET_SPENT: .* of 100000 are left in this hour/),
  ])
  // Each poll builds what it then cannot pay.
  await poor.close()
  expect(poor.wallet.inFlight()).toEqual([])
  expect(await newest(watched)).toMatchObject({ state: 'invalid', transactions: [] })
  openWatcher(watched, [block], { maxLovelacePerHour: 5_000_000n })
  await until('the block is removed', () => isRemoved(watched))
})

test('reports what no proof removes, and settles it when others remove it', { timeout }, async () => {
  const watched = await openWatched()
  const { scene, commit, stopMining } = watched
  const block = await commit(honest(watched.story))
  const { watcher, errors } = openWatcher(watched, [block])
  await until('it is unprovable', () => watcher.status().unprovable !== undefined)
  const reason = 'It breaks a rule (not provable: no fraud proof shows it)'
  expect(watcher.status().unprovable).toEqual({ headerHash: block.headerHash, height: 1n, reason })
  expect(await newest(watched)).toMatchObject({ state: 'unprovable', reason, transactions: [] })
  // The datum of a stranger begins no other search.
  const dust = {
    address: otherKeys.address.bytes,
    datum: { kind: 'inline', data: Uint8Array.of(0) },
  } as const
  await scene.layer1.await((await scene.wallet.send({ outputs: [dust] })).id)
  await new Promise((resolve) => setTimeout(resolve, 300))
  expect(errors).toEqual([expect.stringMatching(/^WATCHER_UNPROVABLE: /)])

  const resume = await stopMining()
  const queue = await scene.queue()
  await scene.wallet.send(removeBlock(scene.contracts, queue, block.headerHash, watched.referenceScripts))
  resume()
  await until('the verdict is settled', () => isRemoved(watched))
  expect(watcher.status()).toEqual({})
  expect(errors).toHaveLength(1)
})

test('removes a theft behind a block that no proof removes', { timeout }, async () => {
  const watched = await openWatched()
  const { scene, story, commit, queued } = watched
  const rest = honest(story)
  // It changes nothing: the theft begins with its root. No proof shows what is wrong with its map.
  const { prevUtxosRoot } = rest.roots
  const roots = { ...rest.roots, utxosRoot: prevUtxosRoot, transactionsRoot: prevUtxosRoot }
  const unprovable = await commit({ ...rest, transactions: [], roots })
  const theft = await commit(ofLie('inputSpentElsewhere', story))
  const { watcher, errors } = openWatcher(watched, [unprovable, theft])
  const left = [toHex(unprovable.headerHash)]
  await until('the theft is removed', async () => (await queued()).join() === left.join())
  await until('its verdict is settled', () => isRemoved(watched))
  expect((await scene.registry()).datum.operators).toEqual([])
  expect(watcher.status().unprovable?.headerHash).toEqual(unprovable.headerHash)
  expect(errors).toEqual([expect.stringMatching(/^WATCHER_UNPROVABLE: /)])
})

test('a body that does not belong to the header is unprovable', { timeout }, async () => {
  const watched = await openWatched()
  const lie = ofLie('inputSpentElsewhere', watched.story)
  const block = await watched.commit(lie)
  const other = { ...block, transactions: lie.transactions.slice(1) }
  const { watcher } = openWatcher(watched, [other])
  await until('it is unprovable', () => watcher.status().unprovable !== undefined)
  expect(watcher.status().unprovable?.reason).toMatch(/The transactions map has the root/)
})

test('an older queue, a lost commit and an absent provider settle nothing', { timeout }, async () => {
  const watched = await openWatched()
  const { scene, commit, stopMining, queued } = watched
  const { layer1 } = scene
  const older = await layer1.utxosByPolicy(scene.contracts.scripts.queue.policy)
  const block = await commit(honest(watched.story))
  let shown: 'present' | 'older' | 'none' = 'present'
  const flawed = {
    ...layer1,
    async utxosByPolicy(...call: Parameters<typeof layer1.utxosByPolicy>) {
      if (shown === 'none') throw new Layer1Error('LAYER1_UNREACHABLE', 'There is no connection')
      return shown === 'older' ? older : layer1.utxosByPolicy(...call)
    },
  }
  const { watcher, errors } = openWatcher(watched, [block], { layer1: flawed })
  await until('it is unprovable', () => watcher.status().unprovable !== undefined)
  shown = 'older'
  await new Promise((resolve) => setTimeout(resolve, 300))
  expect((await newest(watched))!.state).not.toBe('removed')
  shown = 'none'
  await until('it waits', () => watcher.status().trouble === 'There is no connection')
  shown = 'present'
  await until('it goes on', () => watcher.status().trouble === undefined)

  const [verdict] = await watched.store.verdicts.open()
  const resume = await stopMining()
  const commitment = await layer1.status(verdict!.commitId!)
  if (commitment.kind !== 'confirmed') throw new Error('it is not included')
  await scene.devnet.rollBack(commitment.confirmations + 1)
  expect(await queued()).toEqual([])
  await new Promise((resolve) => setTimeout(resolve, 300))
  expect((await newest(watched))!.state).not.toBe('removed')
  resume()
  expect(errors.every((line) => line.startsWith('WATCHER_UNPROVABLE'))).toBe(true)
})

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
  expect((await removed()).map((verdict) => verdict.block.headerHash)).toEqual([gone])
  expect(errors.filter((line) => line === merged)).toHaveLength(1)
  const open = (await store.verdicts.open()).map(({ state }) => state)
  expect(open).toEqual(['invalid', 'invalid', 'unprovable'])
})

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
