import assert from 'node:assert/strict'
import { CborWriter, fromHex, toHex } from '@ratatosk/cbor'
import {
  blake2b256,
  encodeBech32Address,
  outputReferenceKey,
  scriptAddress,
  scriptHash,
  type Utxo,
} from '@ratatosk/ledger'
import type { DraftOutput, ScriptContent, TransactionDraft } from '@ratatosk/ledger/builder'
import { openWallet, type Wallet } from '../wallet/open-wallet.js'
import { failsWith, type ProviderHarness, type Scenes, sameUtxos } from './harness.js'

/** `(program 1.1.0 (lam context (con unit ())))`, wrapped in a byte string, as ledger scripts are. */
const succeeding: ScriptContent = { language: 'PlutusV3', bytes: fromHex('450101002499') }
/** Plutus data: constructor 0 without fields. */
const unit = fromHex('d87980')

const isRead = (utxo: Utxo | undefined): utxo is Utxo => utxo !== undefined

export function walletOf({ layer1, keys, evaluator }: ProviderHarness): Wallet {
  return openWallet({ layer1, keys, evaluator })
}

/** Sends a transaction, produces a block and waits for the confirmation. */
export async function included(harness: ProviderHarness, wallet: Wallet, draft: TransactionDraft) {
  const built = await wallet.send(draft)
  await harness.produceBlock()
  await harness.layer1.await(built.id)
  return built
}

/** A policy under which only the keys mint. */
function policyOf({ payment }: ProviderHarness['keys']) {
  const bytes = new CborWriter().array(2).uint(0).bytes(payment.hash).toBytes()
  const script: ScriptContent = { language: 'native', bytes }
  return { script, policy: toHex(scriptHash('native', bytes)) }
}

