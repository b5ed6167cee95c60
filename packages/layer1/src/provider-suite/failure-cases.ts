import assert from 'node:assert/strict'
import { equalBytes } from '@ratatosk/cbor'
import { decodeBech32Address, encodeBech32Address } from '@ratatosk/ledger'
import type { Layer1ErrorCode } from '../errors.js'
import type { Layer1 } from '../types.js'
import { failsWith } from './expect.js'
import type { ProviderHarness, Scenes, SuiteFault, SuiteOperation } from './harness.js'
import { included, walletOf } from './transaction-cases.js'

const codes: readonly (readonly [SuiteFault, Layer1ErrorCode])[] = [
  ['time-out', 'LAYER1_TIMEOUT'],
  ['refusal', 'LAYER1_UNREACHABLE'],
  ['rate-limit', 'LAYER1_RATE_LIMITED'],
  ['failure', 'LAYER1_PROVIDER_ERROR'],
  ['garbage', 'LAYER1_INVALID_ANSWER'],
]

/** Failures, and the errors that report them. */
export const failureScenes: Scenes = {
  async 'rejects an invalid transaction with a reason'(harness) {
    const { layer1, emptyKeys, produceBlock } = harness
    const wallet = walletOf(harness)
    const rival = walletOf(harness)
    const draft = { outputs: [{ address: emptyKeys.addressText, lovelace: 5_000_000n }] }
    const first = await wallet.build(draft)
    const second = await rival.build({
      ...draft,
      inputs: first.spent.map((utxo) => ({ utxo })),
      validFrom: 0n,
    })
    assert.ok(!equalBytes(second.id, first.id))
    await wallet.submit(first)
    await produceBlock()
    await layer1.await(first.id)
    const stolen = await walletOf(harness).build(draft)
    const broken = Uint8Array.from(stolen.bytes)
    const signature = Buffer.from(broken).indexOf(
      Buffer.from(stolen.transaction.witnesses.keyWitnesses[0]?.signature ?? []),
    )
    broken[signature] = (broken[signature] ?? 0) ^ 1
    const error = await failsWith('LAYER1_REJECTED', layer1.submit(broken))
    assert.ok(error.reason)
    assert.equal(error.mayHaveEffect, false)
    const late = await failsWith('LAYER1_REJECTED', layer1.submit(second.bytes))
    assert.ok(late.reason)
    const malformed = await failsWith('LAYER1_REJECTED', layer1.submit(Uint8Array.of(0x80)))
    assert.ok(malformed.reason)
    await failsWith('LAYER1_REJECTED', layer1.evaluate(Uint8Array.of(0x80)))
  },
  async 'refuses an address of another network'({ layer1, keys }) {
    const { bytes } = decodeBech32Address(keys.addressText)
    const foreign = Uint8Array.from(bytes)
    foreign[0] = (foreign[0] ?? 0) ^ 1
    const address = { ...keys.address, bytes: foreign, networkId: 1 - layer1.networkId }
    await failsWith('LAYER1_WRONG_NETWORK', layer1.utxosAt(encodeBech32Address(address)))
  },
  async 'reports that the block of a transaction was rolled back'(harness) {
    const { layer1, emptyKeys, rollBack } = harness
    const wallet = walletOf(harness)
    const outputs = [{ address: emptyKeys.addressText, lovelace: 2_000_000n }]
    const built = await included(harness, wallet, { outputs })
    const deeper = failsWith(
      'LAYER1_ROLLED_BACK',
      layer1.await(built.id, { confirmations: 1, timeoutMs: 10_000 }),
    )
    // The wait has to see the transaction in its block first.
    for (let polls = 0; polls < 5; polls++) await layer1.status(built.id)
    await new Promise((resolve) => setTimeout(resolve, 300))
    await rollBack(1)
    await deeper
    assert.deepEqual(await layer1.utxosAt(emptyKeys.addressText), [])
    assert.deepEqual(await layer1.submit(built.bytes), built.id)
    await harness.produceBlock()
    await layer1.await(built.id)
  },
  async 'keeps the inputs reserved if the answer to a submission is lost'(harness) {
    const { layer1, emptyKeys, inject, produceBlock } = harness
    const wallet = walletOf(harness)
    const built = await wallet.build({
      outputs: [{ address: emptyKeys.addressText, lovelace: 2_000_000n }],
    })
    inject('lost-answer', 'submit', 1)
    const answer = await wallet.submit(built).catch((error: unknown) => error)
    // Either the transaction is found in the mempool, or the error says that it may be there.
    if (answer instanceof Uint8Array) assert.deepEqual(answer, built.id)
    else assert.equal((await failsWith('LAYER1_UNREACHABLE', Promise.reject(answer))).mayHaveEffect, true)
    assert.ok(wallet.isInFlight(built.id), 'its inputs stay reserved')
    await produceBlock()
    await layer1.await(built.id)
    assert.deepEqual(await wallet.submit(built), built.id)
    assert.equal((await layer1.utxosAt(emptyKeys.addressText)).length, 1)
  },
}

/** Faults of the server, one after which a call succeeds, and those that last. */
export const faultScenes = codes.flatMap(([fault, code]) => [
  {
    name: `retries a read after a ${fault}, and reports "${code}" if it lasts`,
    fault,
    run: (harness: ProviderHarness) => retriesReads(harness, fault, code),
  },
  {
    name: `retries a submission after a ${fault}, and reports "${code}" if it lasts`,
    fault,
    run: (harness: ProviderHarness) => retriesSubmissions(harness, fault, code),
  },
])

async function retriesReads(harness: ProviderHarness, fault: SuiteFault, code: Layer1ErrorCode) {
  const { layer1, inject, clearFaults } = harness
  await layer1.tip()
  for (const [operation, read] of reads(harness)) {
    inject(fault, operation, 1)
    await read(layer1)
    inject(fault, operation, Number.POSITIVE_INFINITY)
    await failsWith(code, read(layer1))
    clearFaults()
  }
}

async function retriesSubmissions(harness: ProviderHarness, fault: SuiteFault, code: Layer1ErrorCode) {
  const { layer1, emptyKeys, inject, clearFaults, produceBlock } = harness
  const wallet = walletOf(harness)
  const outputs = [{ address: emptyKeys.addressText, lovelace: 2_000_000n }]
  inject(fault, 'submit', 1)
  const first = await wallet.send({ outputs })
  inject(fault, 'submit', Number.POSITIVE_INFINITY)
  const second = await wallet.build({ outputs })
  await failsWith(code, wallet.submit(second))
  clearFaults()
  assert.ok(wallet.isInFlight(second.id), 'its inputs stay reserved')
  assert.deepEqual(await wallet.submit(second), second.id)
  await produceBlock()
  await layer1.await(first.id)
  await layer1.await(second.id)
}

function reads({ keys }: ProviderHarness): readonly [SuiteOperation, (layer1: Layer1) => Promise<unknown>][] {
  return [
    ['utxos', (layer1) => layer1.utxosAt(keys.addressText)],
    ['tip', (layer1) => layer1.tip()],
  ]
}
