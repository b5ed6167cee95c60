import { collect } from '@ratatosk/test-kit'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import type { Lease } from '../leases/leases.js'
import type { AppliedTransaction } from '../ledger/ledger.js'
import { describeBackends, type TestStore } from '../test/backends.js'
import { dump } from '../test/inspect.js'
import {
  bytes,
  createExaminer,
  deposit,
  entry,
  foreignBlock,
  headerHashOf,
  hex,
  idOf,
  newBlock,
  outputOf,
  takeLease,
  transaction,
  walletOf,
} from '../test/samples.js'
import type { CreditedDeposit } from './types.js'

const alice = walletOf('alice')
const bridge = walletOf('bridge')
const [one, two] = [deposit('one', alice), deposit('two', alice)]
const conflict = { code: 'STORE_CONFLICT' }
const waitMs = 120_000

describeBackends('deposits', (backend) => {
  let test: TestStore
  let lease: Lease

  beforeEach(async () => {
    test = await backend.create()
    lease = await takeLease(test.store)
    await test.store.applyGenesis([entry(outputOf('genesis'), alice)])
  })

  afterEach(() => test.drop())

  const apply = (...transactions: readonly AppliedTransaction[]) =>
    test.store.withLedger((ledger) => ledger.apply({ transactions }))
  const pay = (name: string, from: string) => transaction(name, [outputOf(from)], [alice])
  const build = async (name: string, limit: number, ...deposits: readonly CreditedDeposit[]) => {
    const { store } = test
    const block = await newBlock(store, name, Math.max(limit, 1))
    return store.blocks.build({ ...block, transactions: limit, deposits }, lease)
  }

  it('enter the ledger with their block, and stay when it is removed', async () => {
    const { store } = test
    const { blocks } = store
    await build('first', 0, one)
    expect(await store.deposit(one.id)).toEqual({
      headerHash: headerHashOf('first'),
      previousHeaderHash: new Uint8Array(28),
      height: 1n,
      state: 'built',
    })
    await blocks.setState([headerHashOf('first')], 'committed', lease)
    expect(await store.deposit(one.id)).toMatchObject({ state: 'committed' })
    expect(await store.deposit(two.id)).toBeUndefined()
    expect(await store.transaction(one.id)).toBeUndefined()
    expect(await store.placeOf(one.id)).toBeUndefined()
    await apply(pay('a', 'one'))
    expect(await store.ledger.spenders([outputOf('one')])).toEqual([idOf('a')])
    await blocks.returnToMempool(1n, lease)
    expect(await store.deposit(one.id)).toMatchObject({ state: 'waiting', height: 1n })
    expect(await blocks.waitingDeposits()).toEqual([one])
    expect(await blocks.depositsOf(headerHashOf('first'))).toEqual([one])
    expect(await store.ledger.outputs([outputOf('a')])).not.toEqual([undefined])
  })

  it.each([
    ['a deposit twice', 0, [one, one], { code: 'STORE_INVALID_ARGUMENT' }],
    ['neither deposits nor transactions', 0, [], { code: 'STORE_INVALID_ARGUMENT' }],
    ['none of the transactions that wait', 0, [one], conflict],
  ] as const)('are in no block with %s', async (_, limit, deposits, error) => {
    await apply(pay('a', 'genesis'))
    const before = await dump(test)
    await expect(build('block', limit, ...deposits)).rejects.toMatchObject(error)
    expect(await dump(test)).toEqual(before)
  })

  // PGlite has one connection.
  it.skipIf(backend.name === 'PGlite')('let validation go on while transactions move', async () => {
    const { database, schema, store } = test
    await apply(pay('a', 'genesis'))
    let building: Promise<unknown> | undefined
    await database.transaction(async (transaction) => {
      await transaction.query(`SELECT FROM ${schema}.mempool_transactions FOR UPDATE`)
      building = build('block', 1, one)
      await vi.waitFor(async () => {
        const waiting = `SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE $1`
        expect(await database.query(waiting, [`%${schema}%`])).toHaveLength(1)
      }, waitMs)
      await apply(pay('b', 'a'))
    })
    await building
    expect(await store.blocks.depositsOf(headerHashOf('block'))).toEqual([one])
    expect(await store.blocks.waiting(10)).toBe(1)
  })

  it('are in one block, which is the next one if they wait', async () => {
    await build('first', 0, one)
    await expect(build('second', 0, one, two)).rejects.toMatchObject(conflict)
    await test.store.blocks.returnToMempool(1n, lease)
    await apply(pay('a', 'genesis'))
    const before = await dump(test)
    await expect(build('second', 0, two)).rejects.toMatchObject(conflict)
    await expect(build('second', 1, two)).rejects.toMatchObject(conflict)
    await expect(build('second', 1)).rejects.toMatchObject(conflict)
    await expect(build('second', 1, { ...one, output: bytes('other') })).rejects.toMatchObject(conflict)
    expect(await dump(test)).toEqual(before)
    const block = await build('second', 1, one, two)
    expect(await test.store.blocks.depositsOf(block.headerHash)).toHaveLength(2)
    expect(await test.store.blocks.depositsOf(headerHashOf('first'))).toEqual([])
  })

  it('may be credited again by a block with the same header hash', async () => {
    const { blocks } = test.store
    await build('first', 0, one)
    await blocks.returnToMempool(1n, lease)
    await expect(build('first', 0, two)).rejects.toMatchObject(conflict)
    await build('first', 0, one)
    expect(await blocks.waitingDeposits()).toEqual([])
    expect(await blocks.newest()).toMatchObject({ height: 1n, transactions: 0 })
  })

  it('are revived with a block that still has its place', async () => {
    const { blocks } = test.store
    await build('first', 0, one)
    await blocks.returnToMempool(1n, lease)
    await apply(pay('a', 'one'))
    expect(await blocks.revive(headerHashOf('first'), lease, [one])).toMatchObject({ transactions: 0 })
    expect(await blocks.waitingDeposits()).toEqual([])
    await blocks.returnToMempool(1n, lease)
    // The mempool moves behind a block of another operator.
    const { learn, examine } = createExaminer()
    learn(pay('a', 'one'))
    const other = { ...(await foreignBlock(test.store, 'other', [])), deposits: [one] }
    await blocks.adopt(other, examine, lease)
    await blocks.returnToMempool(1n, lease)
    await blocks.adopt(await foreignBlock(test.store, 'empty', []), examine, lease)
    await expect(blocks.revive(headerHashOf('first'), lease, [one])).rejects.toMatchObject(conflict)
  })

  it('come again as the fee output of a block that is revived', async () => {
    const { store } = test
    const { blocks } = store
    await apply(pay('a', 'genesis'))
    await build('first', 1, one)
    await blocks.returnToMempool(1n, lease)
    await blocks.forgetDeposits([one.id], () => undefined, lease)
    expect(await blocks.revive(headerHashOf('first'), lease, [one])).toMatchObject({ transactions: 1 })
    expect(await store.deposit(one.id)).toMatchObject({ height: 1n, state: 'committed' })
    expect(await store.ledger.outputs([outputOf('one')])).toEqual([one.output])
    const { lastSequence } = (await blocks.newest())!
    const { credited } = await store.chain.depositsBeside({ height: 1n, lastSequence })
    expect(credited).toHaveLength(1)
  })

  it('are not revived before what they come after', async () => {
    const { blocks } = test.store
    const { learn, examine } = createExaminer()
    const paid = learn(pay('a', 'genesis'))
    await apply(paid)
    await build('first', 1)
    await build('second', 0, one)
    await blocks.returnToMempool(1n, lease)
    const reason = { code: 'Expired', message: 'It is too late', details: {} }
    await blocks.drop(new Map([[Buffer.from(paid.id).toString('hex'), reason]]), () => undefined, lease)
    await blocks.adopt(await foreignBlock(test.store, 'first', [paid]), examine, lease)
    await expect(blocks.revive(headerHashOf('second'), lease, [one])).rejects.toMatchObject(conflict)
    const second = { ...(await foreignBlock(test.store, 'second', [])), deposits: [one] }
    const { block } = await blocks.adopt(second, examine, lease)
    expect(block).toMatchObject({ height: 2n, commitTransaction: { id: idOf('commit second') } })
  })

  it.each(['an own', 'another'])('enter again with %s block that has nothing else', async (whose) => {
    const { blocks, changes } = test.store
    const { learn, examine } = createExaminer()
    await build('first', 0, one)
    const [entered] = await changes.accepted(0n, 10)
    await blocks.returnToMempool(1n, lease)
    await blocks.adopt(await foreignBlock(test.store, 'other', [pay('a', 'genesis')]), examine, lease)
    const spend = learn(pay('b', 'one'))
    if (whose === 'another') {
      await apply(spend)
      const second = { ...(await foreignBlock(test.store, 'second', [])), deposits: [one] }
      await blocks.adopt(second, examine, lease)
    } else {
      await build('second', 0, one)
      await apply(spend)
    }
    const [first, second] = await blocks.range(1n, 2n)
    expect(second!.firstSequence).toBe(second!.lastSequence)
    expect(second!.firstSequence).toBeGreaterThan(first!.lastSequence)
    const found = await changes.accepted(0n, 10)
    expect(found.map(({ id }) => id)).toEqual([idOf('a'), one.id, idOf('b')])
    expect(found[1]!.sequence).toBe(second!.lastSequence)
    const { id, sequence } = entered!
    expect((await changes.dropped(0n, 10)).map((drop) => drop.transaction)).toContainEqual({ id, sequence })
    const after = await collect(blocks.utxosAfter(second!))
    expect(after.map(({ transactionId }) => transactionId)).toEqual(expect.arrayContaining([one.id]))
  })

  it('cannot be spent in a block that lacks them', async () => {
    const { blocks } = test.store
    const { learn, examine } = createExaminer()
    await build('first', 0, one)
    await blocks.returnToMempool(1n, lease)
    const spend = learn(pay('a', 'one'))
    await apply(spend)
    const before = await dump(test)
    for (const transactions of [[spend], [learn(pay('b', 'one'))]]) {
      const block = await foreignBlock(test.store, 'other', transactions)
      await expect(blocks.adopt(block, examine, lease)).rejects.toMatchObject(conflict)
    }
    expect(await dump(test)).toEqual(before)
    const block = { ...(await foreignBlock(test.store, 'other', [spend])), deposits: [one] }
    expect(await blocks.adopt(block, examine, lease)).toMatchObject({ known: 1, dropped: 0 })
  })

  it('leave the ledger when they have left layer 1, unless one is spent or in a block', async () => {
    const { store } = test
    const { blocks, changes } = store
    await build('first', 0, one, two)
    await expect(blocks.forgetDeposits([one.id], () => undefined, lease)).rejects.toMatchObject(conflict)
    await blocks.returnToMempool(1n, lease)
    await apply(pay('a', 'one'))
    const before = await dump(test)
    for (const ids of [[one.id], [one.id, two.id], [two.id, idOf('three')]])
      await expect(blocks.forgetDeposits(ids, () => undefined, lease)).rejects.toMatchObject(conflict)
    expect(await dump(test)).toEqual(before)
    const known = await changes.accepted(0n, 10)
    await blocks.forgetDeposits([two.id], () => undefined, lease)
    await blocks.forgetDeposits([], () => undefined, lease)
    const sequence = known.find(({ id }) => Buffer.compare(id, two.id) === 0)?.sequence
    expect(await changes.dropped(0n, 10)).toMatchObject([{ transaction: { id: two.id, sequence } }])
    expect(await store.rejections.reopenable()).toEqual([])
    expect(await store.ledger.outputs([outputOf('two')])).toEqual([undefined])
    expect(await blocks.waitingDeposits()).toEqual([one])
  })

  it('come in the order of acceptance, marked, and only to followers', async () => {
    const { chain, changes, events } = test.store
    await apply(pay('a', 'genesis'))
    await build('first', 1, one)
    await apply(pay('b', 'one'))
    const found = await changes.accepted(0n, 10)
    expect(found.map(({ id }) => id)).toEqual([idOf('a'), one.id, idOf('b')])
    expect(found[1]).toEqual({ sequence: found[1]!.sequence, id: one.id, cbor: one.output, deposit: true })
    expect(found[0]).not.toHaveProperty('deposit')
    const part = { offset: 0, limit: 10 }
    expect((await chain.acceptedAfter(0n, part)).map(({ id }) => id)).toEqual(['a', 'b'].map(idOf))
    expect(await chain.countAfter(0n, 10)).toMatchObject({ transactions: 2 })
    expect((await chain.places([found[1]!.sequence])).get(found[1]!.sequence)).toMatchObject({
      block: { height: 1n },
      position: 0,
    })
    const { accepted } = await events.head()
    expect(accepted).toBe(found[2]?.sequence)
  })

  it('are listed at their address, page by page', async () => {
    const { store } = test
    const many = Array.from({ length: 300 }, (_, n) => deposit(`deposit ${n}`, bridge))
    await apply(pay('a', 'genesis'))
    await build('first', 1, ...many)
    const listed = async () => {
      const outputs = await collect(store.utxoPages(bridge.address))
      return new Set(outputs.map(({ reference }) => Buffer.from(reference.transactionId).toString('hex')))
        .size
    }
    expect(await collect(store.utxoPages(bridge.address))).toHaveLength(300)
    expect(await listed()).toBe(300)
    await store.blocks.returnToMempool(1n, lease)
    expect(await listed()).toBe(300)
    expect(await collect(store.historyPages(bridge.address, { limit: 10, offset: 0 }))).toEqual([])
  })

  it('are gone after a reset', async () => {
    const { store } = test
    await build('first', 0, one)
    await store.blocks.reset(lease)
    expect(await store.deposit(one.id)).toBeUndefined()
    expect(await store.changes.accepted(0n, 10)).toEqual([])
    expect(await store.applyGenesis([entry(outputOf('genesis'), alice)])).toBe(true)
  })
})

