import { toHex } from '@ratatosk/cbor'
import { type Layer1, Layer1Error } from '@ratatosk/layer1'
import { decodeTransaction, outputReferenceKey } from '@ratatosk/ledger'
import { askQuestions, endQuestion, readQuestions } from '@ratatosk/protocol'
import { encodeAsk, encodeChunkAnswer, encodeExpiry } from '@ratatosk/protocol/fraud'
import { describe, expect, test } from 'vitest'
import { blockOf } from '../../../protocol/dist/fraud/test/lying-blocks.js'
import { summonsContracts as contracts } from '../../../protocol/dist/test/protocol-scene.js'
import type { InvalidBlock } from '../index.js'
import { chunkNumberOf } from './context.js'
import type { SummonResult, Watcher, WatcherStep } from './index.js'
import { honest, mapOfTwo } from './test/lies.js'
import {
  isRemoved,
  newest,
  openOperator,
  openWatched,
  openWatcher,
  until,
  type Watched,
} from './test/scene.js'
import { chunkQuestion } from './unavailable.js'

const timeout = 120_000
const patienceMs = 20_000

const { period } = contracts.parameters.summons!
const nobody = { judge: async () => Promise.reject(new Error('There is no body')) }

/** Someone else asks for chunks of a block, long before the answers are due. */
async function othersAsk(watched: Watched, { header, headerHash }: InvalidBlock, numbers: readonly number[]) {
  const { scene, referenceScripts, stopMining } = watched
  const { devnet, slots } = scene
  const resume = await stopMining()
  for (const number of numbers) {
    const { steps, ...wanted } = chunkQuestion(header.transactionsRoot, number)
    const question = { ...wanted, headerHash, refund: new Uint8Array(28) }
    const validUntil = devnet.currentSlot() + 2000n
    const redeemer = () => encodeAsk(header, [steps])
    const asking = { questions: [question], redeemer, validUntil, slots }
    await scene.run(askQuestions(contracts, asking, referenceScripts))
  }
  resume()
}

async function askedChunks({ scene }: Watched): Promise<readonly number[]> {
  const utxos = await scene.layer1.utxosByPolicy(contracts.summons!.policy)
  return readQuestions(contracts, utxos).map(({ question }) => chunkNumberOf(question.key))
}

test('asks for a body although others ask much about it', { timeout }, async () => {
  const watched = await openWatched({ contracts })
  const block = await watched.commit(honest(watched.story))
  await othersAsk(
    watched,
    block,
    Array.from({ length: 20 }, (_, place) => 100 + place),
  )
  const { errors } = openWatcher(watched, [block], { withheld: nobody, patienceMs })
  await until('it is asked for', async () => (await askedChunks(watched)).includes(0), 10_000)
  expect(errors).toEqual([])
})

test('assembles the whole body although others ask for what it does not have', { timeout }, async () => {
  const watched = await openWatched({ contracts })
  const { story, commit } = watched
  const committed = blockOf([...story.transactions, story.large])
  const block = await commit(committed)
  await othersAsk(watched, block, [100])
  const shown: (readonly Uint8Array[])[] = []
  const withheld = {
    async judge(_: InvalidBlock, transactions: readonly Uint8Array[]) {
      shown.push(transactions)
      return true
    },
  }
  openWatcher(watched, [block], { withheld, patienceMs })
  await until('it is asked for', async () => (await askedChunks(watched)).includes(0))
  await openOperator(watched, committed)
  await until('it is shown', () => shown.length > 0)
  expect(shown[0]).toHaveLength(committed.transactions.length)
  expect(shown[0]!.map(toHex)).toEqual(committed.transactions.map(toHex))
})

