import { decodeHeader, encodedHeader, headerFieldIndex } from '@ratatosk/block'
import { toHex } from '@ratatosk/cbor'
import { blake2b256, decodeTransaction, encodeBech32Address, keyAddress } from '@ratatosk/ledger'
import {
  endQuestion,
  type OpenQuestion,
  readRegistry,
  readStateQueue,
  removeInvalidBlock,
  rewardOf,
} from '@ratatosk/protocol'
import { encodeExpiry } from '@ratatosk/protocol/fraud'
import { signed } from '@ratatosk/test-kit'
import { expect, test } from 'vitest'
import { openAnswers } from '../roots/index.js'
import { until } from '../test/agreement.js'
import {
  chunkOf,
  nodeOf,
  openAnswering,
  outputsOf,
  referenceOf,
  summonsContracts,
  transactionsOf,
} from '../test/asking.js'
import {
  accept,
  answerWallet,
  genesis,
  openChain,
  openers,
  openRollup,
  transfers,
  user,
} from '../test/rollup.js'
import { summonsTerms } from '../test/rollup-contracts.js'
import { unansweredLine } from './questions.js'

const { utxosRoot, transactionsRoot } = headerFieldIndex
const contracts = summonsContracts
const maxMemory = 16_500_000n
const maxSteps = 10_000_000_000n
const maxBytes = 16_384

const openStore = openers['PostgreSQL and Redis']

/** Lovelace that an answer in one transaction costs at most, by which the reward is chosen. */
const largestFee = 900_000n

/** The redeemer by which an answer spends its question. */
const redeemerIn = (cbor: Uint8Array): Uint8Array =>
  decodeTransaction(cbor).witnesses.redeemers.find(({ purpose }) => purpose === 'spend')!.data

test('answers about every map with entries, and takes the rewards', async (context) => {
  const scene = await openAnswering(context, transfers(30))
  const { store, block, before, asker, sequencer, chain, wallet } = scene
  const outputs = await outputsOf(store)
  const records = await transactionsOf(store, block, before.valueHash)
  const path = blake2b256(Uint8Array.of(7))
  const wanted = [
    nodeOf(outputs, utxosRoot, 'subtree', path, 0),
    nodeOf(outputs, utxosRoot, 'subtree', path, 1),
    nodeOf(outputs, utxosRoot, 'leaf', path, 0),
    nodeOf(outputs, utxosRoot, 'entry', path, 0),
    nodeOf(outputs, utxosRoot, 'entry', outputs.nodeAt(path, 1)?.path ?? path, 0),
    nodeOf(records, transactionsRoot, 'subtree', path, 0),
    nodeOf(records, transactionsRoot, 'leaf', path, 0),
    nodeOf(records, transactionsRoot, 'entry', blake2b256(Uint8Array.of(0, 0, 0, 0)), 0),
    chunkOf(block, 0),
    chunkOf(block, 1),
  ]
  const asked: OpenQuestion[] = []
  for (const each of wanted) asked.push(await asker.ask(block, each))
  await until(() => asker.isAnswered(...asked))
  await until(async () => sequencer.questions.open === 0)
  expect(sequencer.questions).toMatchObject({ firstDeadline: undefined, unanswered: [] })

  const sent = (await Promise.all(asked.map(asker.answersTo))).flat()
  expect(sent).toHaveLength(wanted.length)
  for (const { id, cbor } of sent) {
    const { body, witnesses } = decodeTransaction(cbor)
    const { redeemers } = witnesses
    expect((await chain.layer1.status(id)).kind).toBe('confirmed')
    const memory = redeemers.reduce((sum, { executionUnits }) => sum + executionUnits.memory, 0n)
    const steps = redeemers.reduce((sum, { executionUnits }) => sum + executionUnits.steps, 0n)
    console.log(`${cbor.length} B, ${memory} memory, ${steps} steps, ${body.fee} lovelace`)
    expect(body.fee).toBeLessThanOrEqual(largestFee)
    expect(cbor.length).toBeLessThan(0.8 * maxBytes)
    expect(memory).toBeLessThan((maxMemory * 8n) / 10n)
    expect(steps).toBeLessThan((maxSteps * 8n) / 10n)
  }
  const refunds = await chain.layer1.utxosAt(
    encodeBech32Address(keyAddress(wallet.keys.payment.hash, chain.layer1.networkId)),
  )
  const ofRefunds = refunds.filter(({ output }) => output.referenceScript === undefined)
  const { bond, reward, byteReward } = summonsTerms
  const rewards = await Promise.all(
    asked.map(async (each) => {
      const [answer] = await asker.answersTo(each)
      return rewardOf(summonsTerms, redeemerIn(answer!.cbor))
    }),
  )
  expect(rewards.at(-2)).toBeGreaterThan(byteReward * 30n * 200n)
  expect(rewards.at(-1)).toBeLessThan(reward + byteReward * 2_000n)
  const sorted = (lovelace: readonly bigint[]) => [...lovelace].sort((a, b) => Number(a - b))
  expect(sorted(ofRefunds.map(({ output }) => output.value.lovelace))).toEqual(
    sorted(rewards.map((each) => bond - each)),
  )
})

