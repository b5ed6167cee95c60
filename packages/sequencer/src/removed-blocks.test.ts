import { createHash } from 'node:crypto'
import { decodeHeader } from '@ratatosk/block'
import { fromHex, toHex } from '@ratatosk/cbor'
import { ledgerFraudScript } from '@ratatosk/contracts'
import { openWallet } from '@ratatosk/layer1'
import {
  pruneBlocks,
  publishScripts,
  readRegistry,
  referenceScriptsOf,
  removeBlock,
} from '@ratatosk/protocol'
import { type Accusation, accuse, removeFraudulentBlock } from '@ratatosk/protocol/fraud'
import type { Store } from '@ratatosk/store'
import { expect, test } from 'vitest'
import { acceptingAll } from './test/accept.js'
import { everythingMerged, expectAgreement, until } from './test/agreement.js'
import { attackerKeys, commitJunk, registerAttacker } from './test/attacker.js'
import { ghost, openLyingRoots } from './test/lying-roots.js'
import {
  accept,
  administrator,
  contracts,
  evaluator,
  openChain,
  openers,
  openRollup,
  queueOf,
  type TestChain,
  transfers,
} from './test/rollup.js'

/** Of the invalid block, as many as one transaction prunes. */
const successors = 50

/** Sends verdict, removal and slashing in one transaction; all scripts run. */
async function convict(
  { layer1, devnet }: TestChain,
  accused: Omit<Accusation, 'header'>,
  headerHash: string,
): Promise<void> {
  const stranger = administrator(layer1)
  const { produced } = await stranger.send(publishScripts(contracts, [ledgerFraudScript()]))
  await layer1.await(produced[0]!.reference.transactionId)
  const queue = await queueOf(layer1)
  const { datum } = queue.blocks.find((block) => toHex(block.headerHash) === headerHash)!
  const registry = readRegistry(contracts, await layer1.utxosByUnit(contracts.scripts.registry.unit))!
  const removal = await removeFraudulentBlock(
    contracts,
    {
      block: await accuse({ ...accused, header: datum.header }),
      queue,
      registry,
      referenceScripts: referenceScriptsOf(contracts, produced),
    },
    { parameters: await layer1.parameters(), slots: devnet.slots, slot: devnet.currentSlot(), evaluator },
  )
  const { id } = await stranger.send(removal!.draft)
  await layer1.await(id)
}

test('an invalid block leaves no trace in the ledger, and an honest operator commits it again', {
  timeout: 240_000,
}, async (context) => {
  const { store, name } = await openers['PostgreSQL and Redis'](context)
  const chain = await openChain(context)
  const { layer1 } = chain
  context.onTestFinished(chain.keepMining())
  const lying = openLyingRoots()
  const liar = await openRollup(context, store, layer1, {
    roots: lying,
    autoCommit: true,
    maxBlockTransactions: 1,
  })
  const sent = transfers(20, 0, 3)
  await liar.sequencer.run('init')
  await accept(store, sent.slice(0, 2))
  const committed = (height: bigint) => async () =>
    (await store.blocks.byHeight(height))?.state === 'committed'
  await until(committed(2n))
  const before = await ledgerDigest(store, name)
  const rootBefore = await lying.root()

  lying.lie()
  await accept(store, sent.slice(2, 3 + successors))
  await until(committed(3n + BigInt(successors)), 120_000)
  await liar.sequencer.close()
  // In the mempool, after the invalid blocks.
  await accept(store, sent.slice(3 + successors, 5 + successors))
  const invalid = (await store.blocks.byHeight(3n))!
  const accused = {
    transactions: (await store.blocks.transactionsOf(invalid.headerHash)).map(({ cbor }) => cbor),
    before: lying.at(decodeHeader(invalid.header).prevUtxosRoot),
    after: lying.at(invalid.utxosRoot),
    keys: [ghost.key],
  }
  await convict(chain, accused, toHex(invalid.headerHash))
  const stale = await queueOf(layer1)
  expect(stale.blocks).toHaveLength(2 + successors)
  const { id } = await administrator(layer1).send(pruneBlocks(contracts, stale))
  await layer1.await(id)
  expect((await queueOf(layer1)).blocks).toHaveLength(2)

  await registerAttacker(chain)
  const digests: Promise<string>[] = []
  const submissions = acceptingAll(store)
  const honest = await openRollup(context, store, layer1, {
    operator: openWallet({ layer1, keys: attackerKeys, evaluator, withholdMs: 50 }),
    holder: 'honest',
    autoCommit: true,
    autoMerge: true,
    submissions: {
      // Everything is undone before anything comes back.
      async add(cbor) {
        if (digests.length === 0) digests.push(ledgerDigest(store, name))
        await Promise.all(digests)
        return submissions.add(cbor)
      },
    },
  })
  await until(async () => digests.length > 0)
  expect(await Promise.all(digests)).toEqual([before])
  expect(toHex((await store.blocks.byHash(invalid.headerHash))!.utxosRoot)).not.toBe(toHex(rootBefore))
  expect(await store.resubmissions.ofTransaction(fromHex(sent[2]!.id))).toMatchObject([
    { block: { headerHash: invalid.headerHash, height: 3n } },
  ])
  await until(async () => (await store.resubmissions.waiting(1)).length === 0)
  await until(() => everythingMerged(store), 120_000)
  const all = sent.slice(0, 5 + successors)
  await expectAgreement(store, layer1, honest.roots, all)
  // The header that the honest operator signed for them is another.
  expect(toHex((await store.blocks.byHeight(3n))!.headerHash)).not.toBe(toHex(invalid.headerHash))
  expect((await store.blocks.byHash(invalid.headerHash))?.state).toBe('removed')
})

