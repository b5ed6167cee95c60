import { fromHex, toHex } from '@ratatosk/cbor'
import { decodeTransaction, encodeOutputReference } from '@ratatosk/ledger'
import { toOutput } from '@ratatosk/ledger/builder'
import type { Log } from '@ratatosk/ports'
import { payWithdrawals, readBridge } from '@ratatosk/protocol'
import { expect, type TestContext, test } from 'vitest'
import { operatorKeys } from '../test/rollup-contracts.js'
import { createSettler, settlerKeys } from './create-settler.js'
import { openOwed } from './owed.js'
import {
  ada,
  type BridgeChain,
  contracts,
  fakeLeases,
  openBridgeChain,
  payee,
  payoutFee,
  rivalKeys,
  withdrawal,
  withdrawals,
  withdrawn,
} from './test/bridge-chain.js'
import { backGenesis } from './treasury.js'
import type { Settler, SettlerOptions } from './types.js'

const settlerWallet = settlerKeys(operatorKeys)

function settle(
  context: TestContext,
  { layer1, blocks, open }: BridgeChain,
  given: Partial<SettlerOptions> = {},
): Settler {
  const settler = createSettler({
    layer1,
    contracts,
    blocks,
    leases: fakeLeases(),
    wallet: open(settlerWallet),
    holder: 'settler',
    pollMs: 5,
    leaseMs: 500,
    ...given,
  })
  context.onTestFinished(() => settler.close())
  return settler
}

const settlements = async (chain: BridgeChain) => readBridge(contracts, await chain.atBridge()).settlements
const treasury = async (chain: BridgeChain) =>
  readBridge(contracts, await chain.atBridge()).reserves.reduce(
    (sum, { output }) => sum + output.value.lovelace,
    0n,
  )

/** Whether each withdrawal was paid once, and the money came from the treasury and nowhere else. */
async function expectPaid(chain: BridgeChain, count: number, reserves: bigint): Promise<void> {
  let sum = 0n
  for (let n = 0; n < count; n++) {
    expect(await chain.paidTo(n), `withdrawal ${n}`).toEqual([withdrawn(n) - payoutFee])
    sum += withdrawn(n)
  }
  expect(await treasury(chain)).toBe(reserves - sum)
}

/** Makes blocks until nothing is left but what no one can pay: one of each ten. */
async function mineUntilPaid(chain: BridgeChain, unpayable: number): Promise<void> {
  for (let made = 0; made < 200; made++) {
    const left = await Promise.all(
      (await settlements(chain)).map(async (settlement) => {
        const owed = await openOwed({ ...chain, contracts }, settlement.headerHash)
        if (typeof owed === 'string') throw new Error(owed)
        expect(await owed.goTo(settlement, new AbortController().signal)).toBeUndefined()
        return owed.size
      }),
    )
    if (left.reduce((sum, each) => sum + each, 0) === unpayable) return
    await chain.mine()
    await new Promise((resolve) => setTimeout(resolve, 300))
  }
  throw new Error('not paid after 200 blocks')
}

test('40 withdrawals are each paid once by two payers who know nothing of each other', async (context) => {
  const chain = await openBridgeChain(context)
  await chain.reserves(50n * ada, 100n * ada)
  for (const { addressText } of [settlerWallet, rivalKeys]) await chain.fund(addressText)
  await chain.merge(withdrawals(40))
  const one = settle(context, chain, { batch: 7 })
  const other = settle(context, chain, { batch: 5, wallet: chain.open(rivalKeys), maxInFlight: 2 })
  await Promise.all([one.start(), other.start()])
  await mineUntilPaid(chain, 4)
  await expectPaid(chain, 40, 150n * ada)
  await expect.poll(() => one.status().paid + other.status().paid).toBe(40)
  expect(one.status()).toMatchObject({ inFlight: 0, setAside: [], settlements: [{ remaining: 4 }] })
})

