import { genesisHeaderHash } from '@ratatosk/block'
import { fromHex, toHex } from '@ratatosk/cbor'
import type { Layer1 } from '@ratatosk/layer1'
import type { DraftOutput } from '@ratatosk/ledger/builder'
import { administratorAddress, initQueue, openContracts, readRegistry } from '@ratatosk/protocol'
import { expect, test } from 'vitest'
import { everythingMerged, expectAgreement, until } from './test/agreement.js'
import {
  accept,
  administrator,
  contracts,
  genesis,
  openChain,
  openers,
  openRollup,
  queueOf,
  type TestChain,
  transfers,
} from './test/rollup.js'
import { contractsOf } from './test/rollup-contracts.js'

test.concurrent('a second root cannot be minted, and repair leaves a sound queue alone', async (context) => {
  const { store } = await openers['PostgreSQL and Redis'](context)
  const chain = await openChain(context)
  context.onTestFinished(chain.keepMining())
  const { sequencer, roots } = await openRollup(context, store, chain.layer1, { autoCommit: true })
  const sent = transfers(4)
  expect(await sequencer.run('init')).toMatchObject({ kind: 'initiated' })
  await accept(store, sent.slice(0, 2))
  await until(async () => (await queueOf(chain.layer1)).blocks.length === 1)

  // A second init, without the lock.
  const state = {
    headerHash: genesisHeaderHash(),
    prevHeaderHash: genesisHeaderHash(),
    utxoRoot: await roots.root(),
    startTime: 0n,
    endTime: 0n,
    blockVersion: 1n,
  }
  const { unit } = contracts.scripts.registry
  const { utxo, datum } = readRegistry(contracts, await chain.layer1.utxosByUnit(unit))!
  const second = initQueue(contracts, { utxo, datum: { ...datum, running: false } }, state)
  await expect(administrator(chain.layer1).send(second)).rejects.toMatchObject({
    code: 'WALLET_TRANSACTION_REFUSED',
  })
  expect(await sequencer.run('init')).toMatchObject({ kind: 'root-exists', count: 1 })

  expect(await sequencer.run('repair')).toEqual({ kind: 'repaired' })
  expect((await queueOf(chain.layer1)).roots).toHaveLength(1)
  await accept(store, sent.slice(2))
  await until(async () => (await store.blocks.waiting(1)) === 0)
  await until(async () => (await sequencer.run('merge')).kind === 'merged' && (await everythingMerged(store)))
  await expectAgreement(store, chain.layer1, roots, sent)
})

test.concurrent('init refuses when the deployment output is spent', async (context) => {
  const { store } = await openers['PostgreSQL and Redis'](context)
  const chain = await openChain(context)
  context.onTestFinished(chain.keepMining())
  const { sequencer } = await openRollup(context, store, chain.layer1, {
    contracts: contractsOf(20_000n, { transactionId: new Uint8Array(32).fill(0x12), index: 0 }),
  })
  expect(await sequencer.run('init')).toMatchObject({
    kind: 'refused',
    code: 'SEQUENCER_DEPLOYMENT_OUTPUT_SPENT',
  })
})

test.concurrent('a queue that can never begin is another fault than one that may', async (context) => {
  const { store } = await openers['PostgreSQL and Redis'](context)
  const chain = await openChain(context)
  context.onTestFinished(chain.keepMining())
  const faultOf = async (options: object) => {
    const { sequencer } = await openRollup(context, store, chain.layer1, options)
    const fault = () => sequencer.snapshot().fault
    await until(async () => fault() !== null)
    const found = fault()
    await sequencer.close()
    return found
  }
  expect(await faultOf({})).toMatchObject({ code: 'SEQUENCER_NOT_INITIALISED' })
  const { sequencer } = await openRollup(context, store, chain.layer1)
  expect(await sequencer.run('init')).toMatchObject({ kind: 'initiated' })
  await sequencer.close()
  for (const autoInit of [false, true])
    expect(await faultOf({ autoInit, contracts: contractsOf(30_000n) })).toMatchObject({
      code: 'SEQUENCER_DEPLOYMENT_OUTPUT_SPENT',
      message: expect.stringContaining('use the '),
    })
})

