import { fromHex } from '@ratatosk/cbor'
import { decodeTransactionOutput, type OutputReference } from '@ratatosk/ledger'
import { buildDeposit } from '@ratatosk/protocol'
import { chain as chainOf } from '@ratatosk/test-kit'
import { expect, type TestContext, test } from 'vitest'
import { openRoots } from './roots/index.js'
import { contracts } from './settler/test/bridge-chain.js'
import { everythingMerged, expectAgreement, until } from './test/agreement.js'
import { expectSameLedgers, openOperator, openStores, type TestOperator } from './test/operators.js'
import {
  accept,
  administrator,
  openChain,
  openRollup,
  type TestChain,
  transfers,
  user,
} from './test/rollup.js'
import { openers } from './test/services.js'

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

async function openScene(context: TestContext) {
  const { store } = await openers['PostgreSQL and Redis'](context)
  const chain = await openChain(context)
  const stop = chain.keepMining()
  context.onTestFinished(stop)
  const roots = await openRoots({ bridge })
  const options = { contracts, roots, autoCommit: true, autoMerge: true, blockValidityMs: 15_000 }
  const { sequencer } = await openRollup(context, store, chain.layer1, options)
  expect(await sequencer.run('init')).toMatchObject({ kind: 'initiated' })
  const credited = (id: Uint8Array) => async () =>
    ['committed', 'mature', 'merged'].includes((await store.deposit(id))?.state ?? '')
  return { store, chain, roots, credited }
}

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
  await accept(operators[0]!.store, transfers(3))
  for (const id of ids) await until(async () => (await operators[1]!.store.deposit(id)) !== undefined)
  await expectSameLedgers(operators)
})
