import { decodeHeader, feeOutput } from '@ratatosk/block'
import { fromHex, toHex } from '@ratatosk/cbor'
import { decodeTransactionOutput, keyAddress, type OutputReference } from '@ratatosk/ledger'
import { buildDeposit } from '@ratatosk/protocol'
import { chain as chainOf, type SignedTransaction, signed } from '@ratatosk/test-kit'
import { verifyInclusion } from '@ratatosk/trie'
import { expect, type TestContext, test } from 'vitest'
import { openAnswers, openProver, openRoots } from './roots/index.js'
import { contracts } from './settler/test/bridge-chain.js'
import { everythingMerged, expectAgreement, until } from './test/agreement.js'
import { chunkOf } from './test/asking.js'
import { expectSameLedgers, openOperator, openStores, type TestOperator } from './test/operators.js'
import {
  accept,
  administrator,
  genesis,
  openChain,
  openers,
  openRollup,
  type TestChain,
  transfers,
  user,
} from './test/rollup.js'
import { operatorKeys } from './test/rollup-contracts.js'
import type { SequencerOptions } from './types.js'

const ada = 1_000_000n
const bridge = contracts.bridge.place.script.hash

/** Deposits for the user on layer 2, and waits until layer 1 has it. @returns its id */
async function deposit({ layer1, devnet }: TestChain, lovelace: bigint): Promise<Uint8Array> {
  const wallet = administrator(layer1)
  const slots = await layer1.slots()
  const validUntil = (await layer1.currentSlot()) + 10n
  const request = { to: user.address, lovelace, validUntil, slots }
  const { built, id } = await buildDeposit(wallet, contracts, request)
  await wallet.submit(built)
  await until(async () => devnet.mempool().length === 0)
  return id
}

async function openScene(context: TestContext, given: Partial<SequencerOptions> = {}) {
  const { store } = await openers['PostgreSQL and Redis'](context)
  const chain = await openChain(context)
  const stop = chain.keepMining()
  context.onTestFinished(stop)
  const roots = await openRoots({ bridge })
  const options = { contracts, roots, autoCommit: true, autoMerge: true, blockValidityMs: 15_000, ...given }
  const { sequencer } = await openRollup(context, store, chain.layer1, options)
  expect(await sequencer.run('init')).toMatchObject({ kind: 'initiated' })
  const credited = (id: Uint8Array) => async () =>
    ['committed', 'mature', 'merged'].includes((await store.deposit(id))?.state ?? '')
  return { store, chain, roots, credited, sequencer, stop }
}

/** Each with a fee of one ada. */
const paying = genesis
  .slice(0, 3)
  .map(({ reference }) => signed(user, { inputs: [reference], outputs: [9n * ada], fee: ada }))

/** The fee output of a block of the operator. */
const feesOf = (prevHeaderHash: Uint8Array, fees: bigint): OutputReference =>
  outputOf(
    feeOutput({ prevHeaderHash, operatorVkey: operatorKeys.payment.hash, networkId: 0 }, fees)?.id ??
      new Uint8Array(),
  )

const outputOf = (id: Uint8Array): OutputReference => ({ transactionId: id, index: 0 })

test('a block without transactions credits a deposit, which layer 2 spends', async (context) => {
  const { store, chain, roots, credited } = await openScene(context)
  const id = await deposit(chain, 20n * ada)
  await until(credited(id))
  expect(await store.blocks.newest()).toMatchObject({ transactions: 0 })
  const [spending] = chainOf(user, outputOf(id), 20n * ada, 1)
  await accept(store, [spending!])
  await until(() => everythingMerged(store))
  await expectAgreement(store, chain.layer1, roots, [spending!], contracts)
  expect(await store.ledger.outputs([outputOf(id)])).toEqual([undefined])

  const prover = openProver({ store, roots, genesis, bridge })
  context.onTestFinished(() => prover.close())
  const proved = await prover.transaction(fromHex(spending!.id))
  if (proved === 'no block') throw new Error('It is in a block')
  expect(proved.root).toEqual(decodeHeader(proved.block!.header).transactionsRoot)
})

