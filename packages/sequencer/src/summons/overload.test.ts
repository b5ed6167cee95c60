import { headerFieldIndex } from '@ratatosk/block'
import { toHex } from '@ratatosk/cbor'
import { testWallets } from '@ratatosk/devnet'
import { type Layer1, openWallet } from '@ratatosk/layer1'
import { blake2b256, decodeTransaction } from '@ratatosk/ledger'
import { keysFromSeedPhrase, nativeScript } from '@ratatosk/ledger/builder'
import { answerQuestion, type OpenQuestion } from '@ratatosk/protocol'
import { encodeChunkAnswer } from '@ratatosk/protocol/fraud'
import type { Block } from '@ratatosk/store'
import { expect, test } from 'vitest'
import { openAnswers, openRoots } from '../roots/index.js'
import { until } from '../test/agreement.js'
import { chunkOf, nodeOf, openAnswering, openAsker, outputsOf, summonsContracts } from '../test/asking.js'
import {
  accept,
  administrator,
  answerWallet,
  evaluator,
  genesis,
  openChain,
  openers,
  openRollup,
  transfers,
} from '../test/rollup.js'
import { operatorKeys } from '../test/rollup-contracts.js'
import { answerKeys, fundsFor } from './answer-wallet.js'

const contracts = summonsContracts
const openStore = openers['PostgreSQL and Redis']
const { utxosRoot } = headerFieldIndex

/** Promises that tests resolve. */
function gate() {
  let open: () => void = () => undefined
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return { open, opened }
}

/** A layer 1 that loses transactions while `isLosing`, and says that it has taken them. */
function losing() {
  const state = { isLosing: false }
  const layer1 = (real: Layer1): Layer1 => ({
    ...real,
    submit: async (cbor, options) =>
      state.isLosing ? decodeTransaction(cbor).id : real.submit(cbor, options),
  })
  return { state, layer1 }
}

test('answers a question that the list of the policy hides', async (context) => {
  const { asker, block } = await openAnswering(context, transfers(2), {
    layer1: (layer1) => ({
      ...layer1,
      utxosByPolicy: async (policy, options) =>
        policy === contracts.summons?.policy ? [] : layer1.utxosByPolicy(policy, options),
    }),
  })
  const asked = await asker.ask(block, chunkOf(block, 0))
  await until(() => asker.isAnswered(asked))
})

test('releases an answer that another one overtook', async (context) => {
  const { state, layer1 } = losing()
  const scene = await openAnswering(context, transfers(2), {
    options: { blockValidityMs: 3_000_000 },
    layer1,
  })
  const { asker, block, wallet, answers, chain } = scene
  state.isLosing = true
  const asked = await asker.ask(block, chunkOf(block, 1))
  await until(async () => (await asker.answersTo(asked)).length > 0)
  const [recorded] = await asker.answersTo(asked)
  expect(answers!.wallet.isInFlight(recorded!.id)).toBe(true)
  const shown = await answers!.blocks.show(asked.question, block)
  if (shown.kind !== 'no chunk') throw new Error(`The block has a second chunk: ${shown.kind}`)
  const redeemer = () => encodeChunkAnswer(0, shown)
  const { id } = await wallet.send(answerQuestion(contracts, { asked, redeemer }, asker.scripts()))
  await chain.layer1.await(id)
  await until(async () => !answers!.wallet.isInFlight(recorded!.id))

  state.isLosing = false
  const next = await asker.ask(block, chunkOf(block, 0))
  await until(() => asker.isAnswered(next))
})

