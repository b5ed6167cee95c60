import { partsOf } from '@ratatosk/block'
import { equalBytes, toHex } from '@ratatosk/cbor'
import { outputReferenceKey } from '@ratatosk/ledger'
import { readQuestions } from '@ratatosk/protocol'
import { movedParts } from '@ratatosk/protocol/fraud'
import { openStore } from '@ratatosk/store'
import { openTestStore } from '@ratatosk/test-kit/vitest'
import { expect, test } from 'vitest'
import { blockOf, chunksOf } from '../../../protocol/dist/fraud/test/lying-blocks.js'
import { signedTheft, undecodedOf } from '../../../protocol/dist/fraud/test/theft.js'
import { summonsContracts as contracts } from '../../../protocol/dist/test/protocol-scene.js'
import type { InvalidBlock } from '../index.js'
import type { Withheld } from './test/follow-queue.js'
import { honest, mapOfTwo, ofLie } from './test/lies.js'
import { followReally } from './test/real-follower.js'
import {
  bond,
  isRemoved,
  keys,
  newest,
  openOperator,
  openWatched,
  openWatcher,
  until,
  type Watched,
} from './test/scene.js'
import { groundOutputs } from './test/silence/hidden-blocks.js'

const timeout = 300_000
const silence = { policy: 'summons', fraud: 'unanswered' }
const patienceMs = 20_000
const stagesOf = async (watched: Pick<Watched, 'store'>) =>
  (await newest(watched))!.transactions.map(({ stage }) => stage)
const questions = async ({ scene }: Watched) =>
  readQuestions(contracts, await scene.layer1.utxosByPolicy(contracts.summons!.policy))
const { period } = contracts.parameters.summons!

/** Expects questions and then a removal. @returns the number of transactions with questions */
async function askedAndRemoved(watched: Pick<Watched, 'store'>): Promise<number> {
  const stages = await stagesOf(watched)
  expect(stages).toEqual([...stages.slice(1).map(() => 'question'), 'removal'])
  return stages.length - 1
}

/** A follower's judgement of bodies that an operator shows. */
function judging({ store }: Pick<Watched, 'store'>, isValid: boolean) {
  const shown: (readonly Uint8Array[])[] = []
  const withheld: Withheld = {
    async judge({ headerHash, height }, transactions) {
      shown.push(transactions)
      const archived = {
        headerHash,
        height,
        merged: false,
        header: new Uint8Array(1),
        body: new Uint8Array(1),
      }
      if (isValid) await store.archive.put([archived])
      return isValid
    },
  }
  return { shown, withheld }
}

const never = { judge: async () => Promise.reject(new Error('There is no body')) }

test('a silent operator who withholds a body loses the block and the bond', { timeout }, async () => {
  const watched = await openWatched({ contracts })
  const { queued, commit, commitNext, pass } = watched
  const block = await commit(honest(watched.story))
  await commitNext()
  const { watcher, wallet, errors } = openWatcher(watched, [block], { withheld: never, patienceMs })
  const before = (await wallet.balance()).lovelace
  await until('it is asked for', async () => (await questions(watched)).length === 1)
  const [asked] = await questions(watched)
  expect(asked!.question).toMatchObject({
    kind: 'chunk',
    headerHash: block.headerHash,
    key: new Uint8Array(4),
  })
  expect(await newest(watched)).toMatchObject({
    state: 'unavailable',
    reason: 'No peer serves its body',
    transactions: [{ stage: 'question' }],
  })
  await until('it is reported', () => watcher.status().unavailable?.height === 1n)
  expect(watcher.status()).not.toHaveProperty('unprovable')
  await pass(2n * period)
  await until('the queue is empty', async () => (await queued()).length === 0)
  await until('the verdict is settled', () => isRemoved(watched))

  const verdict = (await newest(watched))!
  expect(verdict).toMatchObject({ proof: silence, reason: 'No peer serves its body' })
  await until('it has pruned', async () => (await stagesOf(watched)).length === 4)
  expect(await stagesOf(watched)).toEqual(['question', 'verdict', 'removal', 'prune'])
  // Less the fees, and what the verdict's output holds for ever.
  const costs = 1_000_000n
  await until('the bond is back', async () => (await wallet.balance()).lovelace > before + bond - costs)
  expect((await watched.scene.registry()).datum.operators).toEqual([])
  expect(watcher.status()).toEqual({})
  expect(errors).toEqual([])
})