test.concurrent('init refuses a layer 1 that does not run the scripts', async (context) => {
  const { store } = await openers['PostgreSQL and Redis'](context)
  const { layer1 } = await openChain(context)
  const older: Layer1 = {
    ...layer1,
    parameters: async (options) => ({
      ...(await layer1.parameters(options)),
      ledgerVersion: { major: 10, minor: 0 },
    }),
  }
  const { sequencer } = await openRollup(context, store, older)
  expect(await sequencer.run('init')).toEqual({
    kind: 'refused',
    code: 'SEQUENCER_LAYER1_TOO_OLD',
    message:
      'Layer 1 has ledger version 10, and the contracts need 11: use a network, or a devnet, of that version',
  })
})

test.concurrent('init refuses the registry of another queue before it changes anything', async (context) => {
  const { store } = await openers['PostgreSQL and Redis'](context)
  const chain = await openChain(context)
  context.onTestFinished(chain.keepMining())
  const { sequencer, roots } = await openRollup(context, store, chain.layer1)
  expect(await sequencer.run('init')).toMatchObject({ kind: 'initiated' })
  await accept(store, transfers(1))
  expect(await sequencer.run('commit')).toMatchObject({ kind: 'committed' })
  await sequencer.close()

  const published = await chain.layer1.utxosAt(administratorAddress(contracts))
  const others = openContracts({ ...contracts.parameters, verdictPolicies: [] }, 0)
  const other = await openRollup(context, store, chain.layer1, { contracts: others, roots })
  expect(await other.sequencer.run('init')).toMatchObject({
    kind: 'refused',
    code: 'SEQUENCER_DEPLOYMENT_OUTPUT_SPENT',
    message: expect.stringMatching(
      new RegExp(
        `registry of another state queue, ${toHex(contracts.scripts.queue.script.hash)}: use the param`,
      ),
    ),
  })
  expect((await store.blocks.newest())?.state, 'the block stays').toBe('committed')
  expect(await chain.layer1.utxosAt(administratorAddress(others))).toEqual(published)
})

test.concurrent('reset burns the queue and empties the store; init starts from genesis', async (context) => {
  const { store } = await openers['PostgreSQL and Redis'](context)
  const chain = await openChain(context)
  context.onTestFinished(chain.keepMining())
  const { sequencer, roots } = await openRollup(context, store, chain.layer1)
  await sequencer.run('init')
  const sent = transfers(6)
  await accept(store, sent.slice(0, 3))
  expect(await sequencer.run('commit')).toMatchObject({ kind: 'committed' })
  await accept(store, sent.slice(3))
  expect(await sequencer.run('reset')).toEqual({ kind: 'reset' })
  expect((await queueOf(chain.layer1)).roots).toEqual([])
  expect(await store.blocks.newest()).toBeUndefined()
  expect(await sequencer.run('commit')).toMatchObject({ kind: 'refused', code: 'SEQUENCER_NOT_INITIALISED' })

  expect(await sequencer.run('init')).toMatchObject({ kind: 'initiated' })
  await accept(store, sent)
  expect(await sequencer.run('commit')).toMatchObject({ kind: 'committed', transactions: 6 })
  await expectAgreement(store, chain.layer1, roots, sent)
})