test.for([true, false])(
  'a deposit whose commit is rolled back is credited once; sent again by layer 1: %s',
  async (resubmit, context) => {
    const { store, chain, roots, credited } = await openScene(context)
    const id = await deposit(chain, 20n * ada)
    const [other] = transfers(1)
    await accept(store, [other!])
    await until(credited(id))
    const [spending] = chainOf(user, outputOf(id), 20n * ada, 1)
    await accept(store, [spending!])
    await chain.devnet.rollBack(2, { resubmit })
    await until(() => everythingMerged(store))
    await chain.mine(1)
    await until(() => everythingMerged(store))
    await expectAgreement(store, chain.layer1, roots, [other!, spending!], contracts)
    const blocks = await store.blocks.range(1n, 1000n)
    const all = await Promise.all(blocks.map(({ headerHash }) => store.blocks.depositsOf(headerHash)))
    expect(all.flat().map((each) => each.id)).toEqual([id])
  },
)

test('a deposit that layer 1 has lost goes, with what was made of it', async (context) => {
  const { store, chain, roots, credited } = await openScene(context)
  const { height } = chain.devnet.tip()
  const lost = await deposit(chain, 20n * ada)
  const [kept] = transfers(1)
  await until(credited(lost))
  const [spending] = chainOf(user, outputOf(lost), 20n * ada, 1)
  await accept(store, [spending!, kept!])
  // The fork is longer than the wait.
  await chain.devnet.rollBack(chain.devnet.tip().height - height)
  await until(async () => (await store.deposit(lost)) === undefined)
  await until(() => everythingMerged(store))
  await expectAgreement(store, chain.layer1, roots, [kept!], contracts)
  expect(await store.ledger.known([fromHex(spending!.id)])).toEqual([false])
})

test('a deposit that layer 1 has lost is made again of its input, and is another one', async (context) => {
  const { store, chain, roots, credited } = await openScene(context)
  const { lovelace } = await administrator(chain.layer1).balance()
  const { height } = chain.devnet.tip()
  // Both need each output of the wallet, so that they have the same first input.
  const lost = await deposit(chain, lovelace - 200n * ada)
  await until(credited(lost))
  await chain.devnet.rollBack(chain.devnet.tip().height - height)
  const amount = lovelace - 100n * ada
  const again = await deposit(chain, amount)
  expect(again).toEqual(lost)
  const made = async () => {
    const [output] = await store.ledger.outputs([outputOf(again)])
    return output !== undefined && decodeTransactionOutput(output).value.lovelace === amount
  }
  await until(async () => (await credited(again)()) && (await made()))
  const [spending] = chainOf(user, outputOf(again), amount, 1)
  await accept(store, [spending!])
  await until(() => everythingMerged(store))
  await expectAgreement(store, chain.layer1, roots, [spending!], contracts)
  expect(await store.blocks.waitingDeposits()).toEqual([])
})

test('a deposit that layer 1 has lost goes while nothing else happens', async (context) => {
  const { store, chain, credited } = await openScene(context)
  const { height } = chain.devnet.tip()
  const lost = await deposit(chain, 20n * ada)
  await until(credited(lost))
  await chain.devnet.rollBack(chain.devnet.tip().height - height)
  await until(async () => (await store.deposit(lost)) === undefined)
  expect(await store.ledger.outputs([outputOf(lost)])).toEqual([undefined])
})

test('the fees of a block are an output of its operator, which goes with the block', async (context) => {
  const scene = await openScene(context, { autoCommit: false, autoMerge: false })
  const { store, chain, roots, sequencer } = scene
  const [first, second, third] = paying as [SignedTransaction, SignedTransaction, SignedTransaction]
  // On a busy machine, the validity of one commit may pass.
  const commit = async () => {
    await until(async () => (await sequencer.run('commit')).kind === 'committed')
    return (await store.blocks.newest())!
  }
  await accept(store, [first])
  const kept = await commit()
  await accept(store, [second])
  const { headerHash } = await commit()
  const { bytes } = keyAddress(operatorKeys.payment.hash, 0)
  const paid = async () => {
    const pages: bigint[] = []
    for await (const page of store.utxoPages(bytes))
      for (const { output } of page) pages.push(decodeTransactionOutput(output).value.lovelace)
    return pages
  }
  expect(await paid()).toEqual([ada, ada])
  const [spending] = chainOf(user, feesOf(kept.headerHash, ada), ada, 1)
  await accept(store, [spending!, third])
  expect(await sequencer.run('remove', { headerHash: toHex(headerHash) })).toMatchObject({ kind: 'removed' })
  expect(await paid()).toEqual([ada])
  // They are submitted again, also the one that spends the fees.
  await until(async () => (await store.blocks.waiting(10)) >= 2)
  expect(await commit()).toMatchObject({ transactions: 2 })
  expect(await paid()).toEqual([ada, 2n * ada])
  expect(await store.ledger.known([fromHex(spending!.id)])).toEqual([false])
  expect(await store.blocks.waitingDeposits()).toEqual([])
  await until(async () => (await sequencer.run('merge')).kind === 'merged' && (await everythingMerged(store)))
  await expectAgreement(store, chain.layer1, roots, [first, second, third], contracts)
})

