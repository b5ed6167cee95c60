import { inspect } from 'node:util'
import { toHex } from '@ratatosk/cbor'
import type { ChainOutput, ChainView, SlotRange } from '@ratatosk/chain-apis'
import { slotToTime } from '@ratatosk/ledger'
import { type CreditedDeposit, openStore } from '@ratatosk/store'
import { acceptedOf, fundsOf, keyOf, signed, slots } from '@ratatosk/test-kit'
import { openTestStore } from '@ratatosk/test-kit/vitest'
import { openTurns } from '@ratatosk/workers'
import { describe, expect, onTestFinished, test } from 'vitest'
import { openIndex } from '../ledger-index/index.js'
import { shareReads } from '../ledger-index/open-index.js'
import { type Finality, finalities } from './finality.js'
import { type Layer2ChainOptions, openLayer2Chain } from './open-layer2-chain.js'
import { layer2Options } from './test/options.js'

describe('evaluation', () => {
  const key = keyOf(1)
  const [fund] = fundsOf(key, 1, 5_000_000n)

  test('an evaluation whose client has left does not run', async () => {
    let runs = 0
    let finish = () => {}
    const evaluator: Layer2ChainOptions['evaluator'] = {
      async evaluate() {
        runs++
        await new Promise<void>((resolve) => {
          finish = resolve
        })
        return { ok: true, redeemers: [] }
      },
    }
    const outputs = async (references: readonly unknown[]) => references.map(() => fund!.output)
    const { view } = openLayer2Chain(
      layer2Options({
        store: { ...layer2Options().store, ledger: { outputs } },
        evaluator,
        turns: openTurns({ maxWaitMs: 600_000 }),
      }),
    )
    const chain = view('accepted')
    const { cbor } = signed(key, { inputs: [fund!.reference], outputs: [5_000_000n] })
    const client = new AbortController()
    const evaluate = (signal?: AbortSignal) => chain.evaluate(cbor, new Map(), signal)

    const evaluations = Array.from({ length: 40 }, () => evaluate(client.signal))
    await expect.poll(() => runs).toBe(1)
    client.abort()
    const next = evaluate()
    finish()
    const kinds = (await Promise.all(evaluations)).map(({ kind }) => kind)
    expect(kinds.filter((kind) => kind === 'busy')).toHaveLength(39)
    await expect.poll(() => runs).toBe(2)
    finish()
    expect(await next).toMatchObject({ kind: 'evaluated' })
  })
})

describe('options', () => {
  const names =
    'store, index, queue, evaluator, turns, parameters, slots, networkMagic, networkId, maxBlockSize, ' +
    'securityParameter, maxTransactionSize, submitTimeoutMs, log, now'

  test.each([
    [{ indexes: 1 }, `there is no option indexes; its options are ${names}`],
    [{ store: { ledger: {} } }, 'store must be that of openStore'],
    [{ index: undefined }, 'index must be that of openIndex, not undefined'],
    [{ turns: {} }, 'turns must be an object with the method take'],
    [{ slots: { slotLength: 1000 } }, 'slots must be { zeroTime, zeroSlot, slotLength }'],
    [{ networkId: 'mainnet' }, 'networkId must be 0 or 1, not mainnet'],
    [{ submitTimeoutMs: -1 }, 'submitTimeoutMs must be a whole number from 0 to 2147483647, not -1'],
    [{ now: 0 }, 'now must be a function, not 0'],
  ])('refuses %o', (changes, message) => {
    expect(() => openLayer2Chain(layer2Options(changes))).toThrow(
      new TypeError(`openLayer2Chain: ${message}`),
    )
  })

  test('refuses a call without options, and a finality that does not exist', () => {
    expect(() => openLayer2Chain(undefined as never)).toThrow(
      new TypeError(`openLayer2Chain: the options must be an object; its options are ${names}`),
    )
    expect(() => openLayer2Chain(layer2Options()).view('acepted' as never)).toThrow(
      new TypeError('view: finality must be one of accepted, committed, merged, not acepted'),
    )
  })
})

describe('share reads', () => {
  /** Reads that end when they are released. */
  function heldReads() {
    const begun: { readonly key: string; readonly end: (error?: Error) => void }[] = []
    const read = shareReads(
      (key: string) =>
        new Promise<number>((resolve, reject) => {
          const number = begun.length + 1
          begun.push({ key, end: (error) => (error === undefined ? resolve(number) : reject(error)) })
        }),
    )
    return { begun, read }
  }

  const settled = () => new Promise((resolve) => setImmediate(resolve))

  test('callers at the same time share a read, and later ones the next', async () => {
    const { begun, read } = heldReads()
    const first = [read('a'), read('a'), read('b')]
    await settled()
    const later = Array.from({ length: 100 }, () => read('a'))
    await settled()
    expect(begun.map(({ key }) => key)).toEqual(['a', 'b'])
    for (const { end } of begun) end()
    expect(await Promise.all(first)).toEqual([1, 1, 2])
    await settled()
    begun.at(-1)?.end()
    expect(new Set(await Promise.all(later)), 'a read that began after their calls').toEqual(new Set([3]))
    expect(begun).toHaveLength(3)
  })

  test('a failed read fails its callers only', async () => {
    const { begun, read } = heldReads()
    const first = read('a')
    await settled()
    const later = read('a')
    begun[0]?.end(new Error('lost'))
    await expect(first).rejects.toThrow('lost')
    await settled()
    begun[1]?.end()
    expect(await later).toBe(2)
  })
})

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
    return openLayer2Chain(layer2Options({ store, index, now })).view(finality)
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
