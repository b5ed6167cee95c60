import { collect } from '@ratatosk/test-kit'
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { Store } from '../store.js'
import { describeBackends, type TestStore } from '../test/backends.js'
import { entry, idOf, outputOf, transaction, walletOf } from '../test/samples.js'
import type { AppliedTransaction, Ledger } from './ledger.js'

const alice = walletOf('alice')
const bob = walletOf('bob')

function accept(store: Store, ...transactions: AppliedTransaction[]): Promise<void> {
  return store.withLedger((ledger) => ledger.apply({ transactions }))
}

describeBackends('the mempool ledger', (backend) => {
  let test: TestStore
  let store: Store

  beforeEach(async () => {
    test = await backend.create()
    store = test.store
    await store.applyGenesis([0, 1, 2].map((index) => entry(outputOf('genesis', index), alice)))
  })

  afterEach(() => test.drop())

  it('moves outputs from spending to receiving addresses', async () => {
    const payment = transaction('payment', [outputOf('genesis', 1)], [bob, alice])
    await accept(store, payment)

    expect(await store.transaction(payment.id)).toEqual(payment.cbor)
    expect(await collect(store.utxoPages(alice.address))).toEqual(
      [outputOf('genesis', 0), outputOf('genesis', 2), outputOf('payment', 1)].map(stored),
    )
    expect(await collect(store.utxoPages(bob.address))).toEqual([stored(outputOf('payment', 0))])
    expect(await collect(store.historyPages(alice.address, { limit: 10, offset: 0 }))).toEqual([payment.cbor])
    expect(await collect(store.historyPages(bob.address, { limit: 10, offset: 0 }))).toEqual([payment.cbor])
  })

  it('applies a chain within one batch without showing its inner outputs', async () => {
    const chain = [
      transaction('first', [outputOf('genesis')], [bob]),
      transaction('second', [outputOf('first')], [alice]),
      transaction('third', [outputOf('second')], [bob]),
    ]
    await accept(store, ...chain)

    expect(await collect(store.utxoPages(bob.address))).toEqual([stored(outputOf('third'))])
    for (const { address } of [alice, bob]) {
      expect(await collect(store.historyPages(address, { limit: 10, offset: 0 }))).toEqual(
        chain.map(({ cbor }) => cbor),
      )
    }
  })

  it('shows applied batches to later queries under the same lock', async () => {
    await store.withLedger(async (ledger) => {
      const payment = transaction('payment', [outputOf('genesis')], [bob])
      expect(await ledger.outputs([outputOf('genesis'), outputOf('payment')])).toEqual([
        stored(outputOf('genesis')).output,
        undefined,
      ])
      await ledger.apply({ transactions: [payment] })
      expect(await ledger.outputs([outputOf('genesis'), outputOf('payment')])).toEqual([
        undefined,
        stored(outputOf('payment')).output,
      ])
      expect(await ledger.known([idOf('other'), payment.id])).toEqual([false, true])
    })
  })

  it('returns outputs in the order of the references, repeated and unknown ones included', async () => {
    const asked = [
      outputOf('genesis', 2),
      outputOf('nowhere'),
      outputOf('genesis', 0),
      outputOf('genesis', 2),
    ]
    expect(await store.withLedger((ledger) => ledger.outputs(asked))).toEqual([
      stored(asked[0]!).output,
      undefined,
      stored(asked[2]!).output,
      stored(asked[0]!).output,
    ])
  })

  it('returns nothing for empty queries and writes nothing for an empty batch', async () => {
    await store.withLedger(async (ledger) => {
      expect(await ledger.outputs([])).toEqual([])
      expect(await ledger.known([])).toEqual([])
      await ledger.apply({ transactions: [] })
      expect(await ledger.rejections.add([])).toBe(0)
    })
  })

  it('accepts transactions without outputs and addresses without payment credential', async () => {
    const byron = { address: Uint8Array.of(0x82, 1, 2, 3) }
    await accept(
      store,
      transaction('burn', [outputOf('genesis')], []),
      transaction('old', [outputOf('genesis', 1)], [byron]),
    )
    expect(await collect(store.utxoPages(byron.address))).toEqual([stored(outputOf('old'))])
    expect(await collect(store.historyPages(alice.address, { limit: 10, offset: 0 }))).toHaveLength(2)
  })

  it('applies a batch of 1,000 transactions', async () => {
    const wallets = Array.from({ length: 1000 }, (_, index) => walletOf(`wallet ${index}`))
    await accept(store, transaction('split', [outputOf('genesis')], wallets))
    const transactions = wallets.map((wallet, index) =>
      transaction(`batch ${index}`, [outputOf('split', index)], [wallet, bob]),
    )
    await accept(store, ...transactions)
    expect(await collect(store.utxoPages(bob.address))).toHaveLength(1000)
    expect(await store.withLedger((ledger) => ledger.known(transactions.map(({ id }) => id)))).not.toContain(
      false,
    )
  })

  it.each<[string, string, AppliedTransaction[]]>([
    ['spends an unknown output', 'STORE_CONFLICT', [transaction('bad', [outputOf('nowhere')], [bob])]],
    [
      'spends an output twice',
      'STORE_INVALID_ARGUMENT',
      [transaction('one', [outputOf('genesis')], [bob]), transaction('two', [outputOf('genesis')], [bob])],
    ],
    [
      'spends an inner output twice',
      'STORE_INVALID_ARGUMENT',
      [
        transaction('one', [outputOf('genesis')], [bob]),
        transaction('two', [outputOf('one')], [bob]),
        transaction('three', [outputOf('one')], [bob]),
      ],
    ],
    [
      'spends an output before it is produced',
      'STORE_INVALID_ARGUMENT',
      [transaction('two', [outputOf('one')], [bob]), transaction('one', [outputOf('genesis')], [bob])],
    ],
    [
      'contains a transaction twice',
      'STORE_INVALID_ARGUMENT',
      [transaction('one', [outputOf('genesis')], [bob]), transaction('one', [outputOf('genesis', 1)], [bob])],
    ],
    [
      'has an id of the wrong length',
      'STORE_INVALID_ARGUMENT',
      [{ ...transaction('one', [outputOf('genesis')], []), id: new Uint8Array(31) }],
    ],
    [
      'has an index out of range',
      'STORE_INVALID_ARGUMENT',
      [
        {
          ...transaction('one', [outputOf('genesis')], []),
          produced: [entry({ transactionId: idOf('one'), index: 65_536 }, bob)],
        },
      ],
    ],
  ])('writes nothing of a batch that %s', async (_, code, transactions) => {
    const good = transaction('good', [outputOf('genesis', 2)], [bob])
    await expect(accept(store, good, ...transactions)).rejects.toMatchObject({ name: 'StoreError', code })
    expect(await store.transaction(good.id)).toBeUndefined()
    expect(await collect(store.utxoPages(alice.address))).toHaveLength(3)
    expect(await collect(store.historyPages(bob.address, { limit: 10, offset: 0 }))).toEqual([])
  })

  it('refuses a transaction that was accepted before', async () => {
    const payment = transaction('payment', [outputOf('genesis')], [bob])
    await accept(store, payment)
    await expect(accept(store, payment)).rejects.toMatchObject({ code: 'STORE_CONFLICT', retryable: true })
    const [again] = [transaction('payment', [outputOf('genesis', 1)], [])]
    await expect(accept(store, again!)).rejects.toMatchObject({ code: 'STORE_CONFLICT' })
    expect(await collect(store.utxoPages(bob.address))).toHaveLength(1)
  })

  it('rolls back work that fails after writing, and rejects with its error', async () => {
    const failure = new Error('judged wrongly')
    const work = store.withLedger(async (ledger) => {
      await ledger.apply({ transactions: [transaction('payment', [outputOf('genesis')], [bob])] })
      await ledger.rejections.add([
        {
          submissionId: '1',
          cbor: idOf('1'),
          attempts: 1,
          code: 'X',
          message: 'x',
          details: {},
          submittedAt: new Date(),
        },
      ])
      throw failure
    })
    await expect(work).rejects.toBe(failure)
    expect(await collect(store.utxoPages(alice.address))).toHaveLength(3)
    expect(await store.rejections.list()).toEqual([])
  })

  it.each([
    ['the batch conflicts', transaction('bad', [outputOf('nowhere')], [bob])],
    ['the database refuses the batch', { ...transaction('bad', [], []), id: new Uint8Array(31) }],
  ])('writes nothing if %s and the work ignores it', async (_, bad) => {
    const good = transaction('good', [outputOf('genesis')], [bob])
    const work = store.withLedger(async (ledger) => {
      await ledger.apply({ transactions: [good] })
      await ledger.apply({ transactions: [bad] }).catch(() => {})
      await ledger.apply({ transactions: [transaction('late', [], [])] }).catch(() => {})
    })
    await expect(work).rejects.toMatchObject({ name: 'StoreError' })
    expect(await store.transaction(good.id)).toBeUndefined()
    expect(await collect(store.utxoPages(alice.address))).toHaveLength(3)
  })

  it('refuses to use a ledger after its work has ended', async () => {
    let escaped: Ledger | undefined
    await store.withLedger(async (ledger) => {
      escaped = ledger
    })
    await expect(escaped!.known([idOf('any')])).rejects.toMatchObject({ code: 'STORE_CLOSED' })
  })

  it('admits one holder of the lock at a time across stores', async () => {
    const stores = [store, await test.another()]
    let inside = 0
    let most = 0
    await Promise.all(
      Array.from({ length: 12 }, (_, round) =>
        stores[round % 2]!.withLedger(async (ledger) => {
          inside += 1
          most = Math.max(most, inside)
          // Each spends what the one before has made, so none may see an older ledger.
          const [last] = await ledger
            .outputs(Array.from({ length: 12 }, (_, n) => outputOf(`round ${n}`)))
            .then((outputs) => outputs.flatMap((output, n) => (output === undefined ? [] : [n])))
          const next = last === undefined ? 0 : last + 1
          const spent = last === undefined ? outputOf('genesis') : outputOf(`round ${last}`)
          await ledger.apply({ transactions: [transaction(`round ${next}`, [spent], [bob])] })
          inside -= 1
        }),
      ),
    )
    expect(most).toBe(1)
    expect(await collect(store.utxoPages(bob.address))).toEqual([stored(outputOf('round 11'))])
    expect(await collect(store.historyPages(bob.address, { limit: 20, offset: 0 }))).toHaveLength(12)
  })
})