test('gets back the bonds of questions about blocks behind a removed one, without a verdict', {
  timeout,
}, async () => {
  const watched = await openWatched({ contracts })
  const { roots, ...block } = honest(watched.story)
  const first = await watched.commit({ ...block, roots })
  const prevUtxosRoot = first.header.utxosRoot
  const behind = await watched.commit({ ...block, roots: { ...roots, prevUtxosRoot } })
  const { watcher, wallet, errors } = openWatcher(watched, [], { patienceMs })
  const { signal } = new AbortController()
  const follow = async () => {
    for (const each of [first, behind]) await watcher.unavailable(each, signal)
  }
  const before = (await wallet.balance()).lovelace
  await until('both are asked for', async () => {
    await follow()
    return (await questions(watched)).length === 2
  })
  await watched.pass(2n * period)
  await until('both are gone', async () => {
    await follow()
    return (await watched.queued()).length === 0
  })
  const [left, ...others] = await questions(watched)
  expect([left?.question.headerHash, others]).toEqual([behind.headerHash, []])
  const { policy } = contracts.summons!
  const verdicts = async () =>
    (await watched.scene.layer1.utxosByPolicy(policy)).flatMap(({ output }) =>
      [...(output.value.assets.get(policy)?.keys() ?? [])].filter(({ length }) => length === 56),
    )
  expect(await verdicts()).toEqual([toHex(first.headerHash)])

  await watched.pass(contracts.parameters.maturityWindow)
  await until('it is reclaimed', async () => (await questions(watched)).length === 0)
  expect(await verdicts()).toEqual([toHex(first.headerHash)])
  const costs = 3_000_000n
  await until('both bonds are back', async () => (await wallet.balance()).lovelace > before + bond - costs)
  expect(errors).toEqual([])
})

test('assembles the body from the answers of an operator, who keeps the block', { timeout }, async () => {
  const watched = await openWatched({ contracts })
  const { story, queued, commit } = watched
  // Two chunks, the second of which is partly in a datum.
  const committed = blockOf([...story.transactions, story.large])
  const block = await commit(committed)
  const { answered } = await openOperator(watched, committed)
  const { shown, withheld } = judging(watched, true)
  const { watcher, wallet, errors } = openWatcher(watched, [block], { withheld, patienceMs })
  const before = (await wallet.balance()).lovelace
  await until('it is valid', async () => (await newest(watched))?.state === 'valid')
  expect(await newest(watched)).toMatchObject({ reason: 'Its body came late, and breaks no rule' })
  expect(shown).toHaveLength(1)
  expect(shown[0]!.map(toHex)).toEqual(committed.transactions.map(toHex))
  expect(answered.map(({ key }) => toHex(key))).toEqual(['00000000', '00000001'])
  expect(await stagesOf(watched)).toEqual(['question', 'question'])
  expect(await queued()).toHaveLength(1)
  expect(watcher.status()).toEqual({})
  const spent = async () => before - (await wallet.balance()).lovelace
  // Of bytes in datums, there is none.
  const rewards =
    contracts.parameters.summons!.byteReward *
    BigInt(chunksOf(committed.transactions).reduce((sum, { length }) => sum + Math.min(length, 12_000), 0))
  await until('the bonds are back', async () => (await spent()) < rewards + 2_000_000n)
  expect(await spent()).toBeGreaterThan(rewards)
  expect(errors).toEqual([])
})

