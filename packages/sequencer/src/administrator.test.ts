import { toHex } from '@ratatosk/cbor'
import { renouncedAdministrator } from '@ratatosk/contracts'
import { testWallets } from '@ratatosk/devnet'
import { openWallet, scriptAuthority } from '@ratatosk/layer1'
import { encodeBech32Address, scriptAddress } from '@ratatosk/ledger'
import { keysFromSeedPhrase, nativeScript } from '@ratatosk/ledger/builder'
import { administratorAddress, readRegistry } from '@ratatosk/protocol'
import { describe, expect, test } from 'vitest'
import { everythingMerged, expectAgreement, until } from './test/agreement.js'
import { attackerKeys } from './test/attacker.js'
import {
  accept,
  contracts,
  evaluator,
  administrator as openAdministrator,
  openChain,
  openers,
  openRollup,
  queueOf,
  transfers,
} from './test/rollup.js'
import { administratorKeys, contractsOf, deploymentOutput, operatorKeys } from './test/rollup-contracts.js'

const absent = { absent: 'set the phrase and restart' }
const refused = {
  kind: 'refused',
  code: 'SEQUENCER_NO_ADMINISTRATOR',
  message:
    `This needs the signature of the administrator (key ${toHex(administratorKeys.payment.hash)}): ` +
    'set the phrase and restart',
}

test.concurrent('a sequencer that knows only the hash of the key commits and merges', async (context) => {
  const { store } = await openers['PostgreSQL and Redis'](context)
  const chain = await openChain(context)
  context.onTestFinished(chain.keepMining())
  const first = await openRollup(context, store, chain.layer1)
  const sent = transfers(6)
  expect(await first.sequencer.run('init')).toMatchObject({ kind: 'initiated' })
  await first.sequencer.close()

  const { sequencer } = await openRollup(context, store, chain.layer1, {
    administrator: absent,
    roots: first.roots,
    autoInit: true,
    autoMerge: true,
  })
  await accept(store, sent.slice(0, 2))
  const committed = await sequencer.run('commit')
  expect(committed).toMatchObject({ kind: 'committed', transactions: 2 })
  await until(() => everythingMerged(store))
  await accept(store, sent.slice(2, 4))
  const { headerHash } = (await sequencer.run('commit')) as { headerHash: string }

  expect(await sequencer.run('reset')).toEqual(refused)
  expect(await sequencer.run('remove', { headerHash })).toEqual(refused)
  expect(await sequencer.run('repair')).toEqual({ kind: 'repaired' })
  expect(await sequencer.run('init')).toMatchObject({ kind: 'root-exists', count: 1 })
  expect((await queueOf(chain.layer1)).blocks).toHaveLength(1)

  await accept(store, sent.slice(4))
  expect(await sequencer.run('commit')).toMatchObject({ kind: 'committed', transactions: 2 })
  await until(() => everythingMerged(store))
  await expectAgreement(store, chain.layer1, first.roots, sent)
})

test.concurrent('without the key nothing is initialised, and the store stays as it is', async (context) => {
  const { store } = await openers['PostgreSQL and Redis'](context)
  const chain = await openChain(context)
  context.onTestFinished(chain.keepMining())
  const { sequencer } = await openRollup(context, store, chain.layer1, {
    administrator: absent,
    autoInit: true,
    genesis: [],
  })
  expect(await sequencer.run('init')).toEqual(refused)
  await until(async () => sequencer.snapshot().fault?.code === 'SEQUENCER_NOT_INITIALISED')
  expect(await chain.layer1.utxosByUnit(contracts.scripts.registry.unit)).toEqual([])
})

test.concurrent('init registers another operator, if the administrator can sign', async (context) => {
  const { store } = await openers['PostgreSQL and Redis'](context)
  const chain = await openChain(context)
  context.onTestFinished(chain.keepMining())
  const { layer1 } = chain
  const first = await openRollup(context, store, layer1)
  expect(await first.sequencer.run('init')).toMatchObject({ kind: 'initiated' })
  const [root] = (await queueOf(layer1)).roots
  const { id } = await openAdministrator(layer1).send({
    outputs: [1, 2].map(() => ({ address: attackerKeys.addressText, lovelace: 1_000_000_000n })),
  })
  await layer1.await(id)

  const { store: other } = await openers['PostgreSQL and Redis'](context)
  const operator = openWallet({ layer1, keys: attackerKeys, evaluator, withholdMs: 50 })
  const unable = await openRollup(context, other, layer1, { operator, administrator: absent })
  expect(await unable.sequencer.run('init')).toMatchObject({ kind: 'root-exists' })
  await unable.sequencer.close()
  const second = await openRollup(context, other, layer1, { operator, roots: unable.roots })
  expect(await second.sequencer.run('init')).toMatchObject({ kind: 'initiated' })
  const registry = readRegistry(contracts, await layer1.utxosByUnit(contracts.scripts.registry.unit))!
  const { turnLength } = contracts.parameters
  expect(registry.datum.operators.map(({ vkey }) => toHex(vkey))).toEqual(
    [attackerKeys, operatorKeys].map(({ payment }) => toHex(payment.hash)),
  )
  const { activeFrom } = registry.datum.operators[0]!
  expect(activeFrom - BigInt(chain.clock.time)).toBeLessThanOrEqual(3n * turnLength)
  expect((await queueOf(layer1)).roots).toEqual([root])
  expect(await second.sequencer.run('init')).toMatchObject({ kind: 'root-exists' })
})

