import { decodeHeader, headerFieldIndex } from '@ratatosk/block'
import { equalBytes } from '@ratatosk/cbor'
import { openWallet } from '@ratatosk/layer1'
import { blake2b256, slotToTime } from '@ratatosk/ledger'
import { endQuestion, type OpenQuestion } from '@ratatosk/protocol'
import { encodeExpiry } from '@ratatosk/protocol/fraud'
import type { Block } from '@ratatosk/store'
import { expect, type TestContext, test } from 'vitest'
import { openAnswers, openRoots } from '../roots/index.js'
import { acceptingAll } from '../test/accept.js'
import { until } from '../test/agreement.js'
import { chunkOf, nodeOf, openAsker, outputsOf, referenceOf } from '../test/asking.js'
import { attackerKeys, registerAttacker } from '../test/attacker.js'
import { openOperator, openStores, type TestOperator } from '../test/operators.js'
import { administrator, evaluator, genesis, openChain, queueOf, transfers } from '../test/rollup.js'
import { contractsOf, deploymentOutput, operatorKeys, summonsTerms } from '../test/rollup-contracts.js'
import { answerKeys } from './answer-wallet.js'
import { turnAt } from './questions.js'

const period = 20_000n
const contracts = contractsOf(7_200_000n, deploymentOutput, undefined, {
  summons: { ...summonsTerms, period },
})

/** Two operators with answers, on one layer 1. */
async function openTwo(context: TestContext) {
  const chain = await openChain(context)
  const { layer1 } = chain
  const stop = chain.keepMining()
  context.onTestFinished(stop)
  const stores = await openStores(context, 2)
  const meansOf = async (place: number, keys: typeof operatorKeys) => {
    const { store } = stores[place]!
    const roots = await openRoots({ history: 100 })
    const blocks = openAnswers({ store, roots, genesis })
    context.onTestFinished(() => blocks.close())
    const wallet = openWallet({ layer1, keys: answerKeys(keys), evaluator, withholdMs: 50 })
    return { contracts, roots, answers: { blocks, wallet } }
  }
  const one = await openOperator(context, layer1, stores, 0, await meansOf(0, operatorKeys))
  expect(await one.sequencer.run('init')).toMatchObject({ kind: 'initiated' })
  const operator = await registerAttacker(chain, contracts)
  const two = await openOperator(context, layer1, stores, 1, {
    operator,
    ...(await meansOf(1, attackerKeys)),
  })
  await until(async () => two.sequencer.snapshot().fault === null && two.sequencer.snapshot().rootUnit !== '')
  await two.store.applyGenesis(genesis)
  return { chain, one, two, stop }
}

const newestOf = async ({ store }: TestOperator, { payment }: typeof operatorKeys) => {
  const newest = await store.blocks.newest()
  const isOwn = newest && equalBytes(decodeHeader(newest.header).operatorVkey, payment.hash)
  return isOwn && newest.state === 'committed' ? newest : undefined
}

/** Lets an operator commit transactions that the other one has not got. */
async function commitBy(operator: TestOperator, keys: typeof operatorKeys, from: number): Promise<Block> {
  const submissions = acceptingAll(operator.store)
  for (const { cbor } of transfers(3, from)) await submissions.add(cbor)
  await until(async () => (await newestOf(operator, keys)) !== undefined, 120_000)
  return (await newestOf(operator, keys)) as Block
}

test('another operator answers for one that is silent, and no block is lost', {
  timeout: 240_000,
}, async (context) => {
  const { chain, one, two, stop } = await openTwo(context)
  const { layer1, clock, devnet } = chain
  const silent = await commitBy(one, operatorKeys, 0)
  await until(async () => (await two.store.blocks.byHash(silent.headerHash))?.state === 'committed')
  const outputs = await outputsOf(two.store)
  await one.sequencer.close()
  const behind = await commitBy(two, attackerKeys, 10)
  const queued = async () => (await queueOf(layer1, contracts)).blocks.map(({ headerHash }) => headerHash)
  const before = await queued()
  expect(before.length).toBeGreaterThanOrEqual(2)

  // Time passes only with what is sent.
  await stop()
  context.onTestFinished(chain.keepMining({ empty: false }))
  const wallet = administrator(layer1)
  const asker = await openAsker(two.store, layer1, wallet, contracts)
  const path = blake2b256(Uint8Array.of(7))
  const asked: OpenQuestion[] = []
  for (const wanted of [chunkOf(silent, 0), nodeOf(outputs, headerFieldIndex.utxosRoot, 'subtree', path, 0)])
    asked.push(await asker.ask(silent, wanted))
  const own = await asker.ask(behind, chunkOf(behind, 0))
  await until(() => asker.answersTo(own).then((sent) => sent.some(({ stage }) => stage === 'answer')))
  await until(async () => !(await asker.open()).includes(referenceOf(own)))
  // In the first half, only for its own block.
  for (const each of asked) expect(await asker.answersTo(each)).toEqual([])
  expect(await asker.open()).toEqual(expect.arrayContaining(asked.map(referenceOf)))
  await until(async () => two.sequencer.questions.open === 0)

  const [{ question }] = asked as [OpenQuestion]
  expect(BigInt(clock.time)).toBeLessThan(question.deadline - period / 2n)
  clock.time = Number(question.deadline - period / 4n)
  await devnet.produceBlock()
  await until(() => asker.isAnswered(...asked))
  expect(BigInt(clock.time)).toBeLessThan(question.deadline)
  for (const each of asked) {
    const [answer] = await asker.answersTo(each)
    const status = await layer1.status(answer!.id)
    if (status.kind !== 'confirmed') throw new Error('It is not included')
    const at = slotToTime(devnet.slots, status.slot)
    expect(at).toBeGreaterThanOrEqual(turnAt(each, period, attackerKeys.payment.hash))
  }
  clock.time = Number(question.deadline) + 5_000
  for (const each of asked) {
    const draft = endQuestion(contracts, each, encodeExpiry(0), devnet.slots)
    await expect(wallet.send(draft)).rejects.toThrow()
  }
  expect(await queued()).toEqual(before)
  expect(two.sequencer.questions.unanswered).toEqual([])
})

test('operators take turns in the third quarter of the time', () => {
  const asked = { question: { deadline: 1_000_000n } }
  const turns = Array.from({ length: 50 }, (_, index) => {
    const utxo = { reference: { transactionId: new Uint8Array(32), index } }
    return turnAt({ ...asked, utxo } as unknown as OpenQuestion, period, attackerKeys.payment.hash)
  })
  expect(new Set(turns).size).toBeGreaterThan(40)
  for (const turn of turns) {
    expect(turn).toBeGreaterThanOrEqual(1_000_000n - period / 2n)
    expect(turn).toBeLessThan(1_000_000n - period / 4n)
  }
})