test('proves the fraud in a body that the operator has shown', { timeout }, async () => {
  const watched = await openWatched({ contracts })
  const committed = ofLie('inputSpentElsewhere', watched.story)
  const block = await watched.commit(committed)
  await openOperator(watched, committed)
  const { shown, withheld } = judging(watched, false)
  const { errors } = openWatcher(watched, [block], { withheld, patienceMs })
  await until('it is removed', () => isRemoved(watched))
  expect(shown).toHaveLength(1)
  expect(await newest(watched)).toMatchObject({
    reason: 'It breaks a rule',
    proof: { fraud: 'inputSpentElsewhere' },
  })
  expect(await stagesOf(watched)).toEqual(['question', 'removal'])
  expect(errors).toEqual([])
})

test('finds by questions the output that a true body does not make', { timeout }, async () => {
  const watched = await openWatched({ contracts })
  const committed = ofLie('wrongOutputsAfter', watched.story)
  const block = { ...(await watched.commit(committed)), afterTransactions: honest(watched.story).after }
  const { answered } = await openOperator(watched, committed)
  const { errors } = openWatcher(watched, [block])
  await until('it is removed', () => isRemoved(watched))
  expect(await newest(watched)).toMatchObject({ proof: { policy: 'ledger', fraud: 'wrongOutputsAfter' } })
  expect(answered.length).toBeGreaterThan(0)
  expect(await askedAndRemoved(watched)).toBeLessThanOrEqual(answered.length)
  expect(errors).toEqual([])
})

test('finds by questions an output behind sixteen branches, and all at once', { timeout }, async () => {
  const watched = await openWatched({ contracts })
  const { committed, outputs, truth } = groundOutputs(watched.story, 16, 0, false)[0]!
  const posted = { ...committed, roots: { ...committed.roots, utxosRoot: outputs!.root } }
  const block = { ...(await watched.commit(posted)), afterTransactions: truth! }
  const { answered } = await openOperator(watched, posted, { outputs: outputs! })
  const { errors } = openWatcher(watched, [block])
  await until('it is removed', () => isRemoved(watched))
  expect(await newest(watched)).toMatchObject({ proof: { policy: 'ledger', fraud: 'wrongOutputsAfter' } })
  expect(answered.map(({ kind }) => kind)).toContain('entry')
  // Those below the first are asked for while the answers about entries come.
  expect(answered.filter(({ kind }) => kind === 'subtree').length).toBeLessThan(4)
  expect(errors).toEqual([])
})

test.each(['inventedOutput', 'wrongFees'])(
  'finds by questions the %s in a map that does not follow from the chunks',
  { timeout },
  async (fraud) => {
    const watched = await openWatched({ contracts })
    const committed = ofLie(fraud, watched.story)
    const { entries: _, ...block } = (await watched.commit(committed)) as InvalidBlock & { entries?: unknown }
    const { answered } = await openOperator(watched, committed)
    const { shown, withheld } = judging(watched, false)
    const { errors } = openWatcher(watched, [block], { withheld, patienceMs })
    await until('it is removed', () => isRemoved(watched))
    expect(shown).toHaveLength(1)
    expect(await newest(watched)).toMatchObject({ proof: { policy: 'ledger', fraud } })
    expect(await askedAndRemoved(watched)).toBeLessThanOrEqual(answered.length)
    expect(errors).toEqual([])
  },
)

