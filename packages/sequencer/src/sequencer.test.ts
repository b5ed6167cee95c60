import { EventEmitter, once } from 'node:events'
import { CborWriter, concatBytes } from '@ratatosk/cbor'
import type { Wallet } from '@ratatosk/layer1'
import { decodeTransaction } from '@ratatosk/ledger'
import { mergeBlock } from '@ratatosk/protocol'
import type { SignedTransaction } from '@ratatosk/test-kit'
import { describe, expect, type TestContext, test } from 'vitest'
import { createWaitingBlocks } from './commit-policy.js'
import { SequencerError } from './errors.js'
import { openRoots, type Roots } from './roots/index.js'
import { everythingMerged, expectAgreement, until } from './test/agreement.js'
import { commitJunk, registerAttacker } from './test/attacker.js'
import {
  accept,
  contracts,
  openChain,
  openers,
  openRollup,
  queueOf,
  type TestChain,
  transfers,
} from './test/rollup.js'
import type { SequencerOptions } from './types.js'

describe('foreign queue', () => {
  async function mergeJunk({ layer1, devnet }: TestChain, attacker: Wallet): Promise<void> {
    await until(async () => {
      const queue = await queueOf(layer1)
      if (queue.blocks.length === 0) return true
      try {
        const slot = await layer1.currentSlot()
        const { id } = await attacker.send(mergeBlock(contracts, { queue, slot, slots: devnet.slots }))
        await layer1.await(id)
      } catch {
        // Not mature yet.
      }
      return false
    })
  }

  test.concurrent.for([
    ['while his block is unmerged', false],
    ['after his block was merged into the confirmed state', true],
  ] as const)(
    'repair recovers a queue that another operator extended, %s, and commits everything accepted again',
    { timeout: 240_000 },
    async ([_when, merges], context) => {
      const { store } = await openers['PostgreSQL and Redis'](context)
      const chain = await openChain(context)
      context.onTestFinished(chain.keepMining())
      const { sequencer, roots } = await openRollup(context, store, chain.layer1, {
        autoCommit: true,
        autoMerge: true,
      })
      const sent = transfers(8)
      expect(await sequencer.run('init')).toMatchObject({ kind: 'initiated' })
      await accept(store, sent.slice(0, 2))
      await until(() => everythingMerged(store))
      const merged = (await store.blocks.confirmed())!

      const attacker = await registerAttacker(chain)
      await accept(store, sent.slice(2, 4))
      await until(async () => (await store.blocks.newest())!.state !== 'merged')
      await commitJunk(chain, attacker)
      await accept(store, sent.slice(4, 6))
      await until(async () => sequencer.snapshot().fault?.code === 'SEQUENCER_FOREIGN_QUEUE')
      if (merges) await mergeJunk(chain, attacker)

      expect(await sequencer.run('repair')).toEqual({ kind: 'repaired' })
      expect(await queueOf(chain.layer1)).toMatchObject({ roots: [], blocks: [], strays: [] })
      expect(await sequencer.run('init')).toMatchObject({ kind: 'initiated' })
      const { headerHash: confirmed } = (await queueOf(chain.layer1)).roots[0]!.datum.state
      expect((await store.blocks.byHash(confirmed))?.height).toBeGreaterThanOrEqual(merged.height)

      await accept(store, sent.slice(6))
      await until(() => everythingMerged(store), 120_000)
      await expectAgreement(store, chain.layer1, roots, sent)
    },
  )
})

