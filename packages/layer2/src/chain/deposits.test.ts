import { inspect } from 'node:util'
import { toHex } from '@ratatosk/cbor'
import type { ChainOutput, ChainView, SlotRange } from '@ratatosk/chain-apis'
import { slotToTime } from '@ratatosk/ledger'
import { type CreditedDeposit, openStore } from '@ratatosk/store'
import { acceptedOf, documentFees, fundsOf, keyOf, signed, slots } from '@ratatosk/test-kit'
import { openTestStore } from '@ratatosk/test-kit/vitest'
import { expect, onTestFinished, test } from 'vitest'
import { openIndex } from '../ledger-index/index.js'
import { type Finality, finalities } from './finality.js'
import { type Layer2ChainOptions, openLayer2Chain } from './open-layer2-chain.js'

const [key, other] = [keyOf(1), keyOf(2)]
const genesis = fundsOf(key, 2, 5_000_000n)
const address = toHex(other.address)

/** Deposits for an address that the genesis does not know. */
const deposits = fundsOf(other, 3, 7_000_000n).map(
  ({ output }, n): CreditedDeposit => ({
    id: new Uint8Array(32).fill(n + 1),
    output,
    address: other.address,
  }),
)
/** The slot in which a block ends. */
const slotOf = (number: number) => BigInt(10 * number)
const now = () => Number(slotToTime(slots, 45n))
const hashes = deposits.map(({ id }) => toHex(id))

async function openWorld() {
  const store = await openTestStore(openStore)
  await store.applyGenesis(genesis)
  const lease = await store.leases.acquire('sequencer', 'a test', 3_600_000)
  const schema = 'deposits_index'
  const index = await openIndex({
    database: store.database,
    schema,
    source: store.changes,
    genesis,
    pollMs: 3_600_000,
  })
  onTestFinished(async () => {
    await index.close()
    await store.database.run(`DROP SCHEMA ${schema} CASCADE`, [])
  })
  const viewOf = (finality: Finality) => {
    const options = { store, index, parameters: documentFees, slots, now }
    return openLayer2Chain(options as unknown as Layer2ChainOptions).view(finality)
  }
  const build = async (number: number, ...credited: readonly CreditedDeposit[]) => {
    const oldest = await store.blocks.oldest(10)
    const headerHash = new Uint8Array(28).fill(number)
    await store.blocks.build(
      {
        headerHash,
        header: Uint8Array.of(0),
        previousHeaderHash: (await store.blocks.newest())?.headerHash ?? new Uint8Array(28),
        utxosRoot: new Uint8Array(32),
        startTime: slotToTime(slots, slotOf(number - 1)),
        endTime: slotToTime(slots, slotOf(number)),
        firstSequence: oldest.at(0)?.sequence ?? 0n,
        lastSequence: oldest.at(-1)?.sequence ?? 0n,
        transactions: oldest.length,
        deposits: credited,
        commitTransaction: { id: new Uint8Array(32), cbor: Uint8Array.of(0) },
      },
      lease!,
    )
    await store.blocks.setState([headerHash], 'committed', lease!)
    return headerHash
  }
  const accept = (input: number) =>
    store.withLedger((ledger) =>
      ledger.apply({
        transactions: [
          acceptedOf(signed(key, { inputs: [genesis[input]!.reference], outputs: [5_000_000n] }).cbor),
        ],
      }),
    )
  /** The deposits that a view shows, by each of its reads. */
  const shownBy = async (finality: Finality) => {
    const view = viewOf(finality)
    const unspent = { address, spent: false }
    const found = await view.outputs(unspent, { offset: 0, limit: 10 })
    const paged: string[] = []
    for await (const page of view.outputPages(unspent, 'oldest-first'))
      paged.push(...page.map(({ transactionHash }) => transactionHash))
    expect(paged).toEqual(found.map(({ transactionHash }) => transactionHash))
    const references = hashes.map((hash) => `${hash}#0`)
    const named = await view.outputs({ references }, { offset: 0, limit: 10 })
    expect(named.map(({ transactionHash }) => transactionHash)).toEqual(paged)
    expect(await view.knowsAddress(address)).toBe(found.length > 0)
    return found
  }
  return { store, lease: lease!, viewOf, build, accept, shownBy }
}

const idsOf = (found: readonly { readonly transactionHash: string }[]) =>
  found.map(({ transactionHash }) => transactionHash)