describeBackends('withdrawals', (backend) => {
  it('are in the history of their address and never in the ledger', async () => {
    const test = await backend.create()
    try {
      const { store } = test
      await store.applyGenesis([entry(outputOf('genesis'), alice)])
      const made = transaction('a', [outputOf('genesis')], [alice])
      const left = { ...entry(outputOf('a', 1), bridge), left: true as const }
      const withdrawing = { ...made, produced: [...made.produced, left] }
      const spending = transaction('b', [outputOf('a', 1)], [alice])
      const before = await dump(test)
      const both = store.withLedger((ledger) => ledger.apply({ transactions: [withdrawing, spending] }))
      await expect(both).rejects.toMatchObject({ code: 'STORE_INVALID_ARGUMENT' })
      expect(await dump(test)).toEqual(before)
      await store.withLedger((ledger) => ledger.apply({ transactions: [withdrawing] }))
      const later = store.withLedger((ledger) => ledger.apply({ transactions: [spending] }))
      await expect(later).rejects.toMatchObject(conflict)
      expect(await store.ledger.outputs([outputOf('a'), outputOf('a', 1)])).toEqual([
        made.produced[0]?.output,
        undefined,
      ])
      expect(await collect(store.utxoPages(bridge.address))).toEqual([])
      const history = store.historyPages(bridge.address, { limit: 10, offset: 0 })
      expect(await collect(history)).toEqual([withdrawing.cbor])
      const lease = await takeLease(store)
      const reason = { code: 'Expired', message: 'It is too late', details: {} }
      const first = new Map([[hex(idOf('a')), reason]])
      expect(await store.blocks.drop(first, () => undefined, lease)).toBe(1)
      const { rejections: _, ...rest } = await dump(test)
      const { rejections: __, ...restBefore } = before
      expect(rest).toEqual(restBefore)
    } finally {
      await test.drop()
    }
  })
})
