import { headerFieldIndex } from '@ratatosk/block'
import { equalBytes } from '@ratatosk/cbor'
import { openWallet } from '@ratatosk/layer1'
import { blake2b256 } from '@ratatosk/ledger'
import type { OpenQuestion } from '@ratatosk/protocol'
import type { Block, Store } from '@ratatosk/store'
import { expect, type TestContext, test } from 'vitest'
import { openAnswers, openRoots } from './roots/index.js'
import { answerKeys } from './summons/answer-wallet.js'
import { acceptingAll } from './test/accept.js'
import { expectAgreement, until } from './test/agreement.js'
import { chunkOf, nodeOf, openAsker, outputsOf, summonsContracts, transactionsOf } from './test/asking.js'
import { attackerKeys, readOperators, registerAttacker } from './test/attacker.js'
import { openOperator, openStores, type TestOperator } from './test/operators.js'
import {
  administrator,
  evaluator,
  genesis,
  openChain,
  openRollup,
  queueOf,
  type TestChain,
  transfers,
} from './test/rollup.js'
import { operatorKeys } from './test/rollup-contracts.js'

const contracts = summonsContracts
const { utxosRoot, transactionsRoot } = headerFieldIndex
const sent = transfers(6)

type Stores = Awaited<ReturnType<typeof openStores>>

/** An operator that commits on request and answers. `own`: its place among the stores. */
async function openAnswering(
  context: TestContext,
  { layer1 }: TestChain,
  stores: Stores,
  own: 0 | 1,
  adopts = true,
) {
  const roots = await openRoots({ history: 1 })
  const { store } = stores[own]!
  const blocks = openAnswers({ store, roots, genesis })
  context.onTestFinished(() => blocks.close())
  const wallet = (of: typeof operatorKeys) => openWallet({ layer1, keys: of, evaluator, withholdMs: 50 })
  const keys = [operatorKeys, attackerKeys][own]!
  const options = {
    contracts,
    roots,
    operator: wallet(keys),
    answers: { blocks, wallet: wallet(answerKeys(keys)) },
    autoCommit: false,
    autoMerge: false,
  }
  if (adopts) return openOperator(context, layer1, stores, own, options)
  return { ...stores[own]!, ...(await openRollup(context, store, layer1, options)) }
}

/** Gives transactions to an operator, who commits them in its turn. */
async function commit(chain: TestChain, { store, sequencer }: TestOperator, from: number, to: number) {
  const submissions = acceptingAll(store)
  for (const { cbor } of sent.slice(from, to)) await submissions.add(cbor)
  const before = (await newest(store))?.height ?? 0n
  await until(async () => {
    await chain.nextTurn()
    return (await sequencer.run('commit')).kind === 'committed'
  })
  await until(async () => {
    const block = await newest(store)
    return block?.state === 'committed' && block.height > before
  })
  return (await newest(store))!
}

const newest = (store: Store) => store.blocks.newest()

