import { afterEach, beforeEach, expect, it } from 'vitest'
import type { Lease } from '../leases/types.js'
import type { AppliedTransaction } from '../ledger/types.js'
import type { Store } from '../store.js'
import { describeBackends, type TestStore } from '../test/backends.js'
import { buildBlock, takeLease } from '../test/blocks.js'
import { newRejection } from '../test/rejections.js'
import { entry, idOf, outputOf, transaction, walletOf } from '../test/transactions.js'

const alice = walletOf('alice')
const genesis = [entry(outputOf('genesis', 0), alice), entry(outputOf('genesis', 1), alice)]
const spender = transaction('spender', [outputOf('genesis', 0)], [alice])
const other = transaction('other', [outputOf('genesis', 1)], [alice])
const late = { code: 'OutsideValidityIntervalUTxO', message: 'Too late', details: {} }
const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex')

describeBackends('reopening rejections', (backend) => {
  let test: TestStore
  let store: Store
  let lease: Lease

  beforeEach(async () => {
    test = await backend.create()
    store = test.store
    lease = await takeLease(store)
    await store.applyGenesis(genesis)
  })

  afterEach(() => test.drop())

  const apply = (...transactions: readonly AppliedTransaction[]) =>
    store.withLedger((ledger) => ledger.apply({ transactions }))
  const reject = (...names: readonly string[]) =>
    store.rejections.add(names.map((name) => newRejection(name, { spentBy: spender.id })))
  const drop = () => store.blocks.drop(new Map([[hex(spender.id), late]]), () => undefined, lease)
  const reopenable = async () =>
    (await store.rejections.reopenable()).map(({ cbor }) => Buffer.from(cbor).toString())
  /** Reopens a page as submissions `again-…`. @returns how many */
  const reopen = async () => {
    const letters = await store.rejections.reopenable()
    await store.rejections.reopened(
      letters.map((letter) => ({ ...letter, submissionId: `again-${letter.sequence}` })),
    )
    return letters.length
  }
  const removeBlock = async () => {
    await apply(spender, other)
    const { headerHash } = await buildBlock(store, lease, 'one', 1)
    await store.blocks.setState([headerHash], 'committed', lease)
    await reject('loser')
    expect(await reopenable()).toEqual([])
    await store.blocks.undo(1n, lease)
  }

  it('knows who spent an output, in the mempool and in a block, until that is undone', async () => {
    const asked = [outputOf('genesis', 1), outputOf('genesis', 0), outputOf('spender', 0), outputOf('x', 0)]
    await apply(spender)
    const expected = [undefined, spender.id, undefined, undefined]
    expect(await store.ledger.spenders(asked)).toEqual(expected)
    await buildBlock(store, lease, 'one', 1)
    expect(await store.ledger.spenders(asked)).toEqual(expected)
    await store.blocks.undo(1n, lease)
    expect(await store.ledger.spenders(asked)).toEqual([undefined, undefined, undefined, undefined])
    expect(await store.ledger.spenders([])).toEqual([])
  })

  it('reopens once what rested on a dropped transaction, the oldest first', async () => {
    await apply(spender, other)
    await reject('first', 'second')
    await store.rejections.add([
      newRejection('of another', { spentBy: other.id }),
      newRejection('of nothing'),
    ])
    expect(await reopenable()).toEqual([])
    await drop()
    expect(await reopenable()).toEqual(['submission first', 'submission second'])
    expect(await reopen()).toBe(2)
    expect(await reopenable()).toEqual([])
    const reopened = await store.rejections.find('first')
    expect(reopened).toMatchObject({
      reopenedAt: expect.any(Date),
      replayed: { submissionId: `again-${reopened?.sequence}` },
    })
    expect(reopened).not.toHaveProperty('spentBy')
    expect((await store.rejections.find('of another'))?.spentBy).toEqual(other.id)
  })

  it('leaves alone what was rejected again since, which rests on its new reason', async () => {
    await apply(spender, other)
    await reject('loser')
    await drop()
    const [letter] = await store.rejections.reopenable()
    await store.rejections.add([
      newRejection('again', { cbor: letter!.cbor, transactionId: idOf('loser'), spentBy: other.id }),
    ])
    await store.rejections.reopened([{ ...letter!, submissionId: 'again' }])
    const found = await store.rejections.find('loser')
    expect(found).toMatchObject({ submissionId: 'again', spentBy: other.id })
    expect(found).not.toHaveProperty('reopenedAt')
    expect(await reopenable()).toEqual([])
  })

  it('reopens nothing while the transaction of a removed block is on its way back', async () => {
    await removeBlock()
    expect(await reopenable()).toEqual([])
    const waiting = await store.resubmissions.waiting(9)
    await store.resubmissions.queued(
      waiting.map(({ sequence, id }) => ({ sequence, submissionId: `back-${hex(id)}` })),
    )
    expect(await reopenable()).toEqual([])
    await store.rejections.add([
      newRejection(`back-${hex(spender.id)}`, { transactionId: spender.id, cbor: spender.cbor }),
    ])
    expect(await reopenable()).toEqual(['submission loser'])
  })

  it('reopens nothing if the transaction of a removed block is accepted again', async () => {
    await removeBlock()
    await apply(spender)
    expect(await reopenable()).toEqual([])
    expect((await store.rejections.find('loser'))?.spentBy).toEqual(spender.id)
    // It rests on the same transaction again.
    await drop()
    expect(await reopenable()).toEqual(['submission loser'])
  })

  it('reopens at most 1,000 rejections of one spender', async () => {
    await apply(spender)
    await reject(...Array.from({ length: 1_050 }, (_, n) => `loser ${n}`))
    await drop()
    let reopened = 0
    for (let page = await reopen(); page > 0; page = await reopen()) {
      expect(page).toBeLessThanOrEqual(100)
      reopened += page
    }
    expect(reopened).toBe(1_000)
    expect((await store.rejections.find('loser 1049'))?.reopenedAt).toBeUndefined()
  })

  it('forgets with a reset what rejections rest on', async () => {
    await apply(spender)
    await reject('loser')
    await store.blocks.reset(lease)
    expect(await reopenable()).toEqual([])
    expect(await store.rejections.find('loser')).not.toHaveProperty('spentBy')
  })
})
