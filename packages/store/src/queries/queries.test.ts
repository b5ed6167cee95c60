import type { BlockState } from '@ratatosk/ports'
import { collect } from '@ratatosk/test-kit'
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { Lease } from '../leases/leases.js'
import type { AppliedTransaction, StoredOutput } from '../ledger/ledger.js'
import { describeEveryBackend, type TestStore } from '../test/backends.js'
import {
  buildBlock,
  entry,
  headerHashOf,
  idOf,
  outputOf,
  takeLease,
  transaction,
  walletOf,
} from '../test/samples.js'

const alice = walletOf('alice')
const everything = { limit: 100, offset: 0 }

describeEveryBackend('queries', (backend) => {
  let test: TestStore
  let lease: Lease
  let chain: readonly AppliedTransaction[]

  beforeEach(async () => {
    test = await backend.create()
    await test.store.applyGenesis([entry(outputOf('genesis'), alice)])
    lease = await takeLease(test.store)
    chain = Array.from({ length: 6 }, (_, n) =>
      transaction(`${n}`, [n === 0 ? outputOf('genesis') : outputOf(`${n - 1}`)], [alice]),
    )
    await test.store.withLedger((ledger) => ledger.apply({ transactions: chain }))
  })

  afterEach(() => test.drop())

  /** Puts the oldest transactions of the mempool into a block. */
  async function putIntoBlock(name: string, state: BlockState, transactions: number) {
    const { headerHash } = await buildBlock(test.store, lease, name, transactions)
    if (state === 'removed') await test.store.blocks.returnToMempool(1n, lease)
    else await test.store.blocks.setState([headerHash], state, lease)
  }

  it('find transactions in the mempool and in blocks of any state', async () => {
    await putIntoBlock('merged', 'merged', 2)
    await putIntoBlock('built', 'built', 2)
    for (const { id, cbor } of chain) expect(await test.store.transaction(id)).toEqual(cbor)
    expect(await test.store.transaction(idOf('nowhere'))).toBeUndefined()
    expect(await test.store.transaction(new Uint8Array())).toBeUndefined()
    const known = await test.store.withLedger((ledger) =>
      ledger.known([...chain.map(({ id }) => id), idOf('no')]),
    )
    expect(known).toEqual([true, true, true, true, true, true, false])
  })

  it('return a history that commit and merge do not change', async () => {
    const before = await collect(test.store.historyPages(alice.address, everything))
    expect(before).toEqual(chain.map(({ cbor }) => cbor))
    await putIntoBlock('merged', 'merged', 2)
    await putIntoBlock('committed', 'committed', 2)
    expect(await collect(test.store.historyPages(alice.address, everything))).toEqual(before)
  })

  it('return pages of the history', async () => {
    const page = (limit: number, offset: number) =>
      collect(test.store.historyPages(alice.address, { limit, offset }))
    expect(await page(2, 0)).toEqual([chain[0]!.cbor, chain[1]!.cbor])
    expect(await page(2, 3)).toEqual([chain[3]!.cbor, chain[4]!.cbor])
    expect(await page(500, 5)).toEqual([chain[5]!.cbor])
    expect(await page(2, 6)).toEqual([])
    expect(await page(2, Number.MAX_SAFE_INTEGER)).toEqual([])
    expect(await page(0, 0)).toEqual([])
  })

  it.each([
    [-1, 0],
    [1, -1],
    [0.5, 0],
    [1, Number.NaN],
  ])('refuse a page of %d from %d', async (limit, offset) => {
    const page = collect(test.store.historyPages(alice.address, { limit, offset }))
    await expect(page).rejects.toMatchObject({ code: 'STORE_INVALID_ARGUMENT' })
  })

  it.each<BlockState>(['submitted', 'committed', 'mature', 'merged'])(
    'return the transactions of a %s block in block order',
    async (state) => {
      await putIntoBlock('other', 'committed', 2)
      await putIntoBlock('block', state, 3)
      const ids = chain.slice(2, 5).map(({ id }) => id)
      expect(await collect(test.store.blockTransactionPages(headerHashOf('block')))).toEqual(ids)
    },
  )

  it.each<BlockState>(['built', 'removed'])('return nothing for a %s block', async (state) => {
    await putIntoBlock('block', state, 6)
    expect(await collect(test.store.blockTransactionPages(headerHashOf('block')))).toEqual([])
  })

  it('return nothing for an unknown block', async () => {
    await putIntoBlock('block', 'merged', 6)
    expect(await collect(test.store.blockTransactionPages(headerHashOf('unknown')))).toEqual([])
  })

  it('distinguish addresses with the same payment credential', async () => {
    const staked = { address: Uint8Array.of(0, ...alice.address.slice(1), ...headerHashOf('stake')) }
    await test.store.withLedger((ledger) =>
      ledger.apply({ transactions: [transaction('split', [outputOf('5')], [staked, alice, staked])] }),
    )
    const { store } = test
    const indices = (outputs: readonly StoredOutput[]) => outputs.map(({ reference }) => reference.index)
    expect(indices(await collect(store.utxoPages(staked.address)))).toEqual([0, 2])
    expect(indices(await collect(store.utxoPages(alice.address)))).toEqual([1])
  })

  it('return plain Uint8Arrays', async () => {
    const [output] = await collect(test.store.utxoPages(alice.address))
    const cbor = await test.store.transaction(chain[0]!.id)
    for (const bytes of [output!.output, output!.reference.transactionId, cbor!]) {
      expect(Object.getPrototypeOf(bytes)).toBe(Uint8Array.prototype)
    }
  })

  // PGlite has one connection: there they wait for the holder.
  it.skipIf(backend.name === 'PGlite')(
    'do not wait for a holder of the ledger lock, and do not see its uncommitted work',
    async () => {
      await test.store.withLedger(async (ledger) => {
        await ledger.apply({ transactions: [transaction('burn', [outputOf('5')], [])] })
        expect(await collect(test.store.utxoPages(alice.address))).toHaveLength(1)
      })
      expect(await collect(test.store.utxoPages(alice.address))).toEqual([])
    },
  )
})
