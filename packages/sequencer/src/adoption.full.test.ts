import { toHex } from '@ratatosk/cbor'
import { ScriptsNotRunError } from '@ratatosk/ledger'
import { freeOfCharge, outputsOf, type SignedTransaction, signed } from '@ratatosk/test-kit'
import { expect, type TestContext, test } from 'vitest'
import { acceptingAll } from './test/accept.js'
import { everythingMerged, expectAgreement, until } from './test/agreement.js'
import { commitJunk, registerAttacker } from './test/attacker.js'
import { openLyingRoots } from './test/lying-roots.js'
import {
  adoptionFrom,
  expectSameLedgers,
  idsInBlocks,
  openOperator,
  openStores,
  type TestOperator,
} from './test/operators.js'
import { genesis, openChain, queueOf, type TestChain, transfers, user } from './test/rollup.js'
import type { Step } from './types.js'

/** Two operators on one layer 1, each with a store of its own. */
async function openTwo(context: TestContext, steps: Step[] = []) {
  const chain = await openChain(context)
  const { layer1 } = chain
  const stop = chain.keepMining()
  context.onTestFinished(stop)
  const stores = await openStores(context, 2)
  const observer = { step: (name: Step) => steps.push(name) }
  const one = await openOperator(context, layer1, stores, 0, { observer })
  expect(await one.sequencer.run('init')).toMatchObject({ kind: 'initiated' })
  const wallet = await registerAttacker(chain)
  const two = await openOperator(context, layer1, stores, 1, { operator: wallet, observer })
  await until(async () => two.sequencer.snapshot().fault === null && two.sequencer.snapshot().rootUnit !== '')
  await two.store.applyGenesis(genesis)
  return { chain, one, two, stop }
}

/** Submits transactions to one operator. */
async function give({ store }: TestOperator, transactions: readonly SignedTransaction[]): Promise<void> {
  const submissions = acceptingAll(store)
  for (const { cbor } of transactions) await submissions.add(cbor)
}

const bothMerged = (one: TestOperator, two: TestOperator, count: number) => async () => {
  for (const { store } of [one, two]) if (!(await everythingMerged(store))) return false
  return (await idsInBlocks(one.store)).length === count && (await idsInBlocks(two.store)).length === count
}

/** Expects that layer 1 and both stores agree, and that these transactions are in one block each. */
async function expectBoth(
  { layer1 }: TestChain,
  one: TestOperator,
  two: TestOperator,
  sent: readonly SignedTransaction[],
): Promise<void> {
  const order = await idsInBlocks(one.store)
  expect([...order].sort()).toEqual(sent.map(({ id }) => id).sort())
  const byId = new Map(sent.map((each) => [each.id, each]))
  const ordered = order.map((id) => byId.get(id)!)
  for (const { store, roots } of [one, two]) await expectAgreement(store, layer1, roots, ordered)
  await expectSameLedgers([one, two])
}

test('two operators take turns, and each adopts the blocks of the other', {
  timeout: 240_000,
}, async (context) => {
  const steps: Step[] = []
  const { chain, one, two } = await openTwo(context, steps)
  const sent = transfers(24, 0, 2)
  // To the one, to the other, to both in another order.
  for (let round = 0; round < 8; round++) {
    const [first, second, third] = [0, 1, 2].map((n) => sent.slice(6 * round + 2 * n, 6 * round + 2 * n + 2))
    await Promise.all([give(one, first!), give(two, second!), give(one, third!), give(two, third!)])
    await chain.nextTurn()
  }
  await until(bothMerged(one, two, sent.length), 200_000)
  await expectBoth(chain, one, two, sent)
  expect(steps).toContain('block-adopted')
  const operators = (await two.store.blocks.range(1n, 1_000n)).map(
    ({ commitTransaction }) => commitTransaction,
  )
  expect(operators).toContain(undefined)
  expect(operators.some((commit) => commit !== undefined)).toBe(true)
  expect(await two.store.rejections.list()).toEqual([])
})

