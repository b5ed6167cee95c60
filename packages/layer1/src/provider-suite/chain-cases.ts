import assert from 'node:assert/strict'
import { slotToTime } from '@ratatosk/ledger'
import { failsWith } from './expect.js'
import type { Scenes } from './harness.js'

const unknownId = new Uint8Array(32)

/** Tip, time, parameters, unspent outputs. */
export const chainScenes: Scenes = {
  async 'the tip advances with each block'({ layer1, produceBlock }) {
    await produceBlock()
    const before = await layer1.tip()
    await produceBlock()
    const after = await layer1.tip()
    assert.equal(after.height, before.height + 1)
    assert.ok(after.slot > before.slot)
    assert.match(after.hash, /^[0-9a-f]{64}$/)
    assert.notEqual(after.hash, before.hash)
  },
  async 'the current slot contains the current time'({ layer1 }) {
    const slots = await layer1.slots()
    const before = BigInt(Date.now()) - BigInt(slots.slotLength)
    const start = slotToTime(slots, await layer1.currentSlot())
    assert.ok(start >= before, 'the current slot began at most one slot ago')
    assert.ok(start <= BigInt(Date.now()), 'the current slot has begun')
  },
  async 'returns protocol parameters of the Conway era'({ layer1 }) {
    const parameters = await layer1.parameters()
    assert.ok(parameters.minFeeA > 0n && parameters.minFeeB > 0n && parameters.coinsPerUtxoByte > 0n)
    assert.ok(parameters.ledgerVersion.major >= 9)
    assert.ok((parameters.costModels.PlutusV3?.length ?? 0) > 250)
  },
  async 'finds unspent outputs by address and by reference'({ layer1, keys, emptyKeys }) {
    const utxos = await layer1.utxosAt(keys.addressText)
    assert.ok(utxos.length >= 2)
    assert.ok(utxos.every(({ output }) => output.value.lovelace === 1_000_000_000n))
    const references = utxos.slice(0, 2).map(({ reference }) => reference)
    const unknown = { transactionId: new Uint8Array(32), index: 0 }
    assert.equal((await layer1.utxosByReferences([...references, unknown])).length, 2)
    assert.deepEqual(await layer1.utxosByReferences([]), [])
    assert.deepEqual(await layer1.utxosAt(emptyKeys.addressText), [])
    assert.deepEqual(await layer1.utxosByUnit('ab'.repeat(28)), [])
  },
  async 'reports a transaction that was never submitted as unknown'({ layer1 }) {
    assert.deepEqual(await layer1.status(unknownId), { kind: 'unknown' })
    await failsWith('LAYER1_TIMEOUT', layer1.await(unknownId, { timeoutMs: 50 }))
  },
  async 'ends a call when its signal aborts'({ layer1, keys }) {
    const reason = new Error('enough')
    const aborted = AbortSignal.abort(reason)
    await assert.rejects(layer1.utxosAt(keys.addressText, { signal: aborted }), reason)
    const controller = new AbortController()
    const waiting = layer1.await(unknownId, { signal: controller.signal })
    controller.abort(reason)
    await assert.rejects(waiting, reason)
  },
}
