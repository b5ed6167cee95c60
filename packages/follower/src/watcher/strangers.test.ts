import { toHex } from '@ratatosk/cbor'
import { encodeAsk, encodeExpiry } from '@ratatosk/fraud'
import { askQuestion, endQuestion, readQuestions } from '@ratatosk/protocol'
import { expect, test } from 'vitest'
import { blockOf } from '../../../fraud/dist/test/lying-blocks.js'
import { summonsContracts as contracts } from '../../../protocol/dist/test/protocol-scene.js'
import type { InvalidBlock } from '../index.js'
import { chunkNumberOf } from './question-book.js'
import { honest } from './test/lies.js'
import { openOperator } from './test/operator.js'
import { openWatched, openWatcher, until, type Watched } from './test/scene.js'
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
    const asking = { question, redeemer: encodeAsk(header, steps), validUntil, slots }
    await scene.run(askQuestion(contracts, asking, referenceScripts))
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
  const newest = async () => (await store.verdicts.list({ limit: 1 })).verdicts[0]!
  const verdict = async () => (await newest()).transactions.find(({ stage }) => stage === 'verdict')
  await until('the verdict is sent', async () => (await verdict()) !== undefined)
  await until('it waits', () => scene.devnet.mempool().length === 1)
  await first.close()
  // As if a provider had shown a state without it after its validity.
  const { id } = (await verdict())!
  await store.verdicts.drop(id)
  resume()
  await until('it is included', async () => (await scene.layer1.status(id)).kind === 'confirmed')
  const { errors } = openWatcher(watched, [block], { withheld: nobody, patienceMs })
  await until('it is removed', async () => (await newest()).state === 'removed')
  expect((await newest()).transactions.map(({ stage }) => stage)).toEqual(['question', 'removal'])
  expect(errors).toEqual([])
})

test('removes a block by a verdict that its operator has taken', { timeout }, async () => {
  const watched = await openWatched({ contracts })
  const { scene, store, stopMining, referenceScripts } = watched
  const { layer1, slots } = scene
  const block = await watched.commit(honest(watched.story))
  openWatcher(watched, [block], { withheld: nobody, patienceMs })
  const asked = async () => readQuestions(contracts, await layer1.utxosByPolicy(contracts.summons!.policy))
  await until('it is asked for', async () => (await asked()).length === 1)
  const resume = await stopMining()
  const [question] = await asked()
  // The watcher waits for a block behind the deadline, and the operator does not.
  scene.clock.time += 2 * Number(period)
  await scene.run(endQuestion(contracts, question!, encodeExpiry(0), slots, referenceScripts))
  resume()
  const newest = async () => (await store.verdicts.list({ limit: 1 })).verdicts[0]!
  await until('it is removed', async () => (await newest()).state === 'removed')
  expect((await newest()).transactions.map(({ stage }) => stage)).toEqual(['question', 'removal'])
})