function stored(reference: { transactionId: Uint8Array; index: number }) {
  return { reference, output: entry(reference, alice).output }
}

// Neither in the order of their references nor of their transactions.
const outputs = [
  entry(outputOf('a', 1), alice),
  entry(outputOf('b', 7), alice),
  entry(outputOf('b', 0), bob),
  entry(outputOf('a', 0), alice),
]

describeBackends('genesis outputs', (backend) => {
  let test: TestStore

  beforeEach(async () => {
    test = await backend.create()
  })

  afterEach(() => test.drop())

  it('fill an empty ledger once, in the given order', async () => {
    expect(await test.store.applyGenesis(outputs)).toBe(true)
    expect(await test.store.applyGenesis(outputs)).toBe(false)
    expect((await collect(test.store.utxoPages(alice.address))).map(({ reference }) => reference)).toEqual([
      outputOf('a', 1),
      outputOf('b', 7),
      outputOf('a', 0),
    ])
    expect(await collect(test.store.historyPages(alice.address, { limit: 10, offset: 0 }))).toEqual([])
  })

  it('are the same in any order, and after they were spent', async () => {
    await test.store.applyGenesis(outputs)
    const spend = transaction('spend', [outputOf('a'), outputOf('b', 7)], [bob])
    await test.store.withLedger((ledger) => ledger.apply({ transactions: [spend] }))
    expect(await test.store.applyGenesis(outputs.toReversed())).toBe(false)
    expect(await collect(test.store.utxoPages(alice.address))).toHaveLength(1)
  })

  it.each([
    ['one output less', outputs.slice(1)],
    ['one output more', [...outputs, entry(outputOf('c'), bob)]],
    ['a changed output', outputs.with(0, { ...outputs[0]!, output: Uint8Array.of(1) })],
    ['a changed address', outputs.with(0, { ...outputs[0]!, address: bob.address })],
    ['no output', []],
  ])('refuse %s', async (_, others) => {
    await test.store.applyGenesis(outputs)
    await expect(test.store.applyGenesis(others)).rejects.toMatchObject({
      code: 'STORE_GENESIS_MISMATCH',
      retryable: false,
    })
    expect(await collect(test.store.utxoPages(alice.address))).toHaveLength(3)
  })

  it('may be empty, which also excludes others', async () => {
    expect(await test.store.applyGenesis([])).toBe(true)
    expect(await test.store.applyGenesis([])).toBe(false)
    await expect(test.store.applyGenesis(outputs)).rejects.toMatchObject({ code: 'STORE_GENESIS_MISMATCH' })
  })

  it('are refused by a ledger that was started without them', async () => {
    const mint = transaction('mint', [], [alice])
    await test.store.withLedger((ledger) => ledger.apply({ transactions: [mint] }))
    await expect(test.store.applyGenesis(outputs)).rejects.toMatchObject({ code: 'STORE_GENESIS_MISMATCH' })
  })

  it('are applied by one of many stores that start together', async () => {
    const stores = [test.store, await test.another(), await test.another()]
    const applied = await Promise.all(stores.map((store) => store.applyGenesis(outputs)))
    expect(applied.toSorted()).toEqual([false, false, true])
    expect(await collect(test.store.utxoPages(alice.address))).toHaveLength(3)
  })

  it('may be more than one statement inserts', async () => {
    const many = Array.from({ length: 12_001 }, (_, index) => entry(outputOf('many', index), alice))
    await test.store.applyGenesis(many)
    const references = (await collect(test.store.utxoPages(alice.address))).map(
      ({ reference }) => reference.index,
    )
    expect(references).toEqual(many.map((_, index) => index))
  })
})