describe('large blocks', () => {
  /** By default of 6,134 bytes: two of them are too long for one chunk. */
  function large(transaction: SignedTransaction, bytes = 6134): SignedTransaction {
    const { body } = decodeTransaction(transaction.cbor)
    const padding = new Uint8Array(bytes - 9 - body.bytes.length)
    const witnessSet = new CborWriter(bytes).map(1).uint(3).array(1).bytes(padding).toBytes()
    const cbor = concatBytes(Uint8Array.of(0x84), body.bytes, witnessSet, Uint8Array.of(0xf5, 0xf6))
    expect(cbor).toHaveLength(bytes)
    return { ...transaction, cbor }
  }

  /** Opens a rollup whose queue is empty. */
  async function initiated(context: TestContext, options: Partial<SequencerOptions> = {}) {
    const { store } = await openers['PostgreSQL and Redis'](context)
    // Blocks of this size keep a busy machine from answering for seconds.
    const chain = await openChain(context, { requestTimeoutMs: 10_000, callTimeoutMs: 60_000 })
    context.onTestFinished(chain.keepMining())
    const { sequencer, roots } = await openRollup(context, store, chain.layer1, options)
    expect(await sequencer.run('init')).toMatchObject({ kind: 'initiated' })
    return { store, chain, sequencer, roots }
  }

  const all = transfers(10, 0, 103).map((transaction) => large(transaction))

  test('ends a block before it has 1,025 chunks, and goes on with the next', {
    timeout: 120_000,
  }, async (context) => {
    const { store, chain, sequencer, roots } = await initiated(context)
    await accept(store, all)
    expect(await sequencer.run('commit')).toMatchObject({ kind: 'committed', transactions: 1024 })
    expect(await sequencer.run('commit')).toMatchObject({ kind: 'committed', transactions: 6 })
    await expectAgreement(store, chain.layer1, roots, all)
  })

  test('takes no transaction that an earlier version accepted and that is too long', {
    timeout: 120_000,
  }, async (context) => {
    const { store, chain, sequencer, roots } = await initiated(context)
    const [first, second, ...others] = transfers(3, 0, 1) as [SignedTransaction, SignedTransaction]
    const longest = large(first, 16_384)
    const tooLong = large(second, 16_385)
    await accept(store, [longest, tooLong, ...others])
    expect(await sequencer.run('commit')).toMatchObject({ kind: 'committed', transactions: 2 })
    expect(await store.rejections.find(`dropped-${tooLong.id}`)).toMatchObject({ code: 'TooManyBytes' })
    await expectAgreement(store, chain.layer1, roots, [longest, ...others])
  })

  test('prepares no more than a block may have', { timeout: 120_000 }, async (context) => {
    const roots = await openRoots()
    let prepared = 0
    const spied: Roots = {
      ...roots,
      async prepare(...asked) {
        prepared = await roots.prepare(...asked)
        return prepared
      },
    }
    const { store, chain, sequencer } = await initiated(context, { roots: spied, prepareAtTransactions: 1 })
    await accept(store, all.slice(0, 1020))
    await until(async () => prepared === 1020)
    await accept(store, all.slice(1020))
    await until(async () => prepared === 1024)
    expect(await sequencer.run('commit')).toMatchObject({ kind: 'committed', transactions: 1024 })
    expect(await sequencer.run('commit')).toMatchObject({ kind: 'committed', transactions: 6 })
    await expectAgreement(store, chain.layer1, roots, all)
  })
})

describe('waiting blocks', () => {
  const notInTurn = new SequencerError('SEQUENCER_NOT_IN_TURN', 'It is another turn')
  const tooMany = new SequencerError('SEQUENCER_TOO_MANY_UNCONFIRMED', '8 blocks are unconfirmed')

  function begin() {
    const lines: [object, string][] = []
    const info = (fields: object, message: string) => lines.push([fields, message])
    return { lines, waiting: createWaitingBlocks({ info, warn() {}, error() {} }) }
  }

  test('each reason is logged once, after a minute', () => {
    const { lines, waiting } = begin()
    for (let now = 5000; now <= 64_000; now += 1000) waiting.waits(now, notInTurn)
    expect(lines).toEqual([])
    for (let now = 65_000; now <= 90_000; now += 1000) waiting.waits(now, notInTurn)
    for (let now = 91_000; now <= 95_000; now += 1000) waiting.waits(now, tooMany)
    expect(lines).toEqual([
      [{ code: 'SEQUENCER_NOT_IN_TURN' }, 'A block has waited for 60 s: It is another turn'],
      [{ code: 'SEQUENCER_TOO_MANY_UNCONFIRMED' }, 'A block has waited for 86 s: 8 blocks are unconfirmed'],
    ])
  })

  test('the minute begins again when a block was committed', () => {
    const { lines, waiting } = begin()
    waiting.waits(0, notInTurn)
    waiting.ended()
    waiting.waits(60_000, notInTurn)
    expect(lines).toEqual([])
    waiting.waits(120_000, notInTurn)
    expect(lines).toHaveLength(1)
    waiting.ended()
    waiting.waits(300_000, notInTurn)
    waiting.waits(360_000, notInTurn)
    expect(lines).toHaveLength(2)
  })
})

