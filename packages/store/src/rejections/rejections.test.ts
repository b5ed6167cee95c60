import { createHash } from 'node:crypto'
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { Lease } from '../leases/leases.js'
import type { AppliedTransaction } from '../ledger/ledger.js'
import type { Store } from '../store.js'
import { describeBackends, type TestStore } from '../test/backends.js'
import { expectExactUsage } from '../test/inspect.js'
import {
  buildBlock,
  bytes,
  entry,
  hex,
  idOf,
  newRejection,
  outputOf,
  takeLease,
  transaction,
  walletOf,
} from '../test/samples.js'
import type { NewRejection, Rejections } from './types.js'

describeBackends('rejections', (backend) => {
  let test: TestStore
  let rejections: Rejections

  beforeEach(async () => {
    test = await backend.create()
    rejections = test.store.rejections
  })

  afterEach(async () => {
    await expectExactUsage(test)
    await test.drop()
  })

  it('are found as they were added, with digest, count and times', async () => {
    const added = newRejection('1')
    expect(await rejections.add([added])).toBe(1)
    const found = await rejections.find('1')
    expect(found).toEqual({
      ...added,
      sequence: expect.any(BigInt),
      digest: new Uint8Array(createHash('sha256').update(added.cbor).digest()),
      cborBytes: added.cbor.length,
      hasCbor: true,
      count: 1,
      firstRejectedAt: expect.any(Date),
      rejectedAt: expect.any(Date),
    })
    expect(await rejections.find('2')).toBeUndefined()
  })

  it('have no transaction id if the submission does not decode', async () => {
    const { transactionId: _, ...added } = newRejection('1', { code: 'Malformed' })
    await rejections.add([added])
    expect(await rejections.find('1')).not.toHaveProperty('transactionId')
  })

  it('are added once per submission id', async () => {
    const again = (id: string) => newRejection(id, { attempts: 9 })
    expect(await rejections.add([newRejection('1'), newRejection('2'), again('1')])).toBe(2)
    expect(await rejections.add([again('2'), newRejection('3')])).toBe(1)
    expect((await rejections.list()).map(({ submissionId, attempts }) => [submissionId, attempts])).toEqual([
      ['3', 1],
      ['2', 1],
      ['1', 1],
    ])
  })

  it('share one dead letter for the same bytes, with the newest reason', async () => {
    const cbor = bytes('the same bytes')
    const transactionId = idOf('the same')
    const same = { cbor, transactionId }
    await rejections.add([newRejection('1', same), newRejection('other'), newRejection('2', same)])
    const [first] = await rejections.list()
    await rejections.add([
      newRejection('3', { ...same, code: 'BadInputsUTxO', message: 'New.', attempts: 5 }),
    ])
    const letter = { submissionId: '3', code: 'BadInputsUTxO', message: 'New.', attempts: 5, count: 3, cbor }
    for (const id of ['1', '2', '3']) expect(await rejections.find(id)).toMatchObject(letter)
    expect(await rejections.findTransaction(transactionId)).toMatchObject(letter)
    const listed = await rejections.list()
    expect(listed.map(({ submissionId }) => submissionId)).toEqual(['3', 'other'])
    expect(listed[0]!.firstRejectedAt).toEqual(first!.firstRejectedAt)
    expect(listed[0]!.rejectedAt.getTime()).toBeGreaterThanOrEqual(first!.rejectedAt.getTime())
  })

  it('have several dead letters for one transaction id with different witnesses', async () => {
    const transactionId = idOf('transaction')
    await rejections.add([newRejection('1', { transactionId }), newRejection('2', { transactionId })])
    expect(await rejections.list()).toHaveLength(2)
    expect(await rejections.findTransaction(transactionId)).toMatchObject({ submissionId: '2' })
    expect(await rejections.findTransaction(idOf('unknown'))).toBeUndefined()
  })

  it('are listed newest first, in pages, without CBOR', async () => {
    await rejections.add(Array.from({ length: 7 }, (_, n) => newRejection(`${n}`)))
    const seen: string[] = []
    let before: bigint | undefined
    for (;;) {
      const page = await rejections.list({ limit: 3, ...(before !== undefined && { before }) })
      if (page.length === 0) break
      seen.push(...page.map(({ submissionId }) => submissionId))
      for (const letter of page) expect(letter).not.toHaveProperty('cbor')
      before = page.at(-1)?.sequence
    }
    expect(seen).toEqual(['6', '5', '4', '3', '2', '1', '0'])
  })

  it.each([0, -1, 1.5, 1001, Number.NaN])('refuse a page limit of %d', async (limit) => {
    await expect(rejections.list({ limit })).rejects.toMatchObject({ code: 'STORE_INVALID_ARGUMENT' })
  })

  it('are removed by one of many concurrent callers', async () => {
    await rejections.add([newRejection('1')])
    const removed = await Promise.all([
      rejections.remove('1'),
      rejections.remove('1'),
      rejections.remove('1'),
    ])
    expect(removed.filter(Boolean)).toHaveLength(1)
    expect(await rejections.find('1')).toBeUndefined()
    expect(await rejections.add([newRejection('1')])).toBe(1)
  })

  it('are removed with all submissions of the same bytes', async () => {
    const cbor = bytes('the same bytes')
    await rejections.add(['1', '2', '3'].map((id) => newRejection(id, { cbor })))
    expect(await rejections.remove('2')).toBe(true)
    for (const id of ['1', '2', '3']) expect(await rejections.find(id)).toBeUndefined()
    expect(await rejections.list()).toEqual([])
    await expectExactUsage(test)
    await rejections.prune({ maxAgeMs: 60_000, maxBytes: 0 })
    expect(await rejections.usage()).toEqual({ cborBytes: 0, reasonBytes: 0 })
  })

  it('name the submission that replays them, also after that is rejected', async () => {
    const added = newRejection('1')
    await rejections.add([added])
    expect(await rejections.markReplayed('1', '2')).toBe(true)
    expect(await rejections.markReplayed('unknown', '3')).toBe(false)
    const replayed = { submissionId: '2', at: expect.any(Date) }
    expect(await rejections.find('1')).toMatchObject({ submissionId: '1', replayed })
    await rejections.add([{ ...added, submissionId: '2' }])
    expect(await rejections.find('1')).toMatchObject({ submissionId: '2', count: 2, replayed })
  })

  it.each<[string, Partial<NewRejection>]>([
    ['quotes, commas, braces and backslashes', { message: `"a", {b}, 'c', \\d, NULL`, code: 'NULL' }],
    ['non-Latin scripts', { message: 'Ragnarök 🐿️ ᚱᚨᛏᚨ', details: ['🐿️'] }],
    ['a submission id shaped like SQL', { submissionId: `1'); DROP TABLE rejections; --` }],
    ['nested details', { details: { a: [1, null, true, { b: ['"\\'] }], c: '' } }],
    ['details that are null', { details: null }],
    ['a character U+0000 in the trace of a script', { details: { trace: 'a\0b' } }],
    ['details of 4 KiB', { details: 'x'.repeat(4_094) }],
    ['a message of 1,000 characters', { message: 'x'.repeat(1_000) }],
  ])('keep %s', async (_, changes) => {
    const added = newRejection('1', changes)
    await rejections.add([added, newRejection('other')])
    expect(await rejections.find(added.submissionId)).toMatchObject(added)
  })

  it('replace U+0000 in the message, which PostgreSQL text cannot hold', async () => {
    await rejections.add([newRejection('1', { message: 'a\0b' })])
    expect(await rejections.find('1')).toMatchObject({ message: 'a\uFFFDb' })
  })

  it.each([
    ['ASCII', 'x'.repeat(60_000), 60_002, `"${'x'.repeat(1_023)}`],
    ['other scripts', 'ᚱ'.repeat(2_000), 6_002, `"${'ᚱ'.repeat(341)}`],
    ['U+0000', '\0'.repeat(1_000), 6_002, `"${'\\u0000'.repeat(170)}\\u0`],
  ])('keep the beginning of longer details in %s', async (_, details, size, beginning) => {
    await rejections.add([newRejection('1', { details })])
    expect(await rejections.find('1')).toMatchObject({ details: { truncated: true, bytes: size, beginning } })
  })

  it('cut longer messages between characters', async () => {
    await rejections.add([newRejection('1', { message: 'x'.repeat(60_000) })])
    await rejections.add([newRejection('2', { message: `${'x'.repeat(999)}🐿️` })])
    expect(await rejections.find('1')).toMatchObject({ message: `${'x'.repeat(1_000)}…` })
    expect(await rejections.find('2')).toMatchObject({ message: `${'x'.repeat(999)}…` })
  })

  it('refuse empty bytes', async () => {
    const empty = newRejection('1', { cbor: new Uint8Array() })
    await expect(rejections.add([empty])).rejects.toMatchObject({ code: 'STORE_INVALID_ARGUMENT' })
  })

  it('are written with their batch', async () => {
    await test.store.withLedger(async (ledger) => {
      expect(await ledger.rejections.add([newRejection('1'), newRejection('2')])).toBe(2)
    })
    expect(await rejections.list()).toHaveLength(2)
  })

  it('are counted exactly when several stores add the same bytes at once', async () => {
    const stores = [test.store, await test.another()]
    const cbor = bytes('the same bytes')
    await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        stores[n % 2]!.rejections.add([newRejection(`${n}`, { cbor }), newRejection(`own ${n % 5}`)]),
      ),
    )
    expect(await rejections.find('7')).toMatchObject({ count: 20 })
    expect(await rejections.list()).toHaveLength(6)
  })
})

const alice = walletOf('alice')
const genesis = [entry(outputOf('genesis', 0), alice), entry(outputOf('genesis', 1), alice)]
const spender = transaction('spender', [outputOf('genesis', 0)], [alice])
const other = transaction('other', [outputOf('genesis', 1)], [alice])
const late = { code: 'OutsideValidityIntervalUTxO', message: 'Too late', details: {} }

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
