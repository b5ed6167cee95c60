import { collect } from '@ratatosk/test-kit'
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { Lease } from '../leases/leases.js'
import type { AppliedTransaction } from '../ledger/ledger.js'
import type { Store } from '../store.js'
import { describeBackends, type TestStore } from '../test/backends.js'
import { acceptedIn, countStrays, dump, readEvents } from '../test/inspect.js'
import {
  buildBlock,
  createExaminer,
  entry,
  foreignBlock,
  hex,
  idOf,
  outputOf,
  takeLease,
  transaction,
  walletOf,
} from '../test/samples.js'

const [alice, bob] = [walletOf('alice'), walletOf('bob')]
const genesis = Array.from({ length: 6 }, (_, index) => entry(outputOf('genesis', index), alice))

describeBackends('adopting a block', (backend) => {
  let test: TestStore
  let store: Store
  let lease: Lease
  const { learn, examine } = createExaminer()

  beforeEach(async () => {
    test = await backend.create()
    store = test.store
    lease = await takeLease(store)
    await store.applyGenesis(genesis)
  })

  afterEach(() => test.drop())

  const make = (name: string, ...spent: readonly [string, number][]) =>
    learn(
      transaction(
        name,
        spent.map(([of, index]) => outputOf(of, index)),
        [alice, bob],
      ),
    )
  const apply = (...transactions: readonly AppliedTransaction[]) =>
    store.withLedger((ledger) => ledger.apply({ transactions }))
  const adopt = async (name: string, ...transactions: readonly AppliedTransaction[]) =>
    store.blocks.adopt(await foreignBlock(store, name, transactions), examine, lease)
  const mempool = async () => (await store.blocks.oldest(100)).map(({ cbor }) => cbor)
  const idsOf = (...transactions: readonly AppliedTransaction[]) => transactions.map(({ cbor }) => cbor)
  const sequences = async () => (await store.blocks.oldest(100)).map(({ sequence }) => sequence)
  /** The rows without accept sequences, which differ from store to store, and times. */
  const ledger = async () => {
    const rows = await collect(store.utxoPages(alice.address))
    return [rows, await collect(store.utxoPages(bob.address))]
  }

  it('moves what the mempool begins with, and touches nothing else', async () => {
    const [one, two, three] = [make('1', ['genesis', 0]), make('2', ['1', 0]), make('3', ['genesis', 1])]
    await apply(one, two, three)
    const before = await dump(test)
    const [, , third] = await sequences()
    const { block, known, dropped } = await adopt('theirs', one, two)
    expect({ known, dropped }).toEqual({ known: 2, dropped: 0 })
    expect(block).toMatchObject({ height: 1n, state: 'committed', transactions: 2 })
    expect(block.commitTransaction).toBeUndefined()
    expect(await sequences()).toEqual([third])
    const { blocks: _, block_transactions: moved, mempool_transactions: rest, ...same } = await dump(test)
    const { blocks: __, block_transactions: ___, mempool_transactions: all, ...expected } = before
    expect(same).toEqual(expected)
    expect([moved, rest, all].map((rows) => rows?.length)).toEqual([2, 1, 3])
    expect(await store.changes.dropped(0n, 9)).toEqual([])
    expect(await store.placeOf(one.id)).toMatchObject({ position: 0, block: { state: 'committed' } })
  })

  it('applies what it did not have, and keeps the rest of the mempool after it', async () => {
    const mine = [make('1', ['genesis', 0]), make('2', ['1', 0]), make('3', ['genesis', 1])] as const
    const theirs = [make('4', ['genesis', 2]), mine[2], make('5', ['4', 1])] as const
    await apply(...mine)
    const { acceptedAt } = (await store.placeOf(mine[2].id))!
    const position = await store.events.head()
    expect(await adopt('theirs', ...theirs)).toMatchObject({ known: 1, dropped: 0 })
    const block = (await store.blocks.newest())!
    expect((await store.blocks.transactionsOf(block.headerHash)).map(({ cbor }) => cbor)).toEqual(
      idsOf(...theirs),
    )
    expect(await mempool()).toEqual(idsOf(mine[0], mine[1]))
    expect(await store.placeOf(mine[2].id)).toMatchObject({ position: 1, acceptedAt })
    expect(await collect(store.historyPages(alice.address, { limit: 9, offset: 0 }))).toEqual(
      idsOf(...theirs, mine[0], mine[1]),
    )
    // An acceptance comes before the states of its block, and comes once.
    const { events } = await store.events.read({
      after: position,
      to: await store.events.head(),
      limit: 100,
      filter: {},
    })
    expect(events.map((event) => ('transactionId' in event ? event.transactionId : event.type))).toEqual([
      theirs[0].id,
      theirs[2].id,
      'block',
    ])
    const all = await readEvents(store)
    expect(acceptedIn(all)).toEqual([...mine, theirs[0], theirs[2]].map(({ id }) => hex(id)))
    for (const { position } of all)
      expect(await readEvents(store, { after: position })).toEqual(
        all.slice(all.findIndex((event) => event.position === position) + 1),
      )
    // A follower of acceptance sees every transaction once.
    const followed = new Map<bigint, Uint8Array>()
    for (const { sequence, id } of await store.changes.accepted(0n, 100)) followed.set(sequence, id)
    for (const { transaction } of await store.changes.dropped(0n, 100)) followed.delete(transaction!.sequence)
    expect([...followed.values()]).toEqual([...theirs, mine[0], mine[1]].map(({ id }) => id))
    expect(await buildBlock(store, lease, 'next', 9)).toMatchObject({ height: 2n, transactions: 2 })
  })

  it('drops what spends or reads what the block spends, and what hangs on that', async () => {
    const loser = make('loser', ['genesis', 0])
    const child = make('child', ['loser', 0], ['genesis', 1])
    const reader = learn(transaction('reader', [outputOf('genesis', 2)], [bob]), outputOf('genesis', 0))
    const stays = make('stays', ['genesis', 3])
    const winner = make('winner', ['genesis', 0])
    await apply(loser, child, stays, reader)
    const after = await store.events.head()
    expect(await adopt('theirs', winner)).toMatchObject({ known: 0, dropped: 3 })
    expect(await mempool()).toEqual(idsOf(stays))
    const letters = await store.rejections.list()
    expect(letters.map(({ transactionId }) => hex(transactionId!)).sort()).toEqual(
      [loser, child, reader].map(({ id }) => hex(id)).sort(),
    )
    for (const letter of letters)
      expect(letter).toMatchObject({ code: 'ConflictsWithBlock', spentBy: winner.id, hasCbor: true })
    const { events } = await store.events.read({ after, to: await store.events.head(), limit: 9, filter: {} })
    expect(events.filter(({ type }) => type === 'rejected')).toHaveLength(3)
    expect(await store.placeOf(loser.id)).toBeUndefined()

    // The ledger is the one of a store that never had them.
    const other = await backend.create()
    try {
      await other.store.applyGenesis(genesis)
      await other.store.withLedger((locked) => locked.apply({ transactions: [winner, stays] }))
      expect(await ledger()).toEqual([
        await collect(other.store.utxoPages(alice.address)),
        await collect(other.store.utxoPages(bob.address)),
      ])
    } finally {
      await other.drop()
    }

    // If layer 1 loses the block, the dead letters are reopened once it is clear that it does not come back.
    await store.blocks.undo(1n, lease)
    const waiting = await store.resubmissions.waiting(9)
    expect(waiting.map(({ cbor }) => cbor)).toEqual(idsOf(winner, stays))
    expect(await store.rejections.reopenable()).toEqual([])
    await store.resubmissions.queued(waiting.map(({ sequence }, n) => ({ sequence, submissionId: `${n}` })))
    await store.rejections.add([
      {
        submissionId: '0',
        cbor: winner.cbor,
        attempts: 1,
        code: 'X',
        message: 'x',
        details: {},
        submittedAt: new Date(),
      },
    ])
    expect((await store.rejections.reopenable()).map(({ cbor }) => cbor)).toEqual(idsOf(loser, child, reader))
  })

  it('takes the bytes of the block where the mempool has others of the same transaction', async () => {
    const mine = make('1', ['genesis', 0])
    const theirs = learn({ ...mine, cbor: Uint8Array.of(1, 2, 3) })
    const child = make('2', ['1', 0])
    await apply(mine, child)
    expect(await adopt('theirs', theirs)).toMatchObject({ known: 1, dropped: 0 })
    expect(await store.transaction(mine.id)).toEqual(theirs.cbor)
    expect(await mempool()).toEqual(idsOf(child))
  })

  it('drops what rests on a transaction that does something else in the block', async () => {
    const mine = make('1', ['genesis', 0])
    const returned = { ...entry(outputOf('1', 2), bob) }
    const theirs = learn({
      ...mine,
      cbor: Uint8Array.of(1, 2, 3),
      spent: [outputOf('genesis', 1)],
      produced: [returned],
    })
    const child = make('2', ['1', 0])
    const stays = make('3', ['genesis', 2])
    await apply(mine, child, stays)
    const { acceptedAt } = (await store.placeOf(mine.id))!
    const after = await store.events.head()
    expect(await adopt('theirs', theirs)).toMatchObject({ known: 1, dropped: 1 })
    expect(await store.transaction(mine.id)).toEqual(theirs.cbor)
    expect(await store.placeOf(mine.id)).toMatchObject({ acceptedAt })
    expect(acceptedIn(await readEvents(store, { after }))).toEqual([])
    expect(await mempool()).toEqual(idsOf(stays))
    expect(await store.rejections.list()).toMatchObject([
      { transactionId: child.id, message: expect.stringMatching(/which does not exist because of block/) },
    ])
    const other = await backend.create()
    try {
      await other.store.applyGenesis(genesis)
      await other.store.withLedger((locked) => locked.apply({ transactions: [theirs, stays] }))
      expect(await ledger()).toEqual([
        await collect(other.store.utxoPages(alice.address)),
        await collect(other.store.utxoPages(bob.address)),
      ])
    } finally {
      await other.drop()
    }
  })

  it('writes nothing if the mempool holds a transaction elsewhere than was said', async () => {
    const [one, two, three] = [make('1', ['genesis', 0]), make('2', ['1', 0]), make('3', ['genesis', 1])]
    await apply(one, two, three)
    const before = await dump(test)
    const [, , third] = await sequences()
    const block = await foreignBlock(store, 'theirs', [make('4', ['genesis', 2]), two])
    for (const [held, of] of [
      [new Map([[1, third!]]), 'another transaction'],
      [new Map([[1, third! + 1n]]), 'nothing'],
      [await store.blocks.inMempool(block.transactions), 'what spends an output that the block lacks'],
    ] as const)
      await expect(store.blocks.adopt({ ...block, held }, examine, lease), of).rejects.toBeDefined()
    expect(await dump(test)).toEqual(before)
  })

  it('adopts an empty block, before and after others', async () => {
    const one = make('1', ['genesis', 0])
    expect(await adopt('empty')).toMatchObject({ block: { height: 1n, transactions: 0 } })
    await apply(one)
    expect(await adopt('empty too')).toMatchObject({ block: { height: 2n, transactions: 0 } })
    expect(await mempool()).toEqual(idsOf(one))
    expect(await adopt('theirs', one)).toMatchObject({ block: { height: 3n, transactions: 1 }, known: 1 })
    expect(await store.blocks.undo(2n, lease)).toMatchObject({ transactions: 1 })
    expect(await collect(store.utxoPages(alice.address))).toHaveLength(genesis.length)
  })

  it('comes back after it was undone, in the place of the removed block', async () => {
    const [one, two] = [make('1', ['genesis', 0]), make('2', ['genesis', 1])]
    const block = await foreignBlock(store, 'theirs', [one])
    await store.blocks.adopt(block, examine, lease)
    await apply(two)
    expect(await store.blocks.undo(1n, lease)).toMatchObject({
      blocks: [{ state: 'removed' }],
      transactions: 2,
    })
    await apply(two)
    expect(await store.blocks.adopt(block, examine, lease)).toMatchObject({ known: 0, dropped: 0 })
    expect(await store.blocks.counts(9)).toMatchObject([{ height: 1n, state: 'committed' }])
    expect(await mempool()).toEqual(idsOf(two))
  })

  it('writes nothing of a block that does not fit, and nothing without the lease', async () => {
    const [one, two] = [make('1', ['genesis', 0]), make('2', ['genesis', 1])]
    await apply(one, two)
    const before = await dump(test)
    const conflict = { code: 'STORE_CONFLICT' }
    await expect(adopt('theirs', make('3', ['nowhere', 0]))).rejects.toMatchObject(conflict)
    await expect(adopt('theirs', two, make('3', ['2', 7]))).rejects.toMatchObject(conflict)
    // It builds on what the block does not have.
    await expect(adopt('theirs', make('3', ['1', 0]))).rejects.toMatchObject(conflict)
    const block = await foreignBlock(store, 'theirs', [two])
    const elsewhere = { ...block, previousHeaderHash: idOf('elsewhere').slice(0, 28) }
    await expect(store.blocks.adopt(elsewhere, examine, lease)).rejects.toMatchObject(conflict)
    await store.leases.release(lease)
    await expect(store.blocks.adopt(block, examine, lease)).rejects.toMatchObject({
      code: 'STORE_LEASE_LOST',
    })
    expect(await dump(test)).toEqual(before)
  })

  it('takes in more than one statement does, among more than one page of the mempool', async () => {
    const chain = Array.from({ length: 5_600 }, (_, n) =>
      make(`c${n}`, n === 0 ? ['genesis', 0] : [`c${n - 1}`, 0]),
    )
    const others = Array.from({ length: 1_200 }, (_, n) =>
      make(`o${n}`, n === 0 ? ['genesis', 1] : [`o${n - 1}`, 0]),
    )
    const late = make('late', ['c1400', 1])
    await apply(...chain)
    await apply(late)
    const block = [...chain.slice(0, 200), ...others, ...chain.slice(200, 1_400)]
    expect(await adopt('theirs', ...block)).toMatchObject({ known: 1_400, dropped: 0 })
    const waiting = (await store.blocks.oldest(10_000)).map(({ cbor }) => cbor)
    expect(waiting).toEqual(idsOf(...chain.slice(1_400), late))
    expect(await collect(store.utxoPages(alice.address))).toHaveLength(genesis.length + 1)
    expect(await collect(store.historyPages(bob.address, { limit: 9_000, offset: 0 }))).toHaveLength(6_801)
    expect(await countStrays(test)).toBe(0)
  })
})

