import { administratorAddress, scriptsToPublish } from '@ratatosk/protocol'
import { expect, test } from 'vitest'
import { until } from '../test/agreement.js'
import { contracts, openChain, openRollup } from '../test/rollup.js'
import { openers } from '../test/services.js'

test('one block of layer 1 can publish all scripts, however many transactions they need', async (context) => {
  const groups = scriptsToPublish(contracts)
  expect(groups.length).toBeGreaterThan(1)
  const { store } = await openers['PostgreSQL and Redis'](context)
  const chain = await openChain(context)
  const { sequencer } = await openRollup(context, store, chain.layer1)
  const init = sequencer.run('init')
  await until(async () => chain.devnet.mempool().length === 1)
  // The registry, and then the scripts.
  await chain.mine()
  await until(async () => chain.devnet.mempool().length === groups.length)
  await chain.mine()
  expect(await chain.layer1.utxosAt(administratorAddress(contracts))).toHaveLength(groups.flat().length)
  context.onTestFinished(chain.keepMining())
  expect(await init).toMatchObject({ kind: 'initiated' })
})