/** Building, submitting and confirming transactions. */
export const transactionScenes: Scenes = {
  async 'confirms a payment and counts the blocks after it'(harness) {
    const { layer1, keys, emptyKeys, produceBlock } = harness
    const wallet = walletOf(harness)
    const built = await wallet.send({ outputs: [{ address: emptyKeys.addressText, lovelace: 5_000_000n }] })
    assert.notEqual((await layer1.status(built.id)).kind, 'confirmed')
    await produceBlock()
    const tip = await layer1.tip()
    assert.deepEqual(await layer1.await(built.id), {
      slot: tip.slot,
      blockHash: tip.hash,
      confirmations: 0,
    })
    await failsWith('LAYER1_TIMEOUT', layer1.await(built.id, { confirmations: 2, timeoutMs: 300 }))
    await produceBlock()
    await produceBlock()
    const { confirmations, blockHash } = await layer1.await(built.id, { confirmations: 2 })
    assert.equal(confirmations, 2)
    assert.equal(blockHash, tip.hash)

    sameUtxos(await layer1.utxosAt(emptyKeys.addressText), built.produced.slice(0, 1))
    assert.deepEqual(await layer1.utxosByReferences(built.spent.map(({ reference }) => reference)), [])
    const kept = (await wallet.balance()).lovelace
    const change = built.produced.slice(1).reduce((sum, { output }) => sum + output.value.lovelace, 0n)
    const spent = built.spent.reduce((sum, { output }) => sum + output.value.lovelace, 0n)
    assert.equal(spent - change, 5_000_000n + built.fee)
    assert.equal((await layer1.utxosAt(keys.addressText)).reduce(lovelaceSum, 0n), kept)
  },
  async 'says how an output was spent, until that is rolled back'(harness) {
    const { layer1, keys, rollBack } = harness
    const wallet = walletOf(harness)
    const address = encodeBech32Address(scriptAddress(scriptHash(succeeding.language, succeeding.bytes), 0))
    const datum = { kind: 'inline', data: unit } as const
    const paid = await included(harness, wallet, {
      outputs: [
        { address, lovelace: 5_000_000n, datum },
        { address: keys.addressText, lovelace: 4_000_000n, datum },
        { address: keys.addressText, lovelace: 3_000_000n },
      ],
    })
    const [locked, read, other] = paid.produced as [Utxo, Utxo, Utxo]
    assert.equal(await layer1.spending(locked.reference), undefined)
    assert.equal(await layer1.spending({ ...locked.reference, index: 99 }), undefined)
    const redeemer = fromHex('d87981182a')
    const spent = await included(harness, wallet, {
      inputs: [{ utxo: locked, redeemer }, { utxo: other }],
      referenceInputs: [read],
      scripts: [succeeding],
    })
    const { referenceInputs, ...spending } = (await layer1.spending(locked.reference)) ?? {}
    assert.deepEqual(spending, { transactionId: spent.id, redeemer })
    // Kupo does not know them.
    if (referenceInputs !== undefined) sameUtxos(referenceInputs.filter(isRead), [read])
    const ofOther = await layer1.spending(other.reference)
    assert.deepEqual(ofOther?.transactionId, spent.id)
    assert.equal(ofOther?.redeemer, undefined)
    await rollBack(1)
    assert.equal(await layer1.spending(locked.reference), undefined)
  },
  async 'returns assets, datums and reference scripts of outputs unchanged'(harness) {
    const { layer1, keys, emptyKeys, produceBlock } = harness
    const wallet = walletOf(harness)
    const { script: policyScript, policy } = policyOf(keys)
    // Not representable as a double.
    const many = 9_007_199_254_740_993n
    const tokens = new Map([
      ['', 1n],
      ['746f6b656e', many],
    ])
    const address = emptyKeys.addressText
    const built = await wallet.send({
      mint: [{ policy, assets: tokens }],
      scripts: [policyScript],
      outputs: [
        { address, assets: new Map([[policy, tokens]]), datum: { kind: 'inline', data: unit } },
        { address, datum: { kind: 'hash', hash: blake2b256(unit) }, referenceScript: policyScript },
        { address, lovelace: 3_000_000n, referenceScript: succeeding },
      ],
    })
    await produceBlock()
    await layer1.await(built.id)
    const made = built.produced.slice(0, 3)
    sameUtxos(await layer1.utxosAt(address), made)
    sameUtxos(await layer1.utxosByReferences(made.map(({ reference }) => reference)), made)
    sameUtxos(await layer1.utxosByUnit(policy), made.slice(0, 1))
    sameUtxos(await layer1.utxosByUnit(`${policy}746f6b656e`), made.slice(0, 1))
  },
  async 'finds the outputs with an asset of a policy among many others at their address'(harness) {
    const { layer1, keys, emptyKeys } = harness
    const wallet = walletOf(harness)
    const { script, policy } = policyOf(keys)
    const address = emptyKeys.addressText
    const holding = (name: string, quantity: bigint, to = address): DraftOutput => ({
      address: to,
      assets: new Map([[policy, new Map([[name, quantity]])]]),
    })
    const minting = (quantities: Readonly<Record<string, bigint>>) => [
      { policy, assets: new Map(Object.entries(quantities)) },
    ]
    const others = Array.from({ length: 150 }, (): DraftOutput => ({ address, lovelace: 1_000_000n }))
    assert.deepEqual(await layer1.utxosByPolicy(policy), [])

    await included(harness, wallet, { outputs: others })
    const first = await included(harness, wallet, {
      mint: minting({ '': 1n, '0a': 5n, '0b': 1n }),
      scripts: [script],
      outputs: [holding('', 1n), holding('0a', 2n), holding('0a', 3n), holding('0b', 1n, keys.addressText)],
    })
    await included(harness, wallet, { outputs: others })
    sameUtxos(await layer1.utxosByPolicy(policy), first.produced.slice(0, 4))
    sameUtxos(await layer1.utxosByPolicy(policy.toUpperCase()), first.produced.slice(0, 4))
    await assert.rejects(layer1.utxosByPolicy(`${policy}00`), TypeError)
    sameUtxos(await layer1.utxosAt(address, { policy: policy.toUpperCase() }), first.produced.slice(0, 3))
    await assert.rejects(layer1.utxosAt(address, { policy: `${policy}00` }), TypeError)

    const burned = first.produced.slice(3, 4)
    const second = await included(harness, wallet, {
      inputs: burned.map((utxo) => ({ utxo })),
      mint: minting({ '0b': -1n, '0c': 1n }),
      scripts: [script],
      outputs: [holding('0c', 1n)],
    })
    sameUtxos(await layer1.utxosByPolicy(policy), [
      ...first.produced.slice(0, 3),
      ...second.produced.slice(0, 1),
    ])
    await harness.rollBack(1)
    sameUtxos(await layer1.utxosByPolicy(policy), first.produced.slice(0, 4))
  },
  async 'finds an asset at its address that is minted again behind many burned ones'(harness) {
    const { layer1, keys } = harness
    const wallet = walletOf(harness)
    const { script, policy } = policyOf(keys)
    const address = keys.addressText
    const names = Array.from({ length: 300 }, (_, index) => index.toString(16).padStart(4, '0'))
    const quantities = (quantity: bigint) => new Map(names.map((name) => [name, quantity]))
    const minting = (assets: ReadonlyMap<string, bigint>) => ({
      mint: [{ policy, assets }],
      scripts: [script],
    })
    await included(harness, wallet, minting(quantities(1n)))
    await included(harness, wallet, minting(quantities(-1n)))
    assert.deepEqual(await layer1.utxosByPolicy(policy), [])
    const again = new Map([['0096', 1n]])
    const { produced } = await included(harness, wallet, {
      ...minting(again),
      outputs: [{ address, assets: new Map([[policy, again]]) }],
    })
    sameUtxos(await layer1.utxosAt(address, { policy }), produced.slice(0, 1))
  },
  async 'reads outputs with a slot up to which none is missing'(harness) {
    const { layer1, keys, emptyKeys, produceBlock } = harness
    const wallet = walletOf(harness)
    const { script, policy } = policyOf(keys)
    const address = emptyKeys.addressText
    const assets = new Map([['0a', 1n]])
    assert.deepEqual((await layer1.utxosAsOf(address)).utxos, [])
    const { id, produced } = await included(harness, wallet, {
      mint: [{ policy, assets }],
      scripts: [script],
      outputs: [
        { address, lovelace: 2_000_000n },
        { address, assets: new Map([[policy, assets]]) },
      ],
    })
    const status = await layer1.status(id)
    assert.ok(status.kind === 'confirmed')
    const all = await layer1.utxosAsOf(address)
    sameUtxos(all.utxos, produced.slice(0, 2))
    assert.equal(all.slot, status.slot)
    const held = await layer1.utxosAsOf(address, { policy: policy.toUpperCase() })
    sameUtxos(held.utxos, produced.slice(1, 2))
    await produceBlock()
    assert.equal((await layer1.utxosAsOf(address)).slot, (await layer1.tip()).slot)
    await assert.rejects(layer1.utxosAsOf(address, { policy: `${policy}00` }), TypeError)
  },
  async 'evaluates and spends a script output with a reference script'(harness) {
    const { layer1, emptyKeys, produceBlock } = harness
    const wallet = walletOf(harness)
    const lock = Uint8Array.of(0x70, ...scriptHash('PlutusV3', succeeding.bytes))
    const locking = await included(harness, wallet, {
      outputs: [
        { address: lock, lovelace: 10_000_000n, datum: { kind: 'inline', data: unit } },
        { address: emptyKeys.addressText, referenceScript: succeeding },
      ],
    })
    const [locked, library] = await layer1
      .utxosByReferences(locking.produced.slice(0, 2).map(({ reference }) => reference))
      .then((utxos) => [...utxos].sort((a, b) => a.reference.index - b.reference.index))
    assert.ok(locked && library)
    const unlocking = await wallet.build({
      inputs: [{ utxo: locked, redeemer: unit }],
      referenceInputs: [library],
    })
    const [redeemer] = unlocking.transaction.witnesses.redeemers
    const [evaluated] = await layer1.evaluate(unlocking.bytes)
    assert.ok(redeemer && evaluated)
    assert.deepEqual([evaluated.purpose, evaluated.index], ['spend', redeemer.index])
    assert.ok(evaluated.memory > 0n && evaluated.memory <= redeemer.executionUnits.memory)
    assert.ok(evaluated.steps > 0n && evaluated.steps <= redeemer.executionUnits.steps)
    await wallet.submit(unlocking)
    await produceBlock()
    await layer1.await(unlocking.id)
    assert.deepEqual(await layer1.utxosByReferences([locked.reference]), [])
  },
  async 'accepts a chain of transactions before the first is in a block'(harness) {
    const { layer1, emptyKeys, produceBlock } = harness
    const wallet = walletOf(harness)
    const ids: Uint8Array[] = []
    const spent = new Set<string>()
    const lovelace = 150_000_000n
    for (let payment = 0; payment < 8; payment++) {
      const built = await wallet.send({ outputs: [{ address: emptyKeys.addressText, lovelace }] })
      ids.push(built.id)
      for (const { reference } of built.spent) {
        const key = outputReferenceKey(reference)
        assert.ok(!spent.has(key), 'an output is spent twice')
        spent.add(key)
      }
    }
    await produceBlock()
    for (const id of ids) await layer1.await(id)
    assert.equal((await layer1.utxosAt(emptyKeys.addressText)).reduce(lovelaceSum, 0n), 8n * lovelace)
  },
  async 'accepts the same bytes again without a second effect'(harness) {
    const { layer1, emptyKeys, produceBlock } = harness
    const wallet = walletOf(harness)
    const built = await wallet.send({ outputs: [{ address: emptyKeys.addressText, lovelace: 2_000_000n }] })
    const again = await layer1.submit(built.bytes).catch((error: unknown) => error)
    // A provider without a mempool view cannot know that the transaction is pending, but reports that it
    // may be.
    if (again instanceof Uint8Array) assert.deepEqual(again, built.id)
    else assert.equal((await failsWith('LAYER1_REJECTED', Promise.reject(again))).mayHaveEffect, true)
    await produceBlock()
    await layer1.await(built.id)
    assert.deepEqual(await layer1.submit(built.bytes), built.id)
    assert.equal((await layer1.utxosAt(emptyKeys.addressText)).reduce(lovelaceSum, 0n), 2_000_000n)
  },
}

function lovelaceSum(sum: bigint, { output }: Utxo): bigint {
  return sum + output.value.lovelace
}
