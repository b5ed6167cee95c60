import { decodeHeader } from '@ratatosk/block'
import { equalBytes } from '@ratatosk/cbor'
import { endOfTurn, operatorInTurn } from '@ratatosk/contracts'
import { decodeTransaction, slotToTime } from '@ratatosk/ledger'
import { takeOverAfterOf } from '@ratatosk/protocol'
import type { Block } from '@ratatosk/store'
import { expect, type TestContext, test } from 'vitest'
import { accept } from './test/accept.js'
import { expectAgreement, until } from './test/agreement.js'
import { attackerKeys, readOperators, registerAttacker } from './test/attacker.js'
import {
  expectSameBlocks,
  idsInBlocks,
  openOperator,
  openStores,
  type TestOperator,
} from './test/operators.js'
import { contracts, genesis, openChain, type TestChain, transfers } from './test/rollup.js'
import { operatorKeys, thirdKeys } from './test/rollup-contracts.js'

const { turnLength } = contracts.parameters
const after = takeOverAfterOf(contracts.parameters)
const sent = transfers(6)

/** Three operators, of whom the one that began the queue is absent and two adopt each other's blocks. */
async function openScene(context: TestContext) {
  const chain = await openChain(context)
  const { layer1, devnet } = chain
  const stop = chain.keepMining()
  context.onTestFinished(stop)
  const stores = await openStores(context, 3)
  const absent = await openOperator(context, layer1, stores, 2)
  expect(await absent.sequencer.run('init')).toMatchObject({ kind: 'initiated' })
  await absent.sequencer.close()
  const present: TestOperator[] = []
  for (const [own, keys] of [attackerKeys, thirdKeys].entries()) {
    const operator = await registerAttacker(chain, contracts, keys)
    const opened = await openOperator(context, layer1, stores, own, { operator, autoMerge: false })
    await until(async () => opened.sequencer.snapshot().rootUnit !== '')
    await opened.store.applyGenesis(genesis)
    present.push(opened)
  }
  await stop()
  await toTurnOfAbsent(chain)
  const inTurn = operatorInTurn((await readOperators(layer1)).datum, BigInt(chain.clock.time), turnLength)
  expect(inTurn?.vkey).toEqual(operatorKeys.payment.hash)
  return { chain, devnet, one: present[0]!, two: present[1]! }
}

/** Goes to the beginning of a turn of the absent operator. All three count in it. */
async function toTurnOfAbsent(chain: TestChain): Promise<void> {
  await until(async () => {
    await chain.nextTurn()
    const { datum } = await readOperators(chain.layer1)
    const now = BigInt(chain.clock.time)
    if (datum.operators.length < 3 || datum.operators.some(({ activeFrom }) => activeFrom > now)) return false
    return equalBytes(operatorInTurn(datum, now, turnLength)!.vkey, operatorKeys.payment.hash)
  })
}

/** Expects that a commit took over as late and for as long as it may. */
function expectTakenOver({ slots }: TestChain['devnet'], { header, commitTransaction }: Block): void {
  const { startTime, endTime } = decodeHeader(header)
  const { invalidBefore } = decodeTransaction(commitTransaction!.cbor).body.validityInterval
  const from = slotToTime(slots, invalidBefore!)
  expect(from - startTime).toBeGreaterThanOrEqual(after)
  expect(endTime - from).toBeLessThanOrEqual(after)
  expect(endTime).toBeLessThanOrEqual(endOfTurn(from, turnLength))
}

test('of two operators that take over at once, layer 1 takes one block, and the other gives way', {
  timeout: 240_000,
}, async (context) => {
  const { chain, devnet, one, two } = await openScene(context)
  const newest = ({ store }: TestOperator) => store.blocks.newest()
  await Promise.all([accept(one.store, sent.slice(0, 2)), accept(two.store, sent.slice(2, 4))])
  // Layer 1 refuses the later commit, whose block comes and goes until the other one is included.
  const built: Block[] = []
  for (const operator of [one, two])
    await until(async () => {
      const block = await newest(operator)
      if (block !== undefined) built.push(block)
      return block !== undefined
    })
  const [first, second] = built as [Block, Block]
  for (const block of built) expectTakenOver(devnet, block)
  await chain.mine()
  // The same block in both stores; the transactions of the other wait.
  await until(async () => {
    const [left, right] = [await newest(one), await newest(two)]
    const isSame = left !== undefined && right !== undefined && equalBytes(left.headerHash, right.headerHash)
    return isSame && left.state === 'committed' && right.state === 'committed'
  })
  const [winner, loser] = equalBytes((await newest(one))!.headerHash, first.headerHash)
    ? [one, two]
    : [two, one]
  expect(await idsInBlocks(loser.store)).toHaveLength(2)
  expect(await loser.store.blocks.waiting(9)).toBe(2)
  expect((await loser.store.blocks.byHash((loser === one ? first : second).headerHash))?.state).toBe(
    'removed',
  )

  // They follow when it is late again, or in a turn of the operator.
  context.onTestFinished(chain.keepMining())
  for (const operator of [winner, loser])
    await until(async () => {
      const hasAll = (await idsInBlocks(operator.store)).length === 4
      return hasAll && (await newest(operator))?.state === 'committed'
    })
  await expectSameBlocks([one, two])
  const order = await idsInBlocks(one.store)
  const ordered = order.map((id) => sent.find((each) => each.id === id)!)
  for (const { store, roots } of [one, two]) await expectAgreement(store, chain.layer1, roots, ordered)
  for (const { store } of [one, two]) expect(await store.rejections.list()).toEqual([])
  expect((await readOperators(chain.layer1)).datum.operators).toHaveLength(3)
})