describeBackends('while a block is compared with the mempool', (backend) => {
  const genesis = Array.from({ length: 8 }, (_, index) => entry(outputOf('genesis', index), bob))

  let test: TestStore
  let store: Store
  const { learn, examine } = createExaminer()

  beforeEach(async () => {
    test = await backend.create()
    store = test.store
    await store.applyGenesis(genesis)
  })

  afterEach(() => test.drop())

  const make = (name: string, spent: readonly [string, number], ...read: readonly [string, number][]) =>
    learn(
      transaction(name, [outputOf(...spent)], [alice, alice]),
      ...read.map(([of, index]) => outputOf(of, index)),
    )
  const apply = (transactions: readonly AppliedTransaction[]) =>
    store.withLedger((ledger) => ledger.apply({ transactions }))
  const cborOf = (transactions: readonly { readonly cbor: Uint8Array }[]) =>
    transactions.map(({ cbor }) => cbor)

  it('what is accepted is compared too', async () => {
    const held = make('held', ['genesis', 0])
    const stays = make('stays', ['genesis', 1])
    const loser = make('loser', ['genesis', 2])
    const unknown = make('unknown', ['genesis', 3])
    const winners = [make('winner', ['genesis', 2]), make('other winner', ['genesis', 5])]
    const child = make('child of what moves', ['held', 0])
    const lost = [
      make('child of the loser', ['loser', 0]),
      make('reader', ['genesis', 4], ['genesis', 5]),
      make('other loser', ['genesis', 5]),
    ]
    const block = [...winners, held, unknown]
    await apply([stays, held, loser])
    let applied: Promise<void> | undefined
    const { known, dropped } = await store.blocks.adopt(
      await foreignBlock(store, 'theirs', block),
      (cbor) => {
        // The only page of the mempool was read. Adoption then waits for this.
        applied ??= apply([unknown, ...lost, child])
        return examine(cbor)
      },
      await takeLease(store),
    )
    await applied
    expect({ known, dropped }).toEqual({ known: 2, dropped: 4 })
    const { headerHash } = (await store.blocks.newest())!
    expect(cborOf(await store.blocks.transactionsOf(headerHash))).toEqual(cborOf(block))
    expect(cborOf(await store.blocks.oldest(9))).toEqual(cborOf([stays, child]))
    const letters = await store.rejections.list()
    expect(new Set(letters.map(({ transactionId }) => transactionId))).toEqual(
      new Set([loser, ...lost].map(({ id }) => id)),
    )
    expect(await countStrays(test)).toBe(0)
  })

  it('other work goes on', async () => {
    const mempool = genesis.map((_, index) => make(`${index}`, ['genesis', index]))
    await apply(mempool)
    let examined = 0
    let examinedBetween: number | undefined
    await store.blocks.adopt(
      await foreignBlock(store, 'theirs', mempool.slice(-1)),
      (cbor) => {
        if (examined++ === 0)
          setImmediate(() => {
            examinedBetween = examined
          })
        for (const start = performance.now(); performance.now() - start < 30; );
        return examine(cbor)
      },
      await takeLease(store),
    )
    expect(examined).toBe(mempool.length - 1)
    expect(examinedBetween).toBeLessThan(examined)
  })
})