test('gives up an answer whose input is spent, although it may be in a mempool', async (context) => {
  const { state, layer1 } = losing()
  const scene = await openAnswering(context, transfers(2), {
    options: { blockValidityMs: 3_000_000 },
    layer1,
  })
  const { asker, block, chain, sequencer, store, roots } = scene
  state.isLosing = true
  const asked = await asker.ask(block, chunkOf(block, 0), BigInt(chain.devnet.tip().slot) + 1000n)
  await until(async () => (await asker.answersTo(asked)).length > 0)
  await sequencer.close()
  const [lost] = await asker.answersTo(asked)
  // All that the wallet had is spent otherwise.
  const other = answerWallet(chain.layer1)
  const { lovelace } = await other.balance()
  const spent = await other.send({ outputs: [{ address: other.address, lovelace: lovelace - 5_000_000n }] })
  await chain.layer1.await(spent.id)

  const blocks = openAnswers({ store, roots, genesis })
  context.onTestFinished(() => blocks.close())
  const answers = { blocks, wallet: answerWallet(chain.layer1) }
  await openRollup(context, store, chain.layer1, { contracts, roots, holder: 'second', answers })
  await until(() => asker.isAnswered(asked))
  const [answer] = await asker.answersTo(asked)
  expect(toHex(answer!.id)).not.toBe(toHex(lost!.id))
})

test('has as many answers in flight as a block of layer 1 holds', async (context) => {
  const held = gate()
  const scene = await openAnswering(context, transfers(2), {
    options: { blockValidityMs: 3_000_000 },
    answers: (answers) => ({
      ...answers,
      blocks: {
        ...answers.blocks,
        async show(question, block) {
          await held.opened
          return answers.blocks.show(question, block)
        },
      },
    }),
  })
  const { asker, block, chain, stopMining } = scene
  const asked: OpenQuestion[] = []
  for (let number = 1; number <= 12; number++) asked.push(await asker.ask(block, chunkOf(block, number)))
  await until(async () => (await asker.open()).length === asked.length)
  await stopMining()
  held.open()
  // Beside them there may be ada for the wallet.
  await until(async () => {
    const waiting = new Set(chain.devnet.mempool().map(({ hash }) => hash))
    const answers = (await Promise.all(asked.map(asker.answersTo))).flat()
    return answers.length === asked.length && answers.every(({ id }) => waiting.has(toHex(id)))
  })
  await chain.mine()
  expect(await asker.open()).toEqual([])
})

test('commits while an answer is made, and answers while a block is built', async (context) => {
  const [answering, building] = [gate(), gate()]
  let isBuilding = false
  const scene = await openAnswering(context, transfers(2), {
    answers: (answers) => ({
      ...answers,
      blocks: {
        ...answers.blocks,
        async show(question, block) {
          await answering.opened
          return answers.blocks.show(question, block)
        },
      },
    }),
  })
  const { asker, block, store, sequencer, roots } = scene
  const first = await asker.ask(block, chunkOf(block, 0))
  await until(async () => sequencer.questions.open === 1)
  const [second, third] = [transfers(3).slice(2), transfers(4).slice(3)]
  await accept(store, second)
  expect(await sequencer.run('commit')).toMatchObject({ kind: 'committed' })

  const { applyWithin } = roots
  roots.applyWithin = async (...given) => {
    isBuilding = true
    await building.opened
    return applyWithin(...given)
  }
  await accept(store, third)
  const committed = sequencer.run('commit')
  await until(async () => isBuilding)
  answering.open()
  await until(() => asker.isAnswered(first))
  building.open()
  await committed
})

test('reads all outputs once for questions about many blocks', async (context) => {
  let reads = 0
  const held = gate()
  const scene = await openAnswering(context, transfers(20), {
    store: (store) => ({
      ...store,
      blocks: Object.assign(Object.create(store.blocks), {
        utxosAfter(block: Block) {
          reads++
          return store.blocks.utxosAfter(block)
        },
      }),
    }),
    answers: (answers) => ({
      ...answers,
      blocks: {
        ...answers.blocks,
        async show(question, block) {
          await held.opened
          return answers.blocks.show(question, block)
        },
      },
    }),
  })
  const { store, asker, sequencer, chain } = scene
  const blocks = [{ block: scene.block, outputs: await outputsOf(store) }]
  for (const transaction of transfers(25).slice(20)) {
    await accept(store, [transaction])
    expect(await sequencer.run('commit')).toMatchObject({ kind: 'committed' })
    blocks.push({ block: (await store.blocks.newest())!, outputs: await outputsOf(store) })
  }
  const asked: OpenQuestion[] = []
  const tip = BigInt(chain.devnet.tip().slot)
  // Due at almost the same time, the newest block first.
  const old = blocks.slice(0, 4)
  for (const round of [0, 1])
    for (const [index, { block, outputs }] of old.entries()) {
      const wanted = nodeOf(outputs, utxosRoot, 'subtree', blake2b256(Uint8Array.of(round)), round)
      const slot = tip + 1000n - ((tip + 1000n) % 5n)
      asked.push(await asker.ask(block, wanted, slot + (index < 2 ? 1n : 0n)))
    }
  await until(async () => (await asker.open()).length === asked.length)
  held.open()
  await until(() => asker.isAnswered(...asked))
  expect(reads).toBeGreaterThan(0)
  expect(reads).toBeLessThanOrEqual(2)
})