test('removes a block by a verdict that is not recorded', { timeout }, async () => {
  const watched = await openWatched({ contracts })
  const { scene, store, stopMining } = watched
  const block = await watched.commit(honest(watched.story))
  const first = openWatcher(watched, [block], { withheld: nobody, patienceMs })
  await until('it is asked for', async () => (await askedChunks(watched)).length === 1)
  const resume = await stopMining()
  scene.clock.time += 2 * Number(period)
  await scene.devnet.produceBlock()
  const verdict = async () => (await newest({ store }))!.transactions.find(({ stage }) => stage === 'verdict')
  await until('the verdict is sent', async () => (await verdict()) !== undefined)
  await until('it waits', () => scene.devnet.mempool().length === 1)
  await first.close()
  // As if a provider had shown a state without it after its validity.
  const { id } = (await verdict())!
  await store.verdicts.drop(id)
  resume()
  await until('it is included', async () => (await scene.layer1.status(id)).kind === 'confirmed')
  const { errors } = openWatcher(watched, [block], { withheld: nobody, patienceMs })
  await until('it is removed', () => isRemoved({ store }))
  expect((await newest({ store }))!.transactions.map(({ stage }) => stage)).toEqual(['question', 'removal'])
  expect(errors).toEqual([])
})

test('sends the end of a question before layer 1 has a block behind its deadline', { timeout }, async () => {
  const watched = await openWatched({ contracts })
  const { scene, store, stopMining } = watched
  const block = await watched.commit(honest(watched.story))
  openWatcher(watched, [block], { withheld: nobody, patienceMs })
  await until('it is asked for', async () => (await askedChunks(watched)).length === 1)
  await stopMining()
  const tip = scene.devnet.tip().slot
  scene.clock.time += 2 * Number(period)
  await until('it waits for the next block', () => scene.devnet.mempool().length === 1)
  expect(scene.devnet.tip().slot).toBe(tip)
  const [verdict] = (await store.verdicts.list({ limit: 1 })).verdicts
  expect(verdict!.transactions.map(({ stage }) => stage)).toEqual(['question', 'verdict'])
})

test('tries once at each tip to end a question that layer 1 takes only later', { timeout }, async () => {
  const watched = await openWatched({ contracts })
  const { scene, store, stopMining } = watched
  const block = await watched.commit(honest(watched.story))
  const refused: bigint[] = []
  // As a node does, which judges intervals by the slot behind its tip.
  const layer1: Layer1 = {
    ...scene.layer1,
    async submit(cbor, options) {
      const { slot } = await scene.layer1.tip()
      const { invalidBefore = 0n } = decodeTransaction(cbor).body.validityInterval
      if (invalidBefore <= slot + 1n) return scene.layer1.submit(cbor, options)
      refused.push(slot)
      throw new Layer1Error('LAYER1_REJECTED', 'It is too early', { reason: 'OutsideValidityIntervalUTxO' })
    },
  }
  const { errors } = openWatcher(watched, [block], { withheld: nobody, patienceMs, layer1 })
  await until('it is asked for', async () => (await askedChunks(watched)).length === 1)
  const resume = await stopMining()
  scene.clock.time += 2 * Number(period)
  await until('it is refused', () => refused.length > 0)
  await new Promise((resolve) => setTimeout(resolve, 500))
  expect(refused).toHaveLength(1)
  resume()
  await until('it is removed', () => isRemoved({ store }))
  expect(refused).toHaveLength(1)
  expect((await newest({ store }))!.transactions.map(({ stage }) => stage)).toEqual([
    'question',
    'verdict',
    'removal',
  ])
  expect(errors).toEqual([])
})

/** The operator ends the only question, whose verdict it would rather have burned. */
async function operatorEnds({ scene, stopMining, referenceScripts }: Watched): Promise<void> {
  const { layer1, slots } = scene
  const { policy } = contracts.summons!
  const [question] = readQuestions(contracts, await layer1.utxosByPolicy(policy))
  const resume = await stopMining()
  scene.clock.time += 2 * Number(period)
  const ends = endQuestion(contracts, question!, encodeExpiry(0), slots, referenceScripts)
  const [refund] = ends.outputs!
  // The wallet gets what no output keeps, and burns it in the same block.
  await expect(scene.run({ ...ends, outputs: [refund!] })).rejects.toThrow()
  const { produced } = await scene.run(ends)
  const [verdict] = await layer1.utxosByUnit(policy + toHex(question!.question.headerHash))
  expect(verdict!.reference).toEqual(produced[1]!.reference)
  for (const redeemer of [encodeExpiry(0), encodeChunkAnswer(0, { absent: [] })])
    await expect(scene.run({ ...ends, inputs: [{ utxo: verdict!, redeemer }], mint: [] })).rejects.toThrow()
  resume()
}