test.concurrent('a sequencer leaves the queue of another store alone', async (context) => {
  const chain = await openChain(context)
  context.onTestFinished(chain.keepMining())
  const [mine, other] = [
    await openers['PostgreSQL and Redis'](context),
    await openers['PostgreSQL and Redis'](context),
  ]
  const theirs = await openRollup(context, other.store, chain.layer1)
  await theirs.sequencer.run('init')
  await accept(other.store, transfers(2))
  expect(await theirs.sequencer.run('commit')).toMatchObject({ kind: 'committed' })
  await theirs.sequencer.close()

  await mine.store.applyGenesis(genesis)
  const warned: string[] = []
  const log = {
    info: () => undefined,
    warn: (_: object, message: string) => warned.push(message),
    error: () => undefined,
  }
  const { sequencer } = await openRollup(context, mine.store, chain.layer1, { autoCommit: true, log })
  await accept(mine.store, transfers(3))
  expect(await sequencer.run('commit')).toMatchObject({ kind: 'refused', code: 'SEQUENCER_FOREIGN_QUEUE' })
  expect(await sequencer.run('merge')).toMatchObject({ kind: 'refused', code: 'SEQUENCER_FOREIGN_QUEUE' })
  await until(async () => sequencer.snapshot().fault?.code === 'SEQUENCER_FOREIGN_QUEUE')
  expect(warned.filter((message) => message.includes('never had'))).toHaveLength(1)
  expect((await queueOf(chain.layer1)).blocks).toHaveLength(1)
  expect(await mine.store.blocks.newest()).toBeUndefined()
})

const { addressText: address } = contracts.scripts.queue
const atQueue = async (layer1: Layer1) => (await layer1.utxosAt(address)).length

/** Leaves outputs at the queue's address, as any wallet can. */
async function leave({ layer1 }: TestChain, outputs: readonly DraftOutput[]): Promise<void> {
  const spared = await layer1.utxosByReferences([contracts.parameters.deploymentOutput])
  const { id } = await administrator(layer1).send({ outputs }, { spared })
  await layer1.await(id)
}

const ada = (count: number): readonly DraftOutput[] => Array.from({ length: count }, () => ({ address }))

test.concurrent('reset sweeps 200 outputs that others left at the queue', async (context) => {
  const { store } = await openers['PostgreSQL and Redis'](context)
  const chain = await openChain(context)
  context.onTestFinished(chain.keepMining())
  await leave(chain, ada(196))
  await leave(chain, [
    ...ada(2),
    { address, datum: { kind: 'inline', data: fromHex('d87980') } },
    { address, datum: { kind: 'inline', data: fromHex(`5840${'ab'.repeat(64)}`) } },
  ])
  const { sequencer } = await openRollup(context, store, chain.layer1)
  expect(await sequencer.run('init')).toMatchObject({ kind: 'initiated' })
  for (const transaction of transfers(2)) {
    await accept(store, [transaction])
    expect(await sequencer.run('commit')).toMatchObject({ kind: 'committed' })
  }
  expect(await atQueue(chain.layer1)).toBe(203)
  expect(await sequencer.run('reset')).toEqual({ kind: 'reset' })
  expect(await atQueue(chain.layer1)).toBe(0)
  expect(await sequencer.run('init')).toMatchObject({ kind: 'initiated' })
})

test.concurrent('an element takes 99 outputs along, and the next reset the rest', async (context) => {
  const { store } = await openers['PostgreSQL and Redis'](context)
  const chain = await openChain(context)
  context.onTestFinished(chain.keepMining())
  await leave(chain, ada(120))
  const { sequencer } = await openRollup(context, store, chain.layer1)
  await sequencer.run('init')
  expect(await sequencer.run('reset')).toEqual({ kind: 'reset' })
  expect(await atQueue(chain.layer1)).toBe(21)
  await sequencer.run('init')
  expect(await sequencer.run('reset')).toEqual({ kind: 'reset' })
  expect(await atQueue(chain.layer1)).toBe(0)
})

test.concurrent('what cannot be swept keeps nothing from being reset', async (context) => {
  const { store } = await openers['PostgreSQL and Redis'](context)
  const chain = await openChain(context)
  context.onTestFinished(chain.keepMining())
  await leave(chain, [
    { address, datum: { kind: 'hash', hash: new Uint8Array(32).fill(0xab) } },
    { address, referenceScript: contracts.scripts.registry.script },
  ])
  const { sequencer } = await openRollup(context, store, chain.layer1)
  await sequencer.run('init')
  expect(await sequencer.run('reset')).toEqual({ kind: 'reset' })
  expect((await queueOf(chain.layer1)).roots).toEqual([])
  expect(await atQueue(chain.layer1)).toBe(2)
})
