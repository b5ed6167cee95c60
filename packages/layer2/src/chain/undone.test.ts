import { CborWriter } from '@ratatosk/cbor'
import { slotToTime } from '@ratatosk/ledger'
import { openStore } from '@ratatosk/store'
import { acceptedOf, fundsOf, keyOf, signed, slots } from '@ratatosk/test-kit'
import { openTestStore } from '@ratatosk/test-kit/vitest'
import { expect, onTestFinished, test } from 'vitest'
import { type LedgerIndex, openIndex } from '../ledger-index/index.js'
import type { Finality } from './finality.js'
import { openLayer2Chain } from './open-layer2-chain.js'
import { layer2Options } from './test/options.js'

const key = keyOf(1)
// Three pages.
const genesis = fundsOf(key, 300, 5_000_000n)
const spend = signed(key, { inputs: [genesis[299]!.reference], outputs: [5_000_000n] })

/** Four outputs with the one that is spent: two pages, because of their bytes. */
const large = genesis.slice(296).map((entry, n) => {
  if (n === 3) return entry
  const datum = Uint8Array.of(0x9f, ...new Uint8Array(40_000), 0xff)
  const writer = new CborWriter().map(3).uint(0).bytes(key.address).uint(1).uint(5_000_000n)
  return { ...entry, output: writer.uint(2).array(2).uint(1).tag(24).bytes(datum).toBytes() }
})

async function openWorld(outputs = genesis) {
  const store = await openTestStore(openStore)
  await store.applyGenesis(outputs)
  const lease = await store.leases.acquire('sequencer', 'a test', 3_600_000)
  const schema = 'undone_index'
  // They follow only when they are asked.
  const options = { source: store.changes, genesis: outputs, pollMs: 3_600_000 }
  const open = () => openIndex({ database: store.database, schema, ...options })
  const index = await open()
  const other = await open()
  onTestFinished(async () => {
    await index.close()
    await other.close()
    await store.database.run(`DROP SCHEMA ${schema} CASCADE`, [])
  })
  await store.withLedger((ledger) => ledger.apply({ transactions: [acceptedOf(spend.cbor)] }))
  const viewOf = (index: Partial<LedgerIndex>, finality: Finality = 'accepted', now = Date.now) => {
    return openLayer2Chain(layer2Options({ store, index, now })).view(finality)
  }
  const pagesOf = (index: Partial<LedgerIndex>, finality: Finality = 'accepted') =>
    viewOf(index, finality).outputPages({ spent: false }, 'oldest-first')
  const failure = { code: 'BadInputsUTxO', message: 'A test', details: {} } as const
  const drop = () => store.blocks.drop(new Map([[spend.id, failure]]), () => undefined, lease!)
  const reset = () => store.blocks.reset(lease!)
  const build = async () => {
    const headerHash = new Uint8Array(28).fill(1)
    const [first] = await store.blocks.oldest(1)
    const block = {
      headerHash,
      header: Uint8Array.of(0),
      previousHeaderHash: new Uint8Array(28),
      utxosRoot: new Uint8Array(32),
      startTime: 1n,
      endTime: slotToTime(slots, 400n),
      firstSequence: first!.sequence,
      lastSequence: first!.sequence,
      transactions: 1,
      commitTransaction: { id: new Uint8Array(32), cbor: Uint8Array.of(0) },
    }
    await store.blocks.build(block, lease!)
    await store.blocks.setState([headerHash], 'committed', lease!)
  }
  return { store, index, other, build, drop, reset, viewOf, pagesOf, pages: () => pagesOf(index) }
}

async function countOf(pages: AsyncIterable<readonly unknown[]>): Promise<number> {
  let count = 0
  for await (const page of pages) count += page.length
  return count
}

test('a list is whole if nothing is undone while it is read', async () => {
  const { store, pages } = await openWorld()
  expect(await countOf(pages())).toBe(300)
  const reader = pages()[Symbol.asyncIterator]()
  const first = await reader.next()
  const later = signed(key, { inputs: [genesis[298]!.reference], outputs: [5_000_000n] })
  await store.withLedger((ledger) => ledger.apply({ transactions: [acceptedOf(later.cbor)] }))
  const rest = await countOf({ [Symbol.asyncIterator]: () => reader })
  expect(first.value!.length + rest, 'what was accepted later is not in it').toBe(300)
})

const unavailable = { name: 'ChainUnavailableError', statusCode: 503 }

test('a list does not go on over a dropped transaction, nor over a reset', async () => {
  const { drop, reset, index, pages } = await openWorld()
  for (const undo of [drop, reset]) {
    const reader = pages()[Symbol.asyncIterator]()
    expect((await reader.next()).value).toHaveLength(128)
    await undo()
    await index.caughtUp()
    await expect(reader.next()).rejects.toMatchObject(unavailable)
  }
})