/** Two operators; the second loses both blocks in a roll-back, and they expire before they are included. */
async function openScene(context: TestContext) {
  const chain = await openChain(context)
  const { layer1, devnet, clock } = chain
  const stop = chain.keepMining()
  context.onTestFinished(stop)
  const stores = await openStores(context, 2)
  const one = await openAnswering(context, chain, stores, 0)
  expect(await one.sequencer.run('init')).toMatchObject({ kind: 'initiated' })
  await registerAttacker(chain, contracts)
  const two = await openAnswering(context, chain, stores, 1)
  await until(async () => two.sequencer.snapshot().fault === null && two.sequencer.snapshot().rootUnit !== '')
  await two.store.applyGenesis(genesis)
  // The roll-back does not reach what fills the wallets for answers.
  const outputsTo = [operatorKeys, attackerKeys].map((keys) => ({
    address: answerKeys(keys).addressText,
    lovelace: 100_000_000n,
  }))
  await administrator(layer1).send({ outputs: outputsTo })
  await chain.mine(12)
  const { height } = devnet.tip()
  const { time } = clock
  const lower = await commit(chain, one, 0, 2)
  await until(async () => (await newest(two.store))?.height === 1n)
  await one.sequencer.close()
  const before = await outputsOf(two.store)
  const upper = await commit(chain, two, 2, 4)
  const outputs = await outputsOf(two.store)
  const records = await transactionsOf(two.store, upper, before.valueHash)
  await stop()

  async function rollBack(to: number): Promise<void> {
    await devnet.rollBack(devnet.tip().height - height, { resubmit: false })
    clock.time = to
    await chain.mine()
  }
  await rollBack(Number(upper.endTime) + 1_000)
  await until(
    async () => (await newest(two.store)) === undefined && (await two.store.blocks.waiting(9)) === 4,
  )
  const path = blake2b256(Uint8Array.of(7))
  const wanted = [
    chunkOf(upper, 0),
    nodeOf(records, transactionsRoot, 'subtree', path, 0),
    nodeOf(outputs, utxosRoot, 'subtree', path, 1),
  ]
  /** The other branch of layer 1 wins: a stranger has sent both commits again. */
  async function bringBack(): Promise<void> {
    await rollBack(time)
    for (const { commitTransaction, endTime } of [lower, upper]) {
      clock.time = Number(endTime) - 3_000
      await chain.mine()
      await layer1.submit(commitTransaction!.cbor)
      await chain.mine()
    }
    expect((await queueOf(layer1, contracts)).blocks).toHaveLength(2)
  }
  /** Questions about the upper block are answered. */
  async function expectAnswers(block: Block): Promise<void> {
    const asker = await openAsker(two.store, layer1, administrator(layer1), contracts)
    const mining = chain.keepMining()
    const validUntil = BigInt(devnet.tip().slot) + 600n
    const asked: OpenQuestion[] = []
    for (const each of wanted) asked.push(await asker.ask(block, each, validUntil))
    await until(() => asker.isAnswered(...asked))
    await mining()
    const { datum } = await readOperators(layer1, contracts)
    expect(datum.operators.filter(({ vkey }) => equalBytes(vkey, attackerKeys.payment.hash))).toHaveLength(1)
  }
  return { chain, stores, one, two, upper, bringBack, expectAnswers }
}

test('an own block above a lost one that comes back is taken back without a peer, and answered for', {
  timeout: 240_000,
}, async (context) => {
  const { chain, stores, two, upper, bringBack, expectAnswers } = await openScene(context)
  // Its transactions go into another block meanwhile. No one else has the body of the first.
  const stop = chain.keepMining()
  const other = await commit(chain, two, 4, 5)
  await stop()
  expect(other.transactions).toBe(5)
  await stores[0]!.store.close()
  await bringBack()
  await until(async () => (await newest(two.store))?.height === 2n)
  const restored = (await newest(two.store))!
  expect(restored.headerHash).toEqual(upper.headerHash)
  expect(restored).toMatchObject({ state: 'committed', commitTransaction: upper.commitTransaction })
  await expectAnswers(upper)
  await expectAgreement(two.store, chain.layer1, two.roots, sent.slice(0, 5), contracts)
})

test('an own block that comes back is answered for although the store cannot follow', {
  timeout: 240_000,
}, async (context) => {
  const { chain, two, stores, upper, bringBack, expectAnswers } = await openScene(context)
  const stop = chain.keepMining()
  await commit(chain, two, 4, 5)
  await stop()
  await two.sequencer.close()
  await two.roots.close()
  await bringBack()
  const { layer1 } = chain
  const answers = openWallet({ layer1, keys: answerKeys(attackerKeys), evaluator })
  const { addressText: address } = operatorKeys
  await answers.send({ outputs: [{ address, lovelace: 97_000_000n }] })
  await chain.mine()
  // Without peers it adopts nothing.
  const again = await openAnswering(context, chain, stores, 1, false)
  await until(async () => again.sequencer.snapshot().fault?.code === 'SEQUENCER_FOREIGN_QUEUE')
  expect((await two.store.blocks.byHash(upper.headerHash))?.state).toBe('removed')
  await expectAnswers(upper)
})