const blocks = {
  'a body': (watched: Watched) => watched.commit(honest(watched.story)),
  'a root': async (watched: Watched) => {
    const committed = honest(watched.story)
    const roots = { ...committed.roots, utxosRoot: new Uint8Array(32).fill(0xab) }
    return { ...(await watched.commit({ ...committed, roots })), afterTransactions: mapOfTwo() }
  },
}

test.each(Object.entries(blocks))(
  'removes a block by the verdict of its operator, who can neither burn nor move it: %s',
  { timeout },
  async (what, commit) => {
    const watched = await openWatched({ contracts })
    const { scene, store } = watched
    const block = await commit(watched)
    const options = { patienceMs, ...(what === 'a body' && { withheld: nobody }) }
    const first = openWatcher(watched, [block], options)
    const { policy } = contracts.summons!
    const asked = async () => readQuestions(contracts, await scene.layer1.utxosByPolicy(policy))
    await until('it is asked for', async () => (await asked()).length === 1)
    await first.close()
    await operatorEnds(watched)
    const { errors } = openWatcher(watched, [block], options)
    await until('it is removed', () => isRemoved({ store }))
    expect((await newest({ store }))!.transactions.map(({ stage }) => stage)).toEqual(['question', 'removal'])
    expect(errors).toEqual([])
    // The verdict is still there, and no question.
    expect(await scene.layer1.utxosAt(contracts.summons!.addressText, { policy })).toHaveLength(1)
    expect(await asked()).toEqual([])
  },
)

test.each(['a wrong answer of the provider', 'an unexpected failure'])(
  'goes on although %s hides how a question of others was spent',
  { timeout },
  async (what) => {
    const watched = await openWatched({ contracts })
    const { scene, store } = watched
    const committed = honest(watched.story)
    const block = await watched.commit(committed)
    await othersAsk(watched, block, [0, 7])
    const asked = readQuestions(contracts, await scene.layer1.utxosByPolicy(contracts.summons!.policy))
    const hidden = new Set(asked.map(({ utxo }) => outputReferenceKey(utxo.reference)))
    const layer1: Layer1 = {
      ...scene.layer1,
      async spending(reference, options) {
        if (!hidden.has(outputReferenceKey(reference))) return scene.layer1.spending(reference, options)
        throw what === 'an unexpected failure'
          ? new RangeError('It is too deep')
          : new Layer1Error('LAYER1_INVALID_ANSWER', 'The provider gave an invalid answer')
      },
    }
    let shown: readonly Uint8Array[] = []
    const withheld = {
      async judge({ headerHash, height }: InvalidBlock, transactions: readonly Uint8Array[]) {
        shown = transactions
        const header = new Uint8Array(1)
        await store.archive.put([{ headerHash, height, merged: false, header, body: header }])
        return true
      },
    }
    openWatcher(watched, [block], { layer1, withheld, patienceMs })
    await until('it relies on theirs', async () => (await newest({ store }))?.state === 'unavailable')
    await openOperator(watched, committed)
    await until('the body is shown', () => shown.length > 0, 30_000)
    expect(shown.map(toHex)).toEqual(committed.transactions.map(toHex))
    expect((await newest({ store }))!.transactions.map(({ stage }) => stage)).toEqual(['question'])
  },
)