test('of two transactions that spend one output, one is merged on both, and the other is a dead letter', {
  timeout: 240_000,
}, async (context) => {
  const { chain, one, two } = await openTwo(context)
  const { reference } = genesis[0]!
  const [first, second] = [1n, 2n].map((fee) =>
    signed(user, { inputs: [reference], outputs: [10_000_000n - fee], fee }),
  ) as [SignedTransaction, SignedTransaction]
  const child = (of: SignedTransaction) =>
    signed(user, { inputs: [outputsOf(of)], outputs: [10_000_000n - (of === first ? 1n : 2n)] })
  const others = transfers(4, 1)
  // Each accepts its own before it knows of the other's.
  await Promise.all([give(one, [first, child(first)]), give(two, [second, child(second)])])
  await Promise.all([give(one, others.slice(0, 2)), give(two, others.slice(2))])
  await until(bothMerged(one, two, 6), 200_000)
  const merged = await idsInBlocks(one.store)
  const isFirst = merged.includes(first.id)
  const [winner, loser, at] = isFirst ? [first, second, two] : [second, first, one]
  await expectBoth(chain, one, two, [winner, child(winner), ...others])
  const letters = await at.store.rejections.list()
  expect(letters.map(({ code, transactionId }) => [code, toHex(transactionId!)]).sort()).toEqual(
    [loser, child(loser)].map(({ id }) => ['ConflictsWithBlock', id]).sort(),
  )
  expect(await (at === one ? two : one).store.rejections.list()).toEqual([])
})

test('layer 1 is rolled back behind adoptions: the blocks come back, and both ledgers agree', {
  timeout: 240_000,
}, async (context) => {
  const steps: Step[] = []
  const { chain, one, two, stop } = await openTwo(context, steps)
  const sent = transfers(17)
  // No roll-back reaches the beginning of the queue.
  await chain.mine(9)
  for (let round = 0; round < 8; round++) {
    await give(round % 2 ? one : two, sent.slice(2 * round, 2 * round + 2))
    const adopted = () => steps.filter((step) => step === 'block-adopted').length
    const before = adopted()
    if (round % 2) await until(async () => adopted() > before)
    await chain.devnet.rollBack(1 + (round % 3) * 4, { resubmit: round % 4 === 1 })
  }
  await until(bothMerged(one, two, 16), 200_000)

  // A commit that is sent again before it expires brings back the same block, and nothing is undone.
  await stop()
  context.onTestFinished(chain.keepMining({ empty: false }))
  steps.length = 0
  await chain.nextTurn()
  await Promise.all([give(one, sent.slice(16)), give(two, sent.slice(16))])
  await until(async () => steps.includes('block-adopted'))
  const committed = (await queueOf(chain.layer1)).blocks
  expect(committed).toHaveLength(1)
  await chain.devnet.rollBack(1, { resubmit: false })
  await until(async () => (await queueOf(chain.layer1)).blocks.length === 1)
  expect((await queueOf(chain.layer1)).blocks[0]!.headerHash).toEqual(committed[0]!.headerHash)
  context.onTestFinished(chain.keepMining())
  await until(bothMerged(one, two, sent.length))
  await expectBoth(chain, one, two, sent)
  expect(steps).not.toContain('blocks-undone')
})

test('a merged block that layer 1 loses with its commit is undone, and its transactions are committed anew', {
  timeout: 240_000,
}, async (context) => {
  const { chain, one, two, stop } = await openTwo(context)
  await chain.mine(9)
  const { height } = chain.devnet.tip()
  const sent = transfers(2)
  await give(two, sent)
  await until(bothMerged(one, two, sent.length))
  expect((await one.store.blocks.newest())!.commitTransaction).toBeUndefined()
  await two.sequencer.close()
  await stop()
  await chain.devnet.rollBack(chain.devnet.tip().height - height, { resubmit: false })
  expect((await queueOf(chain.layer1)).blocks).toEqual([])
  context.onTestFinished(chain.keepMining())
  const newest = () => one.store.blocks.newest()
  await until(async () => (await newest())?.commitTransaction !== undefined)
  await until(() => everythingMerged(one.store))
  await expectAgreement(one.store, chain.layer1, one.roots, sent)
})