test('a withdrawal that would cost its payer more than it holds is left to others', async (context) => {
  const chain = await openBridgeChain(context)
  await chain.reserves(100n * ada)
  await chain.fund(settlerWallet.addressText)
  const dust = Array.from({ length: 20 }, (_, n) => withdrawal(100 + n, 20_000n))
  await chain.merge([...withdrawals(9), ...dust])
  const before = (await chain.open(settlerWallet).balance()).lovelace
  const settler = settle(context, chain)
  await settler.start()
  await mineUntilPaid(chain, 1 + dust.length)
  await chain.mine(3)
  await expectPaid(chain, 9, 100n * ada)
  for (let n = 0; n < dust.length; n++) expect(await chain.paidTo(100 + n)).toEqual([])
  // It gets the fee of each withdrawal, and pays that of the transaction.
  expect((await chain.open(settlerWallet).balance()).lovelace).toBeGreaterThan(before)
  expect(settler.status().settlements).toMatchObject([{ waitsFor: expect.stringMatching(/holds less than/) }])
})

test('a payer goes on where one was killed that had sent payouts, and one that had not', async (context) => {
  const chain = await openBridgeChain(context)
  await chain.reserves(150n * ada)
  await chain.fund(settlerWallet.addressText)
  const headerHash = await chain.merge(withdrawals(40))
  const leases = fakeLeases()
  const killed = settle(context, chain, { leases, batch: 8, maxInFlight: 1 })
  await killed.start()
  await expect.poll(() => killed.status().inFlight).toBe(1)
  leases.expire()
  await killed.close()
  const later = settle(context, chain, { leases, batch: 9 })
  await later.start()
  await expect.poll(() => later.status().active).toBe(true)
  await mineUntilPaid(chain, 4)
  await expectPaid(chain, 40, 150n * ada)
  expect((await later.remaining(headerHash))?.size).toBe(4)
})

/** A redeemer with one more field, a map, which the script does not read. */
const withMap = (redeemer: Uint8Array): Uint8Array =>
  Uint8Array.of(...redeemer.subarray(0, -1), 0xa0, ...redeemer.subarray(-1))

/** Another payer pays some withdrawals, by their places in the order in which a settler pays. */
async function payForeign(chain: BridgeChain, places: readonly number[]): Promise<void> {
  const state = readBridge(contracts, await chain.atBridge())
  const [settlement] = state.settlements
  const owed = await openOwed({ ...chain, contracts }, settlement!.headerHash)
  if (typeof owed === 'string') throw new Error(owed)
  expect(await owed.goTo(settlement!, new AbortController().signal)).toBeUndefined()
  const payable = [...owed.left()].filter(({ withdrawal }) => withdrawal !== undefined)
  const draft = payWithdrawals(contracts, {
    settlement: settlement!,
    ...owed.take(places.map((place) => payable[place]!)),
    treasury: state.reserves,
    payer: chain.wallet.address,
    referenceScripts: chain.referenceScripts,
  })
  const inputs = draft.inputs!.map((input) => {
    const { redeemer, utxo } = input
    return utxo === settlement!.utxo && redeemer instanceof Uint8Array
      ? { utxo, redeemer: withMap(redeemer) }
      : input
  })
  expect(inputs).not.toEqual(draft.inputs)
  await chain.run({ ...draft, inputs })
}

test.for([true, false])(
  'what others have paid in the middle is found; own merge: %s',
  async (isOwn, context) => {
    const chain = await openBridgeChain(context)
    await chain.reserves(150n * ada)
    await chain.fund(settlerWallet.addressText)
    const headerHash = await chain.merge(withdrawals(40), isOwn)
    await payForeign(chain, [11, 5, 30])
    await payForeign(chain, [0, 17])
    const settler = settle(context, chain)
    expect((await settler.remaining(headerHash))?.size).toBe(39)
    await settler.start()
    await mineUntilPaid(chain, 4)
    await expectPaid(chain, 40, 150n * ada)
  },
)