describe('summon', () => {
  const withheld = { judge: async () => Promise.reject(new Error('There is no body')) }
  /** Longer than a test: nothing is asked without a summons. */
  const patienceMs = Number(contracts.parameters.maturityWindow)
  const questions = async ({ scene }: Watched) =>
    readQuestions(contracts, await scene.layer1.utxosByPolicy(contracts.summons!.policy))

  /** Summons once the watcher lacks the body. */
  async function summon({ summon }: Watcher, headerHash: Uint8Array, chunk = 0): Promise<SummonResult> {
    let result: SummonResult = { kind: 'busy' }
    await until('the body is missing', async () => {
      result = await summon({ headerHash, chunk })
      return !(result.kind === 'refused' && result.reason.startsWith('Not missing'))
    })
    return result
  }

  test('a summons is asked at once and once, and silence removes the block', { timeout }, async () => {
    const watched = await openWatched({ contracts })
    const block = await watched.commit(honest(watched.story))
    const { headerHash } = block
    const steps: WatcherStep[] = []
    const observer = { step: (name: WatcherStep) => void steps.push(name) }
    const { watcher } = openWatcher(watched, [block], { withheld, patienceMs, observer })
    expect(await watcher.summon({ headerHash: new Uint8Array(28), chunk: 0 })).toEqual({ kind: 'absent' })
    const first = summon(watcher, headerHash)
    const asked = await first
    if (asked.kind !== 'asked') throw new Error(JSON.stringify(asked))
    const again = await Promise.all([summon(watcher, headerHash), summon(watcher, headerHash)])
    expect(again).toEqual([
      { kind: 'refused', reason: 'Already asked' },
      { kind: 'refused', reason: 'Already asked' },
    ])
    await until('layer 1 has it', async () => (await questions(watched)).length === 1)
    const [open] = await questions(watched)
    expect(outputReferenceKey(open!.utxo.reference)).toBe(asked.question)
    expect(open!.question).toMatchObject({ kind: 'chunk', deadline: asked.deadline })
    expect(await newest(watched)).toMatchObject({ transactions: [{ id: asked.transactionId }] })
    expect(steps.indexOf('question-recorded')).toBeLessThan(steps.indexOf('question-sent'))
    await watched.pass(2n * period)
    await until('it is removed', () => isRemoved(watched))
    expect(await summon(watcher, headerHash)).toEqual({ kind: 'absent' })
  })

  test('a watcher that is killed after it has recorded a summons sends it, once', { timeout }, async () => {
    const watched = await openWatched({ contracts })
    const block = await watched.commit(honest(watched.story))
    const resume = await watched.stopMining()
    const layer1: typeof watched.scene.layer1 = {
      ...watched.scene.layer1,
      submit: async () => Promise.reject(new Error('The process is killed')),
    }
    const first = openWatcher(watched, [block], { withheld, patienceMs, layer1 })
    await expect(summon(first.watcher, block.headerHash)).rejects.toThrow('The process is killed')
    await first.close()
    const recorded = (await newest(watched))!.transactions
    expect(recorded).toMatchObject([{ stage: 'question' }])
    resume()
    const { watcher } = openWatcher(watched, [block], { withheld, patienceMs })
    await until('it is sent', async () => (await questions(watched)).length === 1)
    const [open] = await questions(watched)
    expect(toHex(open!.utxo.reference.transactionId)).toBe(toHex(recorded[0]!.id))
    expect(await summon(watcher, block.headerHash)).toEqual({ kind: 'refused', reason: 'Already asked' })
  })

  test('a summons is refused that ends too late, exceeds the budget, or waits behind many', {
    timeout,
  }, async () => {
    const watched = await openWatched({ contracts })
    const block = await watched.commit(honest(watched.story))
    const { headerHash } = block
    const options = { withheld, patienceMs }
    const poor = openWatcher(watched, [block], { ...options, maxLovelacePerHour: 2_000_000n })
    expect(await summon(poor.watcher, headerHash)).toMatchObject({
      kind: 'refused',
      reason: expect.stringMatching(/^Not sent: .* of 2000000 are left in this hour$/),
    })
    expect(await questions(watched)).toEqual([])
    await poor.close()
    await expect(poor.watcher.summon({ headerHash, chunk: 0 })).rejects.toThrow('The watcher is closed')

    await watched.pass(contracts.parameters.maturityWindow - 2n * period)
    const { watcher } = openWatcher(watched, [block], options)
    // Not before a block shows the time.
    await until('it is too late', async () => {
      const result = await summon(watcher, headerHash)
      return result.kind === 'refused' && result.reason.startsWith('Too late: ')
    })
    const client = new AbortController()
    const many = Array.from({ length: 17 }, () => watcher.summon({ headerHash, chunk: 0 }, client.signal))
    client.abort(new Error('The client is gone'))
    expect(await many.at(-1)).toEqual({ kind: 'busy' })
    const ended = await Promise.allSettled(many)
    expect(ended.filter(({ status }) => status === 'rejected').length).toBeGreaterThan(10)
  })
})