const [first, second, third] = [administratorKeys, 6, 7].map((keys) =>
  typeof keys === 'number' ? keysFromSeedPhrase(testWallets.mnemonic, { networkId: 0, account: keys }) : keys,
)
const script = nativeScript(
  JSON.stringify({
    type: 'atLeast',
    required: 2,
    scripts: [first, second, third].map((keys) => ({ type: 'sig', keyHash: toHex(keys!.payment.hash) })),
  }),
)

test.concurrent('two of three keys are the administrator of a whole life of a queue', async (context) => {
  const { store } = await openers['PostgreSQL and Redis'](context)
  const chain = await openChain(context)
  context.onTestFinished(chain.keepMining())
  const { layer1 } = chain
  const shared = contractsOf(20_000n, contracts.parameters.deploymentOutput, {
    kind: 'script',
    hash: script.hash,
  })
  const authority = scriptAuthority({ layer1, script, keys: [first!.payment, third!.payment] })
  const payer = openWallet({ layer1, keys: first!, evaluator, withholdMs: 50 })
  const { sequencer, roots } = await openRollup(context, store, layer1, {
    contracts: shared,
    administrator: { wallet: authority.over(payer), authority },
  })
  const sent = transfers(6)
  const before = await bondOf()
  expect(await sequencer.run('init')).toMatchObject({ kind: 'initiated' })
  expect((await bondOf()) - before).toBe(shared.parameters.bond)
  await accept(store, sent.slice(0, 2))
  expect(await sequencer.run('commit')).toMatchObject({ kind: 'committed', transactions: 2 })
  await accept(store, sent.slice(2, 4))
  const second = await sequencer.run('commit')
  expect(second).toMatchObject({ kind: 'committed', transactions: 2 })
  const { headerHash } = second as { headerHash: string }
  await accept(store, sent.slice(4))
  expect(await sequencer.run('commit')).toMatchObject({ kind: 'committed' })
  // Two removals in a chain, each with the output of the one before.
  expect(await sequencer.run('remove', { headerHash })).toMatchObject({ kind: 'removed', headerHash })
  expect(await sequencer.run('commit')).toMatchObject({ kind: 'committed', transactions: 4 })
  await until(async () => (await sequencer.run('merge')).kind === 'merged' && (await everythingMerged(store)))
  await expectAgreement(store, layer1, roots, sent, shared)

  expect(await sequencer.run('reset')).toEqual({ kind: 'reset' })
  expect(await sequencer.run('init')).toMatchObject({ kind: 'initiated' })
  const atScript = await layer1.utxosAt(encodeBech32Address(scriptAddress(script.hash, 0)))
  // Registry, queue and the one verdict policy.
  expect(atScript.filter(({ output }) => output.referenceScript)).toHaveLength(3)
  expect(atScript.filter(({ output }) => !output.referenceScript)).toHaveLength(1)

  /** The lovelace in the registry. */
  async function bondOf(): Promise<bigint> {
    const registry = readRegistry(shared, await layer1.utxosByUnit(shared.scripts.registry.unit))
    const own = registry?.datum.operators.find(({ vkey }) => toHex(vkey) === toHex(operatorKeys.payment.hash))
    return own?.bond ?? 0n
  }
})

test.concurrent('one of three keys is refused by layer 1', async (context) => {
  const chain = await openChain(context)
  const { layer1 } = chain
  context.onTestFinished(chain.keepMining())
  const authority = scriptAuthority({ layer1, script, keys: [first!.payment] })
  const payer = authority.over(openWallet({ layer1, keys: first!, evaluator, withholdMs: 50 }))
  await expect(
    payer.send({ outputs: [{ address: first!.addressText, lovelace: 5_000_000n }] }),
  ).rejects.toMatchObject({
    code: 'WALLET_TRANSACTION_REFUSED',
    failures: [{ predicate: 'ScriptWitnessNotValidatingUTXOW' }],
  })
})

describe('without administrator', () => {
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
    await until(
      async () => (await sequencer.run('merge')).kind === 'merged' && (await everythingMerged(store)),
    )
    await expectAgreement(store, chain.layer1, roots, sent, contracts)
  })

  test.concurrent('an init that ends before the registration goes on at the next start', async (context) => {
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
})