test('a view shows the deposits of its blocks, also of those without transactions', async () => {
  const { store, lease, viewOf, build, accept, shownBy } = await openWorld()
  await accept(0)
  const first = await build(1, deposits[0]!)
  for (const finality of ['accepted', 'committed'] as const) {
    const [found, ...others] = await shownBy(finality)
    expect(others).toEqual([])
    expect(found).toMatchObject({
      transactionHash: hashes[0],
      created: { block: { height: 1 }, position: 0 },
    })
  }
  expect(await shownBy('merged')).toEqual([])
  await build(2, deposits[1]!)
  expect(idsOf(await shownBy('committed'))).toEqual(hashes.slice(0, 2))
  await store.blocks.setState([first], 'merged', lease)
  expect(idsOf(await shownBy('merged'))).toEqual(hashes.slice(0, 1))
  await accept(1)
  await build(3, deposits[2]!)
  expect(idsOf(await shownBy('merged'))).toEqual(hashes.slice(0, 1))
  expect(idsOf(await shownBy('committed'))).toEqual(hashes)

  for (const finality of finalities) {
    const view = viewOf(finality)
    expect(await view.transaction(hashes[0]!)).toBeUndefined()
    expect(await view.transactions([hashes[0]!])).toEqual(new Map())
    expect((await view.outputs({ transaction: hashes[0]! }, { offset: 0, limit: 10 })).length).toBe(1)
    expect(await view.block(2)).toMatchObject(
      finality === 'merged' ? { open: true } : { transactionCount: 0 },
    )
  }
})

test('a deposit whose block was removed is accepted, and no more committed', async () => {
  const { store, lease, build, accept, shownBy } = await openWorld()
  await accept(0)
  await build(1, deposits[0]!)
  await build(2, deposits[1]!)
  await store.blocks.returnToMempool(2n, lease)
  expect(idsOf(await shownBy('committed'))).toEqual(hashes.slice(0, 1))
  expect(idsOf(await shownBy('accepted'))).toEqual(hashes.slice(0, 2))
  await store.blocks.forgetDeposits([deposits[1]!.id], () => undefined, lease)
  expect(idsOf(await shownBy('accepted'))).toEqual(hashes.slice(0, 1))
})

const whole = { offset: 0, limit: 100 }

function isWithin(slot: bigint | undefined, { from = 0n, to = 1000n }: SlotRange): boolean {
  return slot !== undefined && slot >= from && slot <= to
}

/** Compares ranges of slots with the slots shown. */
async function expectRanges(view: ChainView): Promise<ChainOutput[]> {
  const all = [...(await view.outputs({}, whole))]
  for (const slot of [0n, 1n, 9n, 10n, 11n, 30n, 44n, 45n, 46n]) {
    for (const range of [{ from: slot }, { to: slot }, { from: 10n, to: slot }]) {
      const created = all.filter((output) => isWithin(output.created.block.slot, range))
      const spent = all.filter((output) => isWithin(output.spent?.block.slot, range))
      expect(await view.outputs({ createdIn: range }, whole), `created ${inspect(range)}`).toEqual(created)
      expect(await view.outputs({ spentIn: range }, whole), `spent ${inspect(range)}`).toEqual(spent)
    }
  }
  const both = { createdIn: { from: 1n }, spentIn: { to: 30n } }
  expect(await view.outputs(both, whole)).toEqual(
    all.filter(
      ({ created, spent }) => created.block.slot >= 1n && isWithin(spent?.block.slot, { from: 0n, to: 30n }),
    ),
  )
  expect(await view.outputs({ spent: false, spentIn: {} }, whole)).toEqual([])
  return all
}

test('every view finds outputs by the slots that it shows, also deposits beside their block', async () => {
  const { store, lease, viewOf, build, accept } = await openWorld()
  await accept(0)
  const blocks = [await build(1, deposits[0]!)]
  await build(2, deposits[1]!)
  // The second deposit waits for a later block, before a later transaction in the order of acceptance.
  await store.blocks.returnToMempool(2n, lease)
  await accept(1)
  for (const finality of finalities) await expectRanges(viewOf(finality))
  blocks.push(await build(3, deposits[1]!, deposits[2]!))
  for (const merged of blocks) {
    for (const finality of finalities) await expectRanges(viewOf(finality))
    await store.blocks.setState([merged], 'merged', lease)
  }
  const all = await expectRanges(viewOf('merged'))
  expect(all.map(({ created }) => created.block.slot).sort()).toEqual([0n, 0n, 10n, 10n, 30n, 30n, 30n])
  expect(await viewOf('merged').blockUntil(29n)).toMatchObject({ height: 1, slot: slotOf(1) })
})