test('it pays what the treasury has, and says what it waits for', async (context) => {
  const chain = await openBridgeChain(context)
  await chain.reserves(7n * ada)
  await chain.fund(settlerWallet.addressText)
  const headerHash = await chain.merge(withdrawals(5))
  const settler = settle(context, chain)
  await settler.start()
  await mineUntilPaid(chain, 4)
  await expect
    .poll(() => settler.status().settlements)
    .toMatchObject([
      { headerHash: toHex(headerHash), remaining: 4, waitsFor: expect.stringContaining('treasury') },
    ])
  await chain.reserves(20n * ada)
  await mineUntilPaid(chain, 1)
  await expectPaid(chain, 5, 27n * ada)
})

test('a payout takes as many as a transaction can', async (context) => {
  const chain = await openBridgeChain(context)
  await chain.reserves(300n * ada)
  await chain.fund(settlerWallet.addressText)
  await chain.merge(withdrawals(60))
  const settler = settle(context, chain, { batch: 60 })
  await settler.start()
  await expect.poll(() => settler.status().inFlight).toBeGreaterThan(1)
  expect(settler.status().inFlight).toBeLessThan(5)
  await mineUntilPaid(chain, 6)
  await expectPaid(chain, 60, 300n * ada)
  expect(settler.status().setAside).toEqual([])
})

test('the operator gives its wallet ada when something is owed, and not before', async (context) => {
  const chain = await openBridgeChain(context)
  await chain.reserves(50n * ada)
  const { log, warnings } = listening()
  const settler = settle(context, chain, { fundedBy: chain.operator, log })
  const before = await chain.operator.balance()
  await settler.start()
  await expect.poll(() => settler.status().active).toBe(true)
  for (let n = 0; n < 3; n++) await chain.mine()
  await new Promise((resolve) => setTimeout(resolve, 100))
  expect(chain.operator.inFlight()).toEqual([])
  await chain.merge(withdrawals(3))
  await mineUntilPaid(chain, 1)
  await expectPaid(chain, 3, 50n * ada)
  const spent = before.lovelace - (await chain.operator.balance()).lovelace
  expect(spent, 'beside what the commit has locked').toBeGreaterThan(60n * ada)
  expect(warnings).toEqual([])
})

function listening() {
  const warnings: string[] = []
  const log: Log = { info: () => {}, warn: (_, message) => void warnings.push(message), error: () => {} }
  return { log, warnings }
}

test('a call pays at once, as many as it asks for, of the block that it asks for', async (context) => {
  const chain = await openBridgeChain(context)
  await chain.reserves(100n * ada)
  await chain.fund(settlerWallet.addressText)
  const first = await chain.merge(withdrawals(3))
  const second = await chain.merge(withdrawals(10, 10))
  // It pays on its own only when layer 1 has a new block.
  const settler = settle(context, chain, { isNeeded: () => false })
  await expect(settler.pay()).rejects.toMatchObject({ code: 'SETTLER_NOT_ACTIVE' })
  const payer = settle(context, chain, { blocks: { ...chain.blocks, byHash: async () => undefined } })
  await payer.start()
  await expect.poll(() => payer.status().settlements.map(({ remaining }) => remaining)).toEqual([null, null])
  expect(payer.status().settlements[0]!.waitsFor).toBe('its block is not in the store')
  expect(await payer.pay()).toEqual({ txHashes: [], paid: 0, remaining: 0 })
  await payer.close()

  let isKnown = false
  const byHash = async (hash: Uint8Array) => (isKnown ? chain.blocks.byHash(hash) : undefined)
  const other = settle(context, chain, { blocks: { ...chain.blocks, byHash } })
  expect(await other.remaining(first)).toBeUndefined()
  isKnown = true
  expect((await other.remaining(first))?.size).toBe(4)
  await other.start()
  await expect.poll(() => other.status().inFlight).toBe(2)
  expect(await other.pay({ headerHash: second, limit: 4 })).toEqual({ txHashes: [], paid: 0, remaining: 1 })
  await mineUntilPaid(chain, 2)
})