test('sends answers of an earlier process, parents first', async (context) => {
  const { state, layer1 } = losing()
  const scene = await openAnswering(context, transfers(2), {
    options: { blockValidityMs: 3_000_000 },
    layer1,
  })
  const { asker, block, chain, sequencer, store, roots } = scene
  const tip = BigInt(chain.devnet.tip().slot)
  state.isLosing = true
  const late = await asker.ask(block, chunkOf(block, 0), tip + 2000n)
  await until(async () => (await asker.answersTo(late)).length > 0)
  const soon = await asker.ask(block, chunkOf(block, 1), tip + 1000n)
  await until(async () => (await asker.answersTo(soon)).length > 0)
  await sequencer.close()
  const recorded = await Promise.all([late, soon].map(asker.answersTo))
  const [[parent], [child]] = recorded as [(typeof recorded)[0], (typeof recorded)[0]]
  const { inputs } = decodeTransaction(child!.cbor).body
  expect(inputs.map(({ transactionId }) => toHex(transactionId))).toContain(toHex(parent!.id))

  const blocks = openAnswers({ store, roots, genesis })
  context.onTestFinished(() => blocks.close())
  const answers = { blocks, wallet: answerWallet(chain.layer1) }
  const options = { contracts, roots, holder: 'second', answers, blockValidityMs: 3_000_000 }
  const childFirst: typeof store = {
    ...store,
    answers: { ...store.answers, of: async (questions) => (await store.answers.of(questions)).reverse() },
  }
  await openRollup(context, childFirst, chain.layer1, options)
  await until(async () => (await asker.open()).length === 0)
  expect(await Promise.all([late, soon].map(asker.answersTo))).toEqual(recorded)
})

test('commits nothing before the wallet for answers has enough', async (context) => {
  const { chain, store, sequencer, answers, wallet } = await openAnswering(context, transfers(2))
  const balance = async () => (await answers!.wallet.balance()).lovelace
  expect(await balance()).toBeGreaterThanOrEqual(30_000_000n)

  const drain = async (from: typeof wallet, left: bigint) => {
    const { lovelace } = await from.balance()
    const { id } = await from.send({ outputs: [{ address: wallet.address, lovelace: lovelace - left }] })
    await chain.layer1.await(id)
  }
  await drain(answerWallet(chain.layer1), 5_000_000n)
  await accept(store, transfers(3).slice(2))
  expect(await sequencer.run('commit')).toMatchObject({ kind: 'committed' })
  await until(async () => (await balance()) >= 30_000_000n)

  await drain(answerWallet(chain.layer1), 5_000_000n)
  await drain(openWallet({ layer1: chain.layer1, keys: operatorKeys, evaluator }), 40_000_000n)
  await accept(store, transfers(4).slice(3))
  expect(await sequencer.run('commit')).toMatchObject({
    kind: 'refused',
    code: 'SEQUENCER_INSUFFICIENT_FUNDS',
  })
  expect((await store.blocks.newest())?.height).toBe(2n)
})

