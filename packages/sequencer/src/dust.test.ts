import { fromHex } from '@ratatosk/cbor'
import type { Layer1 } from '@ratatosk/layer1'
import type { DraftOutput } from '@ratatosk/ledger/builder'
import { expect, test } from 'vitest'
import {
  accept,
  administrator,
  contracts,
  openChain,
  openRollup,
  queueOf,
  type TestChain,
  transfers,
} from './test/rollup.js'
import { openers } from './test/services.js'

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