const tables = [
  'mempool_transactions',
  'mempool_ledger',
  'spent_outputs',
  'address_history',
  'block_transactions',
]

/** A hash of every row of the ledger's tables. */
async function ledgerDigest({ database }: Pick<Store, 'database'>, schema: string): Promise<string> {
  const hash = createHash('sha256')
  for (const table of tables) {
    const text = `SELECT to_json(t)::text AS row FROM ${schema}.${table} AS t ORDER BY 1`
    const { rows } = await database.run(text, [])
    for (const { row } of rows as readonly { row: string }[]) hash.update(`${table} ${row}\n`)
  }
  return hash.digest('hex')
}

const hashOf = (result: object): string => ('headerHash' in result ? String(result.headerHash) : '')

test.concurrent('removes a block with those behind it, and commits again', async (context) => {
  const { store } = await openers['PostgreSQL and Redis'](context)
  const chain = await openChain(context)
  context.onTestFinished(chain.keepMining())
  const { sequencer, roots } = await openRollup(context, store, chain.layer1, { maxUnconfirmed: 2 })
  const sent = transfers(6)
  await sequencer.run('init')
  const hashes: string[] = []
  for (const transaction of sent.slice(0, 5)) {
    await accept(store, [transaction])
    hashes.push(hashOf(await sequencer.run('commit')))
  }
  const unknown = 'ab'.repeat(28)
  expect(await sequencer.run('remove', { headerHash: unknown })).toMatchObject({
    kind: 'refused',
    code: 'SEQUENCER_NO_SUCH_BLOCK',
  })
  const [, headerHash] = hashes as [string, string]
  expect(await sequencer.run('remove', { headerHash })).toMatchObject({
    kind: 'removed',
    headerHash,
    removed: hashes.slice(1, 4).concat(hashes.slice(4)),
  })
  expect((await queueOf(chain.layer1)).blocks.map((block) => toHex(block.headerHash))).toEqual(
    hashes.slice(0, 1),
  )
  await until(async () => (await store.blocks.waiting(10)) === 4)

  await accept(store, sent.slice(5))
  // After the block whose element the removal paid back.
  expect(await sequencer.run('commit')).toMatchObject({ kind: 'committed', transactions: 5 })
  await until(async () => (await sequencer.run('merge')).kind === 'merged' && (await everythingMerged(store)))
  await expectAgreement(store, chain.layer1, roots, sent)
  expect(await sequencer.run('remove', { headerHash: hashes[0]! })).toMatchObject({
    code: 'SEQUENCER_NO_SUCH_BLOCK',
  })
})