test('answers equal questions one by one', async (context) => {
  const { chain, block, asker } = await openAnswering(context, transfers(2))
  const validUntil = BigInt(chain.devnet.tip().slot) + 60n
  const asked = [
    await asker.ask(block, chunkOf(block, 0), validUntil),
    await asker.ask(block, chunkOf(block, 0), validUntil),
  ]
  expect(asked[0]!.name).toBe(asked[1]!.name)
  await until(() => asker.isAnswered(...asked))
  for (const each of asked) expect(await asker.answersTo(each)).toHaveLength(1)
})

test('answers a chunk that no redeemer holds, with a datum', async (context) => {
  const long = signed(user, {
    inputs: [genesis[0]!.reference],
    outputs: Array.from({ length: 430 }, () => 20_000n),
  })
  expect(long.cbor.length).toBeGreaterThan(15_000)
  expect(long.cbor.length).toBeLessThan(maxBytes)
  const { block, asker, chain } = await openAnswering(context, [long])
  const asked = await asker.ask(block, chunkOf(block, 0))
  await until(() => asker.isAnswered(asked))
  const sent = await asker.answersTo(asked)
  expect(sent.map(({ stage }) => stage).sort()).toEqual(['answer', 'datum'])
  const answer = sent.find(({ stage }) => stage === 'answer')
  expect(answer?.cbor.length).toBeGreaterThan(13_000)
  expect(decodeTransaction(answer!.cbor).body.fee).toBeLessThanOrEqual(largestFee)
  for (const { id } of sent) expect((await chain.layer1.status(id)).kind).toBe('confirmed')
})

test('answers about a block whose outputs are not kept from the store', async (context) => {
  const scene = await openAnswering(context, transfers(20))
  const { store, block, asker, sequencer } = scene
  const outputs = await outputsOf(store)
  const sent = transfers(40).slice(20)
  for (const transaction of sent.slice(0, 3)) {
    await accept(store, [transaction])
    await sequencer.run('commit')
  }
  expect(await scene.roots.answer(block.utxosRoot, {} as never)).toBe('not kept')
  const asked = await asker.ask(block, nodeOf(outputs, utxosRoot, 'subtree', blake2b256(Uint8Array.of(1)), 1))
  await until(() => asker.isAnswered(asked))
})

const questions = Number(process.env.RATATOSK_QUESTIONS ?? 30)

test(`answers ${questions} questions in the order of their deadlines`, {
  timeout: 300_000,
}, async (context) => {
  const scene = await openAnswering(context, transfers(40))
  const { store, chain, block, asker, roots } = scene
  const outputs = await outputsOf(store)
  await scene.sequencer.close()
  const tip = BigInt(chain.devnet.tip().slot)
  const began = performance.now()
  const asked: OpenQuestion[] = []
  for (let number = 0; number < questions; number++) {
    const wanted =
      number % 2 === 0
        ? chunkOf(block, number)
        : nodeOf(outputs, utxosRoot, 'subtree', blake2b256(Uint8Array.of(number)), 0)
    asked.push(await asker.ask(block, wanted, tip + BigInt(1000 + ((number * 7919) % 200))))
  }
  // One that layer 1 includes later is answered later.
  await until(async () => (await asker.open()).length === questions)
  const askedIn = Math.round(performance.now() - began)
  const deadlines: bigint[] = []
  const seen = new Set<string>()
  const answers = openAnswers({ store, roots, genesis })
  const { sequencer } = await openRollup(context, store, chain.layer1, {
    contracts,
    roots,
    holder: 'second',
    answers: {
      wallet: answerWallet(chain.layer1),
      blocks: {
        ...answers,
        show(question, of) {
          // An answer that is refused is made again.
          const key = `${toHex(question.key)} ${question.deadline}`
          if (!seen.has(key)) deadlines.push(question.deadline)
          seen.add(key)
          return answers.show(question, of)
        },
      },
    },
  })
  await until(async () => (await asker.open()).length === 0, 240_000)
  const answeredIn = Math.round(performance.now() - began - askedIn)
  console.log(`${questions} questions: asked in ${askedIn} ms, answered in ${answeredIn} ms`)
  await answers.close()
  expect((await Promise.all(asked.map(asker.answersTo))).flat()).toHaveLength(questions)
  expect(sequencer.questions.sent).toBeGreaterThanOrEqual(questions)
  expect(deadlines).toEqual([...deadlines].sort((a, b) => Number(a - b)))
  expect(deadlines).toHaveLength(questions)
  expect(chain.devnet.mempool()).toEqual([])
})

