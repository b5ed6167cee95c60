import { openIndex } from '@ratatosk/ledger-index'
import { openStore } from '@ratatosk/store'
import { acceptedOf, documentFees, fundsOf, keyOf, signed, slots } from '@ratatosk/test-kit'
import { openTestStore } from '@ratatosk/test-kit/vitest'
import { expect, onTestFinished, test } from 'vitest'
import { type Layer2ChainOptions, openLayer2Chain } from './open-layer2-chain.js'

const key = keyOf(1)
// Three pages.
const genesis = fundsOf(key, 300, 5_000_000n)
const spend = signed(key, { inputs: [genesis[299]!.reference], outputs: [5_000_000n] })

async function openWorld() {
  const store = await openTestStore(openStore)
  await store.applyGenesis(genesis)
  const lease = await store.leases.acquire('sequencer', 'a test', 3_600_000)
  const schema = 'undone_index'
  const index = await openIndex({ database: store.database, schema, source: store.changes, genesis })
  onTestFinished(async () => {
    await index.close()
    await store.database.run(`DROP SCHEMA ${schema} CASCADE`, [])
  })
  await store.withLedger((ledger) => ledger.apply({ transactions: [acceptedOf(spend.cbor)] }))
  const options = { store, index, parameters: documentFees, slots, now: Date.now }
  const chain = openLayer2Chain(options as unknown as Layer2ChainOptions).view('accepted')
  return { store, lease: lease!, index, pages: () => chain.outputPages({ spent: false }, 'oldest-first') }
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

test('a list does not go on over a dropped transaction, nor over a reset', async () => {
  const { store, lease, index, pages } = await openWorld()
  for (const undo of [
    () =>
      store.blocks.drop(
        new Map([[spend.id, { code: 'BadInputsUTxO', message: 'A test', details: {} }]]),
        () => undefined,
        lease,
      ),
    () => store.blocks.reset(lease),
  ]) {
    const reader = pages()[Symbol.asyncIterator]()
    expect((await reader.next()).value).toHaveLength(128)
    await undo()
    await index.caughtUp()
    await expect(reader.next()).rejects.toMatchObject({ name: 'ChainUnavailableError', statusCode: 503 })
  }
})