test('a block that another fork of layer 1 brings back pays its fees again', async (context) => {
  const { store, chain, roots, stop } = await openScene(context, { autoMerge: false })
  const { devnet, clock } = chain
  const [first, second] = paying as [SignedTransaction, SignedTransaction]
  const newest = async () => store.blocks.newest()
  const isCommitted = async () => (await newest())?.state === 'committed'
  const mineCommit = async () => {
    await until(async () => devnet.mempool().length > 0)
    await chain.mine()
  }
  const references = [ada, 2n * ada].map((amount) => feesOf(new Uint8Array(28), amount))
  const fees = async () => {
    const outputs = (await store.ledger.outputs(references)).filter((output) => output !== undefined)
    return outputs.map((output) => decodeTransactionOutput(output).value.lovelace)
  }
  const { height } = devnet.tip()
  await accept(store, [first])
  await until(isCommitted)
  await stop()
  const lost = (await newest())!
  const { time } = clock
  expect(await fees()).toEqual([ada])
  const prover = openProver({ store, roots, genesis, bridge })
  context.onTestFinished(() => prover.close())
  const [reference] = references as [OutputReference]
  expect(await prover.utxo(reference, { kind: 'committed' })).toMatchObject({
    value: (await store.ledger.outputs([reference]))[0],
    root: lost.utxosRoot,
  })
  const answers = openAnswers({ store, roots, genesis, bridge })
  context.onTestFinished(() => answers.close())

  // Its validity passes without it, so that its transaction goes into another block.
  await devnet.rollBack(devnet.tip().height - height, { resubmit: false })
  await chain.nextTurn()
  await accept(store, [second])
  const isOther = async () =>
    toHex((await newest())?.headerHash ?? new Uint8Array()) !== toHex(lost.headerHash)
  await until(async () => (await newest()) !== undefined && (await isOther()))
  await mineCommit()
  await until(isCommitted)
  expect(await fees()).toEqual([2n * ada])
  // Its operator can still answer for it.
  const { headerHash } = lost
  const question = { ...chunkOf(lost, 0), headerHash, deadline: 0n, refund: new Uint8Array(28) }
  const shown = await answers.show(question, (await store.blocks.byHash(headerHash))!)
  if (shown.kind !== 'chunk') throw new Error('It has a chunk')
  const { transactionsRoot } = decodeHeader(lost.header)
  expect(verifyInclusion(transactionsRoot, question.key, shown.entry, shown.proof)).toBe(true)

  clock.time = time
  await devnet.rollBack(devnet.tip().height - height, { resubmit: false })
  await chain.layer1.submit(lost.commitTransaction!.cbor)
  await chain.mine()
  await until(async () => (await store.blocks.byHash(lost.headerHash))?.state === 'committed')
  expect(await fees()).toEqual([ada])
  await chain.nextTurn()
  await until(async () => (await newest())?.height === 2n)
  await mineCommit()
  await until(isCommitted)
  await expectAgreement(store, chain.layer1, roots, [first, second], contracts)
})

test('an operator that adopts blocks has the same deposits', async (context) => {
  const chain = await openChain(context)
  const stop = chain.keepMining()
  context.onTestFinished(stop)
  const stores = await openStores(context, 2, bridge)
  const operators: TestOperator[] = []
  for (const own of [0, 1]) {
    const roots = await openRoots({ bridge })
    operators.push(await openOperator(context, chain.layer1, stores, own, { contracts, roots }))
  }
  expect(await operators[0]!.sequencer.run('init')).toMatchObject({ kind: 'initiated' })
  const ids = [await deposit(chain, 20n * ada), await deposit(chain, 30n * ada)]
  await accept(operators[0]!.store, paying)
  for (const id of ids) await until(async () => (await operators[1]!.store.deposit(id)) !== undefined)
  await expectSameLedgers(operators)
})
