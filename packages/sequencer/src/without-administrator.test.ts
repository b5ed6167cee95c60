import { toHex } from '@ratatosk/cbor'
import { renouncedAdministrator } from '@ratatosk/contracts'
import { administratorAddress, readRegistry } from '@ratatosk/protocol'
import { expect, test } from 'vitest'
import { everythingMerged, expectAgreement, until } from './test/agreement.js'
import { accept, openChain, openRollup, queueOf, transfers } from './test/rollup.js'
import { contractsOf, deploymentOutput, operatorKeys } from './test/rollup-contracts.js'
import { openers } from './test/services.js'

/** The first output of the operator in the genesis of `openChain`. */
const operatorsOutput = { ...deploymentOutput, index: 5 }
const contracts = contractsOf(20_000n, operatorsOutput, renouncedAdministrator)
const { registry } = contracts.scripts

const refused = {
  kind: 'refused',
  code: 'SEQUENCER_NO_ADMINISTRATOR',
  message:
    'This needs an administrator, and the rollup has none: ' +
    'its state queue never ends, and only a proof of fraud removes a block',
}

test.concurrent('the operator initialises, registers, commits and merges', async (context) => {
  const { store } = await openers['PostgreSQL and Redis'](context)
  const chain = await openChain(context)
  context.onTestFinished(chain.keepMining())
  const { sequencer, roots } = await openRollup(context, store, chain.layer1, { contracts })
  const sent = transfers(4)
  const init = await sequencer.run('init')
  expect(init).toMatchObject({ kind: 'initiated', rootUnit: contracts.scripts.queue.unit })
  const { transactionId } = init as { transactionId: string }
  const [root] = (await queueOf(chain.layer1, contracts)).roots
  expect(toHex(root!.utxo.reference.transactionId)).toBe(transactionId)
  expect(await sequencer.run('init')).toMatchObject({ kind: 'root-exists', count: 1 })
  const element = readRegistry(contracts, await chain.layer1.utxosByUnit(registry.unit))!
  expect(element.datum.operators.map(({ vkey }) => vkey)).toEqual([operatorKeys.payment.hash])
  const published = await chain.layer1.utxosAt(administratorAddress(contracts))
  expect(published, 'registry, queue and the one verdict policy').toHaveLength(3)

  await accept(store, sent.slice(0, 2))
  const commit = sequencer.run('commit')
  // The operator's turns begin after some minutes.
  while (chain.clock.time < Number(element.datum.operators[0]!.activeFrom)) await chain.mine(20)
  expect(await commit).toMatchObject({ kind: 'committed', transactions: 2 })
  await accept(store, sent.slice(2))
  const second = await sequencer.run('commit')
  expect(second).toMatchObject({ kind: 'committed', transactions: 2 })
  const { headerHash } = second as { headerHash: string }
  expect(await sequencer.run('reset')).toEqual(refused)
  expect(await sequencer.run('remove', { headerHash })).toEqual(refused)
  expect(await sequencer.run('repair'), 'there is nothing to repair').toEqual({ kind: 'repaired' })
  await until(async () => (await sequencer.run('merge')).kind === 'merged' && (await everythingMerged(store)))
  await expectAgreement(store, chain.layer1, roots, sent, contracts)
})

test.concurrent('an init that ends before the registration continues at the next start', async (context) => {
  const { store } = await openers['PostgreSQL and Redis'](context)
  const chain = await openChain(context)
  context.onTestFinished(chain.keepMining())
  const first = await openRollup(context, store, chain.layer1, {
    contracts,
    observer: {
      step(name) {
        if (name === 'root-minted') throw new Error('the process was killed')
      },
    },
  })
  await expect(first.sequencer.run('init')).rejects.toThrow('the process was killed')
  await first.sequencer.close()
  const operators = async () =>
    readRegistry(contracts, await chain.layer1.utxosByUnit(registry.unit))!.datum.operators
  expect(await operators()).toEqual([])

  await openRollup(context, store, chain.layer1, { contracts, roots: first.roots, autoInit: true })
  await until(async () => (await operators()).length === 1)
  expect((await queueOf(chain.layer1, contracts)).roots).toHaveLength(1)
})

test.concurrent('init refuses a deployment output of another owner, and a spent one', async (context) => {
  const { store } = await openers['PostgreSQL and Redis'](context)
  const chain = await openChain(context)
  context.onTestFinished(chain.keepMining())
  for (const [index, reason] of [
    [0, /is not at the operator's address addr_test1/],
    [99, /is spent or never existed, .*: use the settings .* an unspent output of the operator$/],
  ] as const) {
    const output = { ...deploymentOutput, index }
    const own = contractsOf(20_000n, output, renouncedAdministrator)
    const { sequencer } = await openRollup(context, store, chain.layer1, { contracts: own })
    expect(await sequencer.run('init')).toMatchObject({
      kind: 'refused',
      code: 'SEQUENCER_DEPLOYMENT_OUTPUT_SPENT',
      message: expect.stringMatching(reason),
    })
    expect(await chain.layer1.utxosAt(administratorAddress(own))).toEqual([])
    await sequencer.close()
  }
})