test('a block that no peer serves, and one that breaks a rule, are not built on; removed, they do no harm', {
  timeout: 240_000,
}, async (context) => {
  const chain = await openChain(context)
  const { layer1 } = chain
  context.onTestFinished(chain.keepMining())
  const stores = await openStores(context, 2)
  const one = await openOperator(context, layer1, stores, 0)
  await one.sequencer.run('init')
  const sent = transfers(8)
  await give(one, sent.slice(0, 2))
  await until(() => everythingMerged(one.store))
  const wallet = await registerAttacker(chain)
  const fault = (code: string) => async () => one.sequencer.snapshot().fault?.code === code
  const isBuilt = async () => (await one.store.blocks.newest())!.height
  async function expectStandstill(): Promise<void> {
    // The operator's earlier commits are merged nevertheless.
    await until(async () => (await one.store.blocks.newest())!.state === 'merged')
    const height = await isBuilt()
    await chain.nextTurn()
    await chain.nextTurn()
    expect(await one.store.blocks.waiting(1)).toBe(1)
    expect(await isBuilt()).toBe(height)
    expect(await one.sequencer.run('commit')).toMatchObject({ kind: 'refused' })
  }
  /** Removes the other operator's block, after which the first one goes on. */
  async function expectRecovery(of: readonly SignedTransaction[]): Promise<void> {
    const { blocks } = await queueOf(layer1)
    for (const { headerHash } of blocks)
      expect(await one.sequencer.run('remove', { headerHash: toHex(headerHash) })).toMatchObject({
        kind: 'removed',
      })
    await until(() => everythingMerged(one.store), 120_000)
    await expectAgreement(one.store, layer1, one.roots, of)
  }

  await commitJunk(chain, wallet)
  await until(fault('SEQUENCER_FOREIGN_QUEUE'))
  await give(one, sent.slice(2, 4))
  await expectStandstill()
  await expectRecovery(sent.slice(0, 4))

  const lying = openLyingRoots()
  const two = await openOperator(context, layer1, stores, 1, { operator: wallet, roots: lying })
  await until(async () => (await two.store.blocks.newest())?.height === (await isBuilt()))
  lying.lie()
  await give(two, sent.slice(6))
  await until(fault('SEQUENCER_INVALID_BLOCK'), 120_000)
  expect(one.sequencer.snapshot().fault?.message).toMatch(/utxos_root/)
  await two.sequencer.close()
  await give(one, sent.slice(4, 6))
  await expectStandstill()
  await expectRecovery(sent.slice(0, 6))
})

test('a block that cannot be judged now stops no merge, and is adopted as soon as it can be', {
  timeout: 240_000,
}, async (context) => {
  const chain = await openChain(context)
  const { layer1 } = chain
  context.onTestFinished(chain.keepMining())
  const stores = await openStores(context, 2)
  const one = await openOperator(context, layer1, stores, 0, { autoMerge: false })
  await one.sequencer.run('init')
  const operator = await registerAttacker(chain)
  const slots = await layer1.slots()
  let runs = true
  const { peers } = await adoptionFrom(context, layer1, [one.url])
  const rules = {
    networkId: 0,
    slots,
    get parameters() {
      if (!runs) throw new ScriptsNotRunError()
      return freeOfCharge
    },
  }
  const two = await openOperator(context, layer1, stores, 1, { operator, adoption: { peers, rules } })
  const sent = transfers(4)
  await give(one, sent.slice(0, 2))
  const newest = async () => (await two.store.blocks.newest())!
  // One block, or two.
  await until(async () => (await idsInBlocks(two.store)).length === 2)
  runs = false
  await give(one, sent.slice(2))
  await until(async () => two.sequencer.snapshot().fault?.message.includes('could not be judged') === true)
  // The first operator merges nothing.
  await until(async () => (await newest()).state === 'merged')
  expect(await idsInBlocks(two.store)).toHaveLength(2)
  runs = true
  await until(bothMerged(one, two, sent.length), 200_000)
  await expectBoth(chain, one, two, sent)
})