test('answers again after a roll-back of layer 1', { timeout: 120_000 }, async (context) => {
  const scene = await openAnswering(context, transfers(5), { options: { blockValidityMs: 600_000 } })
  const { chain, block, asker, sequencer } = scene
  for (const resubmit of [true, false]) {
    const asked = await asker.ask(block, chunkOf(block, resubmit ? 0 : 1))
    await until(() => asker.isAnswered(asked))
    const [first] = await asker.answersTo(asked)
    const status = await chain.layer1.status(first!.id)
    expect(status.kind).toBe('confirmed')
    await chain.devnet.rollBack('confirmations' in status ? status.confirmations + 2 : 0, { resubmit })
    // It may have been in one of these blocks.
    await chain.layer1.submit(asked.bytes).catch(() => undefined)
    await until(async () => (await chain.layer1.status(first!.id)).kind === 'confirmed')
    await until(() => asker.isAnswered(asked))
    expect(await asker.answersTo(asked)).toEqual([first])
  }
  expect(sequencer.questions.unanswered).toEqual([])
})

test('ignores questions about other blocks, and says what it cannot answer', async (context) => {
  const scene = await openAnswering(context, transfers(2))
  const { chain, block, asker, sequencer, wallet, answers } = scene
  const dust = { kind: 'inline', data: Uint8Array.of(0x40) } as const
  await wallet.send({ outputs: [{ address: contracts.summons!.address, datum: dust }] })
  const header = decodeHeader(block.header)
  const foreign = encodedHeader({ ...header, startTime: header.startTime + 1n })
  const asked = await asker.ask(
    { ...block, header: foreign.bytes, headerHash: foreign.hash },
    chunkOf(block, 0),
  )
  await until(async () => (await asker.open()).includes(referenceOf(asked)))

  await answers?.blocks.close()
  await asker.ask(block, chunkOf(block, 1))
  await until(async () => sequencer.questions.unanswered.length === 1)
  expect(sequencer.questions).toMatchObject({
    open: 1,
    sent: 0,
    unanswered: [{ height: 1n, reason: 'The maps of blocks are closed' }],
  })
  expect(unansweredLine(sequencer.questions, 0)).toMatch(
    /^Questions without an answer: 1; the first is about block 1 and due at 20/,
  )
  expect(await asker.answersTo(asked)).toEqual([])
  expect(await asker.open()).toHaveLength(2)
  expect(await chain.layer1.utxosAt(contracts.summons!.addressText)).toHaveLength(3)
})

test('commits nothing without answers where the contracts have a summons', async (context) => {
  const { store } = await openStore(context)
  const chain = await openChain(context)
  context.onTestFinished(chain.keepMining())
  const { sequencer } = await openRollup(context, store, chain.layer1, { contracts })
  await sequencer.run('init')
  await accept(store, transfers(1))
  expect(await sequencer.run('commit')).toMatchObject({ kind: 'refused', code: 'SEQUENCER_NO_ANSWERS' })
  expect(await store.blocks.newest()).toBeUndefined()
})

test('an operator that is silent loses the block and the bond', { timeout: 120_000 }, async (context) => {
  const { chain, block, asker, sequencer, wallet } = await openAnswering(context, transfers(2))
  await sequencer.close()
  const asked = await asker.ask(block, chunkOf(block, 0), BigInt(chain.devnet.tip().slot) + 20n)
  const { layer1 } = chain
  await until(async () => (await asker.open()).includes(referenceOf(asked)))
  const draft = endQuestion(contracts, asked, encodeExpiry(0), chain.devnet.slots)
  await expect(wallet.build(draft)).rejects.toThrow()
  await until(async () => BigInt(chain.clock.time) > asked.question.deadline)
  const ended = await wallet.send(draft)
  await layer1.await(ended.id)
  expect(await asker.open()).toEqual([])

  const { queue, registry } = contracts.scripts
  // The output at the address is a verdict, and no question.
  const [verdict] = await layer1.utxosAt(contracts.summons!.addressText, {
    policy: contracts.summons!.policy,
  })
  expect(verdict?.reference).toEqual(ended.produced[1]!.reference)
  const removal = removeInvalidBlock(contracts, {
    queue: readStateQueue(contracts, await layer1.utxosByPolicy(queue.policy)),
    registry: readRegistry(contracts, await layer1.utxosByUnit(registry.unit))!,
    headerHash: block.headerHash,
    verdict: { kind: 'held', utxo: verdict! },
  })
  const before = (await wallet.balance()).lovelace
  const removed = await wallet.send(removal)
  await layer1.await(removed.id)
  expect((await wallet.balance()).lovelace - before).toBeGreaterThan(contracts.parameters.bond)
  expect(readStateQueue(contracts, await layer1.utxosByPolicy(queue.policy)).blocks).toEqual([])
})
