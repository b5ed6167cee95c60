import { isLeaving } from '@ratatosk/block'
import { openWallet } from '@ratatosk/layer1'
import { encodeBech32Address } from '@ratatosk/ledger'

import { readBridge } from '@ratatosk/protocol'
import { acceptedOf } from '@ratatosk/test-kit'
import { expect, test } from 'vitest'
import { openRoots } from '../roots/index.js'
import { evaluator, genesis, openChain, openRollup } from '../test/rollup.js'
import { operatorKeys } from '../test/rollup-contracts.js'
import { openers } from '../test/services.js'
import { createSettler } from './create-settler.js'
import { settlerKeys } from './keys.js'
import { ada, contracts, payee, payoutFee, withdrawals, withdrawn } from './test/bridge-chain.js'

const bridge = contracts.bridge.place.script.hash

/** As validation hands a transaction to the store. */
function accepted(cbor: Uint8Array) {
  const transaction = acceptedOf(cbor)
  const produced = transaction.produced.map((entry) =>
    isLeaving(entry.output, bridge) ? { ...entry, left: true as const } : entry,
  )
  return { ...transaction, produced }
}

test('what leaves by the blocks of a sequencer is paid, from what its operator gives', async (context) => {
  const { store } = await openers.PGlite(context)
  const chain = await openChain(context)
  const { layer1 } = chain
  const stop = chain.keepMining()
  context.onTestFinished(stop)
  const roots = await openRoots({ bridge })
  const operator = openWallet({ layer1, keys: operatorKeys, evaluator, withholdMs: 50 })
  const { sequencer } = await openRollup(context, store, layer1, { contracts, roots, operator })
  expect(await sequencer.run('init')).toMatchObject({ kind: 'initiated' })
  await operator.send({
    outputs: [{ address: contracts.bridge.place.address, lovelace: 100n * ada }],
  })
  const settler = createSettler({
    layer1,
    contracts,
    blocks: store.blocks,
    leases: store.leases,
    wallet: openWallet({ layer1, keys: settlerKeys(operatorKeys), evaluator, withholdMs: 50 }),
    fundedBy: operator,
    isNeeded: () => sequencer.active,
    holder: 'settler',
    pollMs: 20,
    leaseMs: 3000,
  })
  context.onTestFinished(() => settler.close())
  await settler.start()
  const inputs = genesis.slice(0, 2).map(({ reference }) => reference)
  const transactions = withdrawals(20, 0, inputs)
  await store.withLedger((ledger) => ledger.apply({ transactions: transactions.map(accepted) }))
  expect(await sequencer.run('commit')).toMatchObject({ kind: 'committed', transactions: 2 })
  await chain.mine(50)
  expect(await sequencer.run('merge')).toMatchObject({ kind: 'merged' })
  await expect.poll(() => settler.status().paid).toBe(20)
  for (let n = 0; n < 20; n++) {
    const payments = await layer1.utxosAt(encodeBech32Address(payee(n)))
    expect(payments.map(({ output }) => output.value.lovelace)).toEqual([withdrawn(n) - payoutFee])
  }
  const { utxos } = await layer1.utxosAsOf(contracts.bridge.place.addressText)
  const { reserves, settlements } = readBridge(contracts, utxos)
  expect(settlements, 'two withdrawals cannot be paid').toHaveLength(1)
  const sum = reserves.reduce((total, { output }) => total + output.value.lovelace, 0n)
  expect(sum).toBe(100n * ada - (60n * ada + 190n))
})