test('others may draft payouts, also while nothing is paid on its own', async (context) => {
  const chain = await openBridgeChain(context)
  await chain.reserves(100n * ada)
  await chain.fund(settlerWallet.addressText)
  const transactions = withdrawals(20)
  const headerHash = await chain.merge(transactions)
  const settler = settle(context, chain, { autoPay: false })
  await settler.start()
  await expect.poll(() => settler.status().settlements).toMatchObject([{ remaining: 22 }])
  const lovelace = Array.from({ length: 20 }, (_, n) => withdrawn(n)).reduce((sum, each) => sum + each, 0n)
  expect(await settler.count(headerHash)).toMatchObject({ remaining: 22, lovelace })
  const ids = transactions.map((cbor) => toHex(decodeTransaction(cbor).id))
  const { wallet, referenceScripts } = chain
  const draft = (...outrefs: string[]) =>
    settler.draft({ headerHash, outrefs, payer: wallet.address, referenceScripts })
  const refused = async (...outrefs: string[]) => {
    const drafted = await draft(...outrefs)
    return drafted.kind === 'not owed' ? drafted.reason : drafted
  }
  expect(await refused()).toBe('No withdrawal was named')
  expect(await refused(`${'00'.repeat(32)}#0`)).toContain('Nothing is owed')
  expect(await refused(`${ids[0]}#0`, `${ids[0]}#11`)).toContain('is not owed')
  expect(await refused(`${ids[0]}#10`)).toContain('nobody can pay it')
  const drafted = await draft(`${ids[1]}#3`, `${ids[0]}#0`)
  if (drafted.kind === 'not owed') throw new Error(drafted.reason)
  await chain.run(drafted.draft)
  expect(await chain.paidTo(13)).toEqual([withdrawn(13) - payoutFee])
  await expect.poll(() => settler.status().settlements).toMatchObject([{ remaining: 20 }])
  const payoutOf = async (index: number, place: number) => {
    const reference = { transactionId: fromHex(ids[index]!), index: place }
    return (await settler.payouts(headerHash)).get(encodeOutputReference(reference))
  }
  const byOthers = await payoutOf(1, 3)
  expect(byOthers).toBeDefined()
  expect(await payoutOf(0, 0)).toEqual(byOthers)
  expect(await payoutOf(0, 1)).toBeUndefined()
  await expect.poll(async () => (await settler.remaining(headerHash))?.has(`${ids[0]}#0`)).toBe(false)
  expect(await settler.pay({ limit: 3 })).toMatchObject({ paid: 3, remaining: 17, txHashes: { length: 1 } })
  expect(await settler.pay()).toMatchObject({ paid: 15, remaining: 2, txHashes: { length: 1 } })
  await chain.mine()
  expect(await payoutOf(0, 1)).toBeDefined()
  expect(await payoutOf(0, 1)).not.toEqual(byOthers)
  await expectPaid(chain, 20, 100n * ada)
})

test('a roll-back of layer 1 pays nothing twice', async (context) => {
  const chain = await openBridgeChain(context)
  await chain.reserves(100n * ada)
  await chain.fund(settlerWallet.addressText)
  await chain.merge(withdrawals(20))
  const settler = settle(context, chain, { batch: 4, maxInFlight: 2 })
  const began = chain.clock.time
  await settler.start()
  for (let round = 0; round < 2; round++) {
    await expect.poll(() => settler.status().inFlight).toBe(2)
    await chain.mine()
  }
  await expect.poll(() => settler.status().settlements).toMatchObject([{ remaining: 6 }])
  await chain.devnet.rollBack(2)
  await mineUntilPaid(chain, 2)
  await expectPaid(chain, 20, 100n * ada)
  expect(chain.clock.time - began, 'it waits for no transaction to expire').toBeLessThan(60_000)
})