test.concurrent('records that a block has entered the queue while the next one is built', async (context) => {
  const { store } = await openers['PostgreSQL and Redis'](context)
  const chain = await openChain(context)
  const stop = chain.keepMining()
  const roots = await openRoots()
  const gate = new EventEmitter()
  const released = once(gate, 'open')
  let applied = 0
  const slow: Roots = {
    ...roots,
    async applyWithin(...asked) {
      if (++applied === 2) await released
      return roots.applyWithin(...asked)
    },
  }
  // Time stands still, and both blocks end within the turn.
  const options = { roots: slow, autoCommit: true, blockValidityMs: 25_000 }
  const { sequencer } = await openRollup(context, store, chain.layer1, options)
  await sequencer.run('init')
  await stop()
  await chain.nextTurn()
  const [first, second] = [transfers(1), transfers(1, 1)]
  const states = async () => (await store.blocks.range(1n, 9n)).map(({ state }) => state).join()
  await accept(store, first)
  await until(async () => (await states()) === 'submitted')
  await accept(store, second)
  await until(async () => applied === 2)
  await chain.mine()
  await until(async () => (await states()) === 'committed')
  gate.emit('open')
  await until(async () => (await states()) === 'committed,submitted')
  await chain.mine()
  await until(async () => (await states()) === 'committed,committed')
  await expectAgreement(store, chain.layer1, roots, [...first, ...second])
})

test.concurrent('reads little more than the tip of layer 1 until it has another block', async (context) => {
  const { store } = await openers['PostgreSQL and Redis'](context)
  const chain = await openChain(context)
  const stop = chain.keepMining()
  let [tips, reconciliations] = [0, 0]
  const { layer1 } = chain
  const counted: typeof layer1 = {
    ...layer1,
    tip(...asked) {
      tips++
      return layer1.tip(...asked)
    },
    utxosByUnit(unit, ...asked) {
      if (unit === contracts.scripts.queue.unit) reconciliations++
      return layer1.utxosByUnit(unit, ...asked)
    },
  }
  const options = { autoCommit: true, pollMs: 100, mergeEveryMs: 60_000 }
  const { sequencer } = await openRollup(context, store, counted, options)
  await sequencer.run('init')
  await stop()
  await chain.nextTurn()
  await accept(store, transfers(1))
  await until(async () => (await store.blocks.newest())?.state === 'submitted')
  ;[tips, reconciliations] = [0, 0]
  await until(async () => tips >= 12)
  expect(reconciliations).toBeGreaterThan(0)
  expect(reconciliations).toBeLessThan(tips)
  await chain.mine()
  await until(async () => (await store.blocks.newest())?.state === 'committed')
})

test.concurrent('reads an empty mempool again only after an arrival', async (context) => {
  const { store } = await openers['PostgreSQL and Redis'](context)
  const chain = await openChain(context)
  const stop = chain.keepMining()
  let [tips, reads, accepted] = [0, 0, 0]
  const { layer1 } = chain
  const counted: typeof layer1 = {
    ...layer1,
    tip(...asked) {
      tips++
      return layer1.tip(...asked)
    },
  }
  const blocks: typeof store.blocks = {
    ...store.blocks,
    waiting(...asked) {
      reads++
      return store.blocks.waiting(...asked)
    },
  }
  const options = { autoCommit: true, mergeEveryMs: 600_000, arrivals: () => accepted }
  const { sequencer } = await openRollup(context, { ...store, blocks }, counted, options)
  await sequencer.run('init')
  await stop()
  await chain.nextTurn()
  tips = 0
  await until(async () => tips >= 10)
  ;[tips, reads] = [0, 0]
  await until(async () => tips >= 10)
  expect(reads).toBe(0)
  await accept(store, transfers(1))
  accepted++
  await until(async () => (await store.blocks.newest())?.state === 'submitted')
  expect(reads).toBeGreaterThan(0)
})