test('finds by questions the fraud in a map that reads one bad transaction, and not another', {
  timeout,
}, async () => {
  const watched = await openWatched({ contracts })
  const strange = undecodedOf(9_500_000n)['a stake pointer']!
  const bad = [20, 22].map((first) => signedTheft({ ...strange, inputs: [first, first + 1] }))
  const isFirst = (body: Uint8Array) => equalBytes(body, partsOf(bad[0]!).body)
  const committed = blockOf([...watched.story.transactions, ...bad], {
    read: (body) => (isFirst(body) ? movedParts(body) : undefined),
    // The operator answers with this map.
    entries: () => undefined,
  })
  const { header } = await watched.commit(committed)
  const { answered } = await openOperator(watched, committed)
  const { transactions } = committed
  const { errors } = openWatcher(watched, [], {
    patienceMs,
    follow: (watcher) => followReally(watched, watcher, [{ header, transactions }]),
  })
  await until('it is removed', () => isRemoved(watched))
  expect(await newest(watched)).toMatchObject({
    proof: { policy: 'ledger', fraud: expect.stringMatching(/^(?:outputNotNoted|wrongFees)$/) },
  })
  expect(answered.length).toBeGreaterThan(1)
  expect(errors).toEqual([])
})

test('a root that no one can answer for is a verdict', { timeout }, async () => {
  const watched = await openWatched({ contracts })
  const committed = honest(watched.story)
  const roots = { ...committed.roots, utxosRoot: new Uint8Array(32).fill(0xab) }
  const committedBlock = await watched.commit({ ...committed, roots })
  const block = { ...committedBlock, afterTransactions: mapOfTwo() }
  const { watcher, errors } = openWatcher(watched, [block])
  await until('it is asked about', async () => (await questions(watched)).length === 1)
  expect((await questions(watched))[0]!.question).toMatchObject({ kind: 'subtree', hash: roots.utxosRoot })
  expect(await newest(watched)).toMatchObject({ state: 'invalid' })
  await watched.pass(2n * period)
  await until('it is removed', () => isRemoved(watched))
  expect(await newest(watched)).toMatchObject({ proof: silence })
  expect(await stagesOf(watched)).toEqual(['question', 'verdict', 'removal'])
  expect(watcher.status()).toEqual({})
  expect(errors).toEqual([])
})

test('of two watchers, the second uses the question of the first', { timeout }, async () => {
  const watched = await openWatched({ contracts })
  const other = { ...watched, store: await openTestStore(openStore) }
  const block = await watched.commit(honest(watched.story))
  const first = openWatcher(watched, [block], { withheld: never, patienceMs })
  await until('it is asked for', async () => (await questions(watched)).length === 1)
  const [asked] = await questions(watched)
  const second = openWatcher(other, [block], { withheld: never, patienceMs, walletKeys: keys })
  await until('the second knows', async () => (await newest(other))?.state === 'unavailable')
  await new Promise((resolve) => setTimeout(resolve, 500))
  expect((await questions(watched)).map(({ utxo }) => outputReferenceKey(utxo.reference))).toEqual([
    outputReferenceKey(asked!.utxo.reference),
  ])
  expect((await newest(other))!.transactions).toEqual([])
  await first.close()
  await watched.pass(2n * period)
  await until('the second removes it', () => isRemoved(other))
  expect(await stagesOf(other)).toEqual(['verdict', 'removal'])
  for (const { errors } of [first, second]) expect(errors).toEqual([])
})

test('a restarted watcher reads the answer to the question of another', { timeout }, async () => {
  const watched = await openWatched({ contracts })
  const other = { ...watched, store: await openTestStore(openStore) }
  const committed = honest(watched.story)
  const block = await watched.commit(committed)
  const first = openWatcher(watched, [block], { withheld: never, patienceMs })
  await until('it is asked for', async () => (await questions(watched)).length === 1)
  const options = { patienceMs, walletKeys: keys }
  const second = openWatcher(other, [block], { ...options, withheld: never })
  const kept = () => other.store.verdicts.keptQuestions(block.headerHash)
  await until('the second relies on it', async () => (await kept()).length === 1)
  for (const each of [first, second]) await each.close()
  await openOperator(watched, committed)
  await until('it is answered', async () => (await questions(watched)).length === 0)
  const { shown, withheld } = judging(other, true)
  const { errors } = openWatcher(other, [block], { ...options, withheld })
  await until('it is valid', async () => (await newest(other))?.state === 'valid')
  expect(shown).toHaveLength(1)
  expect(await stagesOf(other)).toEqual([])
  expect(errors).toEqual([])
})