test('the wallet for answers gets more while many questions wait', async (context) => {
  const { state, layer1 } = losing()
  const scene = await openAnswering(context, transfers(2), {
    options: { blockValidityMs: 60_000 },
    layer1,
  })
  const { asker, block, answers, chain } = scene
  const balance = async () => (await answers!.wallet.balance()).lovelace
  const before = await balance()
  state.isLosing = true
  const asked: OpenQuestion[] = []
  for (let number = 0; number < 5; number++)
    asked.push(await asker.ask(block, chunkOf(block, number), BigInt(chain.devnet.tip().slot) + 1000n))
  // Those that layer 1 has lost are sent again.
  await until(async () => (await Promise.all(asked.map(asker.answersTo))).every(({ length }) => length > 0))
  state.isLosing = false
  await until(async () => (await balance()) > before + fundsFor(5) - fundsFor(1))
  await until(() => asker.isAnswered(...asked))
})

test('that a key is no operator is said before what its wallet lacks', async (context) => {
  const [{ store }, { store: own }] = [await openStore(context), await openStore(context)]
  const chain = await openChain(context)
  context.onTestFinished(chain.keepMining())
  const { layer1 } = chain
  const { sequencer } = await openRollup(context, store, layer1, { contracts })
  expect(await sequencer.run('init')).toMatchObject({ kind: 'initiated' })

  const keys = keysFromSeedPhrase(testWallets.mnemonic, { networkId: 0, account: 7 })
  const roots = await openRoots({ history: 1 })
  const blocks = openAnswers({ store: own, roots, genesis })
  context.onTestFinished(() => blocks.close())
  const stranger = await openRollup(context, own, layer1, {
    contracts,
    roots,
    holder: 'stranger',
    operator: openWallet({ layer1, keys, evaluator }),
    answers: { blocks, wallet: openWallet({ layer1, keys: answerKeys(keys), evaluator }) },
    autoCommit: true,
  })
  await own.applyGenesis(genesis)
  await accept(own, transfers(1))
  await until(async () => stranger.sequencer.faultMs > 300)
  expect(stranger.sequencer.snapshot().fault).toMatchObject({ code: 'SEQUENCER_NOT_REGISTERED' })
  expect(await stranger.sequencer.run('register')).toMatchObject({
    code: 'SEQUENCER_INSUFFICIENT_FUNDS',
    message: expect.stringMatching(
      /^The operator is not in the registry\. Registering takes the bond of .*: send ada to it$/,
    ),
  })
})

test('gifts to the wallet for answers, which pay for nothing, hide no lack of ada', async (context) => {
  const { store } = await openers['PostgreSQL and Redis'](context)
  const chain = await openChain(context)
  context.onTestFinished(chain.keepMining())
  const { layer1 } = chain
  const roots = await openRoots({ history: 1 })
  const blocks = openAnswers({ store, roots, genesis })
  context.onTestFinished(() => blocks.close())
  const answers = { blocks, wallet: answerWallet(layer1) }
  const { sequencer } = await openRollup(context, store, layer1, {
    contracts: summonsContracts,
    roots,
    answers,
  })
  expect(await sequencer.run('init')).toMatchObject({ kind: 'initiated' })
  const { address } = answerWallet(layer1)
  const policy = nativeScript(JSON.stringify({ type: 'all', scripts: [] }))
  const tokens = new Map([['aa', 1n]])
  const gift = await administrator(layer1).send({
    mint: [{ policy: toHex(policy.hash), assets: tokens }],
    scripts: [policy],
    outputs: [
      { address, lovelace: 30_000_000n, referenceScript: policy },
      { address, lovelace: 30_000_000n, assets: new Map([[toHex(policy.hash), tokens]]) },
    ],
  })
  await layer1.await(gift.id)
  await accept(store, transfers(2))
  expect(await sequencer.run('commit')).toMatchObject({ kind: 'committed' })
  expect(await answerWallet(layer1).spendable({ paidByAda: true })).toBeGreaterThanOrEqual(30_000_000n)
  const asker = await openAsker(store, layer1, administrator(layer1), summonsContracts)
  await asker.ask((await store.blocks.newest())!, chunkOf((await store.blocks.newest())!, 0))
  await until(async () => (await asker.open()).length === 0)
})