test.concurrent('removes the newest block, and merges the one before it', async (context) => {
  const { store } = await openers['PostgreSQL and Redis'](context)
  const chain = await openChain(context)
  context.onTestFinished(chain.keepMining())
  const { sequencer, roots } = await openRollup(context, store, chain.layer1)
  const sent = transfers(2)
  await sequencer.run('init')
  await accept(store, sent.slice(0, 1))
  const first = hashOf(await sequencer.run('commit'))
  await sequencer.run('remove', { headerHash: first })
  expect((await queueOf(chain.layer1)).blocks).toEqual([])

  const again = hashOf(await sequencer.run('commit'))
  await accept(store, sent.slice(1))
  const second = hashOf(await sequencer.run('commit'))
  expect(await sequencer.run('remove', { headerHash: second })).toMatchObject({ removed: [second] })
  // The block before it is the tail, in an output of the removal.
  await until(async () => (await sequencer.run('merge')).kind === 'merged')
  expect(toHex((await store.blocks.confirmed())!.headerHash)).toBe(again)
  expect(await sequencer.run('commit')).toMatchObject({ kind: 'committed', transactions: 1 })
  await expectAgreement(store, chain.layer1, roots, sent)
})

test.concurrent('prunes what an interrupted removal left behind, and commits it again', async (context) => {
  const { store } = await openers['PostgreSQL and Redis'](context)
  const chain = await openChain(context)
  context.onTestFinished(chain.keepMining())
  const killed = await openRollup(context, store, chain.layer1)
  const sent = transfers(4)
  await killed.sequencer.run('init')
  const hashes: string[] = []
  for (const transaction of sent) {
    await accept(store, [transaction])
    hashes.push(hashOf(await killed.sequencer.run('commit')))
  }
  // The state left by a process that was killed after the first of three transactions.
  await killed.sequencer.close()
  const headerHash = hashes[1]!
  const { id } = await administrator(chain.layer1).send(
    removeBlock(contracts, await queueOf(chain.layer1), fromHex(headerHash)),
  )
  await chain.layer1.await(id)
  const { roots } = killed
  const { sequencer } = await openRollup(context, store, chain.layer1, { roots })
  await until(
    async () => (await store.blocks.newest())?.height === 1n && (await store.blocks.waiting(4)) === 3,
  )
  expect((await queueOf(chain.layer1)).blocks).toHaveLength(1)
  expect(await sequencer.run('remove', { headerHash })).toMatchObject({ code: 'SEQUENCER_NO_SUCH_BLOCK' })
  expect(await sequencer.run('commit')).toMatchObject({ kind: 'committed', transactions: 3 })
  await expectAgreement(store, chain.layer1, roots, sent)
})

test.concurrent('removes the block of another operator, and keeps all that this store has committed', {
  timeout: 120_000,
}, async (context) => {
  const { store } = await openers['PostgreSQL and Redis'](context)
  const chain = await openChain(context)
  context.onTestFinished(chain.keepMining())
  const { sequencer, roots } = await openRollup(context, store, chain.layer1)
  const sent = transfers(4)
  await sequencer.run('init')
  await accept(store, sent.slice(0, 2))
  const own = hashOf(await sequencer.run('commit'))
  const attacker = await registerAttacker(chain)
  await commitJunk(chain, attacker)
  await accept(store, sent.slice(2))
  expect(await sequencer.run('commit')).toMatchObject({ code: 'SEQUENCER_FOREIGN_QUEUE' })

  const junk = toHex((await queueOf(chain.layer1)).blocks[1]!.headerHash)
  expect(await sequencer.run('remove', { headerHash: junk })).toMatchObject({ removed: [junk] })
  expect((await queueOf(chain.layer1)).blocks.map(({ headerHash }) => toHex(headerHash))).toEqual([own])
  expect((await store.blocks.newest())?.state).not.toBe('removed')
  await until(async () => (await sequencer.run('commit')).kind === 'committed')
  await expectAgreement(store, chain.layer1, roots, sent)
})
