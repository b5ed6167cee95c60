import { isLeaving } from '@ratatosk/block'
import { openWallet } from '@ratatosk/layer1'
import { encodeBech32Address } from '@ratatosk/ledger'
import { constr, encodePlutusData } from '@ratatosk/ledger/plutus-data'
import { readBridge } from '@ratatosk/protocol'
import type { Block } from '@ratatosk/store'
import { acceptedOf } from '@ratatosk/test-kit'
import { expect, test } from 'vitest'
import { openRoots } from '../roots/index.js'
import { evaluator, genesis, openChain, openers, openRollup } from '../test/rollup.js'
import { operatorKeys } from '../test/rollup-contracts.js'
import { createSettler, settlerKeys } from './create-settler.js'
import { payoutsOf } from './owed.js'
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

const bytes = (byte: number) => new Uint8Array(32).fill(byte)
const paying = (...outrefs: readonly Uint8Array[]) =>
  encodePlutusData(
    constr(
      1,
      outrefs.map((outref) => [outref, new Uint8Array()]),
    ),
  )

/** Reads a chain of spendings behind the merge of a block, each with its redeemer. */
async function read(...redeemers: readonly Uint8Array[]) {
  let reads = 0
  const layer1 = {
    async spending() {
      const redeemer = redeemers[reads++]
      return redeemer && { transactionId: bytes(reads), redeemer }
    },
  }
  const block = { state: 'merged', mergeTransaction: { id: bytes(99) } } as unknown as Block
  const found = await payoutsOf({ layer1, blocks: { byHash: async () => block } }, bytes(0), undefined)
  return { found, reads: () => reads }
}

test('a stranger behind the last payout cannot rename it, nor have a chain followed', async () => {
  const [one, two, other] = [bytes(11), bytes(12), bytes(13)]
  const renamed = await read(paying(one), paying(two), paying(other, one), ...Array(50).fill(paying(two)))
  expect(renamed.found.get(one)).toEqual(bytes(1))
  expect(renamed.found.get(two)).toEqual(bytes(2))
  expect(renamed.found.get(other)).toBeUndefined()
  expect(renamed.reads()).toBe(3)
  const empty = await read(paying(one), ...Array(50).fill(paying()))
  expect(empty.found.size).toBe(1)
  expect(empty.reads()).toBe(2)
})