test('what a roll-back undoes after the last payout is paid again', async (context) => {
  const chain = await openBridgeChain(context)
  await chain.reserves(100n * ada)
  await chain.fund(settlerWallet.addressText)
  await chain.merge(withdrawals(5))
  const settler = settle(context, chain)
  await settler.start()
  await expect.poll(() => settler.status().inFlight).toBe(1)
  await chain.mine()
  await expect.poll(() => settler.status()).toMatchObject({ inFlight: 0, settlements: [{ remaining: 1 }] })
  await chain.devnet.rollBack(1)
  await mineUntilPaid(chain, 1)
  await expectPaid(chain, 5, 100n * ada)
  expect(settler.status().setAside).toEqual([])
})

test('reserves are merged if a withdrawal needs more of them than fit, and it is paid', async (context) => {
  const chain = await openBridgeChain(context)
  for (let n = 0; n < 2; n++) await chain.reserves(...Array.from({ length: 65 }, () => 5n * ada))
  await chain.fund(settlerWallet.addressText)
  await chain.merge([withdrawal(0, 640n * ada)])
  const { log, warnings } = listening()
  const settler = settle(context, chain, { log })
  await settler.start()
  await mineUntilPaid(chain, 0)
  expect(await chain.paidTo(0)).toEqual([640n * ada - payoutFee])
  expect(await treasury(chain)).toBe(10n * ada)
  expect(settler.status().setAside).toEqual([])
  expect(warnings).toEqual([])

  await chain.merge([withdrawal(1, 20n * ada)])
  await expect.poll(() => settler.status().settlements[0]?.waitsFor).toContain('treasury')
  for (let n = 0; n < 3; n++) {
    await chain.mine()
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  expect(warnings).toEqual(['A settlement waits: it is not paid'])
})

test('old deposits become reserves', async (context) => {
  const chain = await openBridgeChain(context)
  await chain.fund(settlerWallet.addressText)
  for (let n = 0; n < 5; n++) await chain.deposit(20n * ada)
  await chain.mine(100)
  await chain.merge([])
  await chain.merge([])
  const settler = settle(context, chain, { tidyFrom: 5 })
  await settler.start()
  await expect.poll(() => settler.status().inFlight).toBe(1)
  await chain.mine()
  const { deposits, reserves } = readBridge(contracts, await chain.atBridge())
  expect(deposits).toEqual([])
  expect(reserves.map(({ output }) => output.value.lovelace)).toEqual([100n * ada])
  expect(reserves[0]!.output.value.assets.size).toBe(0)
})

test('withdrawals of deposits are paid from deposits', async (context) => {
  const chain = await openBridgeChain(context)
  await chain.fund(settlerWallet.addressText)
  for (let n = 0; n < 3; n++) await chain.deposit(6n * ada)
  await chain.mine(100)
  await chain.merge([])
  await chain.merge(withdrawals(5))
  const settler = settle(context, chain)
  await settler.start()
  await mineUntilPaid(chain, 1)
  await expectPaid(chain, 5, 18n * ada)
})

test('a genesis is backed by as much as wallets have', async (context) => {
  const chain = await openBridgeChain(context)
  const { layer1, wallet, operator } = chain
  const entry = (lovelace: bigint) => ({
    reference: { transactionId: new Uint8Array(32), index: 0 },
    output: toOutput({
      address: payee(0).bytes,
      value: { lovelace, assets: new Map() },
      datum: { kind: 'none' },
    }).bytes,
    address: payee(0).bytes,
  })
  const back = (lovelace: bigint) =>
    backGenesis({ layer1, contracts, genesis: [entry(lovelace), entry(7n)], wallets: [operator, wallet] })
  const all = 60_000n * ada
  expect(await back(all)).toMatchObject({ genesis: all + 7n, treasury: all + 7n, txHashes: { length: 2 } })
  await chain.mine()
  expect(await treasury(chain)).toBe(all + 7n)
  expect(await back(all)).toMatchObject({ treasury: all + 7n, txHashes: [] })
  const { treasury: most, txHashes } = await back(900_000n * ada)
  expect(txHashes).toHaveLength(1)
  expect(most).toBeLessThan(100_000n * ada)
})