test.each([1, 2])('a list of two pages does not go on, nor end, over a drop after page %d', async (read) => {
  const { drop, index, pages } = await openWorld(large)
  expect(await countOf(pages())).toBe(4)
  const reader = pages()[Symbol.asyncIterator]()
  for (let page = 0; page < read; page++) expect((await reader.next()).value).toHaveLength(2)
  await drop()
  await index.caughtUp()
  await expect(reader.next()).rejects.toMatchObject(unavailable)
})

test('a list does not begin over a reset while its state is read', async () => {
  const { reset, index, pagesOf } = await openWorld()
  const pages = pagesOf({
    ...index,
    async caughtUp(sequence) {
      await index.caughtUp(sequence)
      await reset()
      await index.caughtUp()
    },
  })
  await expect(countOf(pages)).rejects.toMatchObject(unavailable)
})

test('a read without pages is repeated after an undo, and fails after a second one', async () => {
  const { drop, reset, index, viewOf } = await openWorld()
  const read = (undos: readonly (() => Promise<unknown>)[]) => {
    const left = [...undos]
    const view = viewOf({
      ...index,
      async outputs(query, part, at) {
        await left.shift()?.()
        await index.caughtUp()
        return index.outputs(query, part, at)
      },
    })
    return view.outputs({ spent: false }, { offset: 0, limit: 1000, order: 'oldest-first' })
  }
  expect(await read([]), 'one output is spent by another').toHaveLength(300)
  expect(await read([drop])).toHaveLength(300)
  await expect(read([reset, reset])).rejects.toMatchObject(unavailable)
})

test('a read that an undo makes fail is repeated; any other failure is thrown', async () => {
  const { drop, index, viewOf } = await openWorld()
  let reads = 0
  const read = (undo: () => Promise<unknown>) =>
    viewOf({
      ...index,
      async outputs(query, part, at) {
        if (reads++ > 0) return index.outputs(query, part, at)
        await undo()
        await index.caughtUp()
        throw new Error('A block is gone')
      },
    }).outputs({ spent: false }, { offset: 0, limit: 1000, order: 'oldest-first' })
  await expect(read(async () => undefined)).rejects.toThrow('A block is gone')
  expect(reads, 'it is not repeated').toBe(1)
  reads = 0
  expect(await read(drop)).toHaveLength(300)
  expect(reads).toBe(2)
})

test('a list is whole when another process has emptied the index', async () => {
  const { build, index, other, pagesOf } = await openWorld()
  await build()
  await other.caughtUp()
  await index.rebuild()
  expect(await countOf(pagesOf(other, 'committed'))).toBe(300)
})

test('readers at the same time share the reads of what the index has followed', async () => {
  const { index, viewOf } = await openWorld()
  let reads = 0
  const view = viewOf({
    ...index,
    progress() {
      reads++
      return index.progress()
    },
    knowsAddress: async () => true,
  })
  await Promise.all(Array.from({ length: 20 }, () => view.knowsAddress('00')))
  expect(reads, 'two for each would be 40').toBeLessThan(10)
})

test('the state of a view says how far the index has followed, and changes with every change', async () => {
  const { store, index, viewOf, build, drop } = await openWorld()
  const now = () => Number(slotToTime(slots, 500n))
  const viewAt = (lagMs: number) => viewOf({ ...index, lagMs: () => lagMs }, 'accepted', now)
  const view = viewAt(60_000)
  expect(await view.indexedSlot(), 'it has not even the genesis').toBe(0n)
  await index.caughtUp()
  expect(await view.indexedSlot()).toBe(500n)
  const versions = [await view.version()]
  expect(await view.version()).toBe(versions[0])
  await drop()
  versions.push(await view.version())
  expect(await view.indexedSlot(), 'a drop is to be followed').toBe(440n)
  const later = signed(key, { inputs: [genesis[298]!.reference], outputs: [5_000_000n] })
  await store.withLedger((ledger) => ledger.apply({ transactions: [acceptedOf(later.cbor)] }))
  versions.push(await view.version())
  await index.caughtUp()
  await build()
  versions.push(await view.version())
  expect(new Set(versions).size).toBe(4)
  const last = signed(key, { inputs: [genesis[297]!.reference], outputs: [5_000_000n] })
  await store.withLedger((ledger) => ledger.apply({ transactions: [acceptedOf(last.cbor)] }))
  expect(await view.indexedSlot(), 'the last that it followed is in the closed block').toBe(400n)
})