test('reports what would be asked too late: of several blocks, the first', { timeout }, async () => {
  const watched = await openWatched({ contracts })
  const { watcher, wallet, errors } = openWatcher(watched, [], { patienceMs })
  const late = async () => {
    const { verdicts } = await watched.store.verdicts.list({ limit: 10 })
    const reason = 'No peer serves its body (not provable: a question would end too late for a removal)'
    return verdicts.filter((each) => each.reason === reason && each.state === 'unavailable').length
  }
  const { signal } = new AbortController()
  const blocks: InvalidBlock[] = []
  const withhold = async (count: number) => {
    const { roots, ...block } = honest(watched.story)
    for (let n = 0; n < count; n++) {
      const prevUtxosRoot = blocks.at(-1)?.header.utxosRoot ?? roots.prevUtxosRoot
      blocks.push(await watched.commit({ ...block, roots: { ...roots, prevUtxosRoot } }))
    }
    await watched.pass(contracts.parameters.maturityWindow - 2n * period)
    await until('each is recorded', async () => {
      // As a follower does: the watcher forgets a block that the queue it has read lacks.
      for (const each of blocks.slice(-count)) await watcher.unavailable(each, signal)
      return (await late()) === blocks.length
    })
  }
  const error = expect.stringMatching(/^WATCHER_TOO_LATE: .* Check that its operator's archivist is up/)
  await withhold(2)
  await until('it is reported', () => watcher.status().unprovable !== undefined)
  expect(errors).toEqual([error])
  expect(wallet.inFlight()).toEqual([])
  // After a while without one, it is a new trouble.
  await withhold(1)
  expect(errors).toEqual([error, error])
})

test('asks within the budget of an hour', { timeout }, async () => {
  const watched = await openWatched({ contracts })
  const block = await watched.commit(honest(watched.story))
  const options = { withheld: never, patienceMs }
  const poor = openWatcher(watched, [block], { ...options, maxLovelacePerHour: 2_000_000n })
  await until('the lack is known', () => poor.watcher.status().lack !== undefined)
  await new Promise((resolve) => setTimeout(resolve, 300))
  expect(poor.errors).toEqual([
    expect.stringMatching(/^WATCHER_BUDGET_SPENT: .* of 2000000 are left in this hour/),
  ])
  expect(await questions(watched)).toEqual([])
  await poor.close()
  openWatcher(watched, [block], { ...options, maxLovelacePerHour: 4_000_000n })
  await until('it is asked for', async () => (await questions(watched)).length === 1)
})

test('asks again where layer 1 loses the question', { timeout }, async () => {
  const watched = await openWatched({ contracts })
  const { scene } = watched
  const block = await watched.commit(honest(watched.story))
  const { watcher } = openWatcher(watched, [block], { withheld: never, patienceMs })
  await until('it is asked for', async () => (await questions(watched)).length === 1)
  const resume = await watched.stopMining()
  const [question] = (await newest(watched))!.transactions
  const status = await scene.layer1.status(question!.id)
  if (status.kind !== 'confirmed') throw new Error('it is not included')
  await scene.devnet.rollBack(status.confirmations + 1)
  expect(await questions(watched)).toEqual([])
  // Until the question cannot be included any more.
  scene.clock.time += Number(period)
  resume()
  await until('it is asked for again', async () => (await questions(watched)).length === 1)
  const again = (await newest(watched))!.transactions
  expect(again).toMatchObject([{ stage: 'question' }])
  expect(toHex(again[0]!.id)).not.toBe(toHex(question!.id))
  await watched.pass(2n * period)
  await until('it is removed', () => isRemoved(watched))
  expect(watcher.questions()).toEqual({ asked: 2, answered: 0, unanswered: 1 })
})
