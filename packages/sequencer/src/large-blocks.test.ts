import { CborWriter, concatBytes } from '@ratatosk/cbor'
import { decodeTransaction } from '@ratatosk/ledger'
import type { SignedTransaction } from '@ratatosk/test-kit'
import { expect, type TestContext, test } from 'vitest'
import { openRoots, type Roots } from './roots/index.js'
import { expectAgreement, until } from './test/agreement.js'
import { accept, openChain, openRollup, transfers } from './test/rollup.js'
import { openers } from './test/services.js'
import type { SequencerOptions } from './types.js'

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
