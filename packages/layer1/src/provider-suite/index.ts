import assert from 'node:assert/strict'
import { equalBytes } from '@ratatosk/cbor'
import { decodeBech32Address, encodeBech32Address, slotToTime } from '@ratatosk/ledger'
import type { Layer1ErrorCode } from '../errors.js'
import type { Layer1 } from '../types.js'
import {
  failsWith,
  type HarnessOptions,
  type ProviderHarness,
  type Scenes,
  type SuiteCase,
  type SuiteFault,
  type SuiteOperation,
} from './harness.js'
import { included, transactionScenes, walletOf } from './transaction-cases.js'

export type * from './harness.js'

/**
 * Test cases that every implementation of `Layer1` must pass.
 *
 * @param open starts a new network for one case
 * @example
 * import { providerSuite } from '@ratatosk/layer1/provider-suite'
 * import { test } from 'vitest'
 * for (const { name, run } of providerSuite(openHarness)) test(name, run)
 */
export function providerSuite(
  open: (options: HarnessOptions) => Promise<ProviderHarness>,
): readonly SuiteCase[] {
  const scene = (name: string, run: Scenes[string], shortTimeouts = false): SuiteCase => ({
    name,
    async run() {
      const harness = await open({ shortTimeouts })
      try {
        await run(harness)
      } finally {
        await harness.close()
      }
    },
  })
  const scenes = Object.entries({ ...chainScenes, ...transactionScenes, ...failureScenes })
  return [
    ...scenes.map(([name, run]) => scene(name, run)),
    ...faultScenes.map(({ name, fault, run }) => scene(name, run, fault === 'time-out')),
  ]
}

const codes: readonly (readonly [SuiteFault, Layer1ErrorCode])[] = [
  ['time-out', 'LAYER1_TIMEOUT'],
  ['refusal', 'LAYER1_UNREACHABLE'],
  ['rate-limit', 'LAYER1_RATE_LIMITED'],
  ['failure', 'LAYER1_PROVIDER_ERROR'],
  ['garbage', 'LAYER1_INVALID_ANSWER'],
]

/** Failures, and the errors that report them. */
const failureScenes: Scenes = {
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
const faultScenes = codes.flatMap(([fault, code]) => [
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

const unknownId = new Uint8Array(32)

/** Tip, time, parameters, unspent outputs. */
const chainScenes: Scenes = {
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
