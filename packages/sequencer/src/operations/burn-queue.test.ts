import { BytesMap, BytesSet, fromHex, toHex } from '@ratatosk/cbor'
import { outputReferenceKey, type Utxo } from '@ratatosk/ledger'
import type { TransactionDraft } from '@ratatosk/ledger/builder'
import { expect, test } from 'vitest'
import { Cache } from '../cache.js'
import type { SequencerContext } from '../context.js'
import { contractsOf } from '../test/rollup-contracts.js'
import { burnQueue } from './burn-queue.js'

const contracts = contractsOf(20_000n)
const { policy, address } = contracts.scripts.queue

function element(n: number): Utxo {
  const transactionId = new Uint8Array(32)
  new DataView(transactionId.buffer).setUint32(0, n)
  return {
    reference: { transactionId, index: 0 },
    output: {
      address: { bytes: address },
      value: { lovelace: 2_000_000n, assets: new Map([[policy, new Map([[toHex(transactionId), 1n]])]]) },
      datum: { kind: 'none' },
    },
  } as unknown as Utxo
}

/** Layer 1 as far as burning needs it; the transaction of number `failing` is refused once. */
function scene(elements: number, failing = 0) {
  const unspent = new Map(
    Array.from({ length: elements }, (_, n) => element(n)).map((utxo) => [
      outputReferenceKey(utxo.reference),
      utxo,
    ]),
  )
  const counts = { reads: 0, transactions: 0 }
  const inputsOf = new BytesMap<readonly string[]>()
  const confirmed = new BytesSet()
  const administrator = {
    address: 'administrator',
    async build({ inputs = [] }: TransactionDraft) {
      counts.transactions++
      const id = Uint8Array.of(counts.transactions)
      inputsOf.set(
        id,
        inputs.map(({ utxo }) => outputReferenceKey(utxo.reference)),
      )
      return { id, bytes: fromHex('00') }
    },
    async submit({ id }: { id: Uint8Array }) {
      if (id[0] === failing) throw new Error('the process was killed')
      for (const key of inputsOf.get(id) ?? []) unspent.delete(key)
      confirmed.add(id)
    },
    release: () => undefined,
  }
  const layer1 = {
    async utxosByPolicy() {
      counts.reads++
      return [...unspent.values()]
    },
    utxosAt: async () => [],
    utxosByUnit: async () => [],
    currentSlot: async () => 0n,
    tip: async () => ({ slot: 0n }),
    status: async (id: Uint8Array) => ({ kind: confirmed.has(id) ? 'confirmed' : 'unknown' }),
    utxosByReferences: async (references: readonly Utxo['reference'][]) =>
      references.flatMap((reference) => unspent.get(outputReferenceKey(reference)) ?? []),
  }
  const context = {
    contracts,
    administrator: { wallet: administrator },
    layer1,
    log: { info: () => undefined, warn: () => undefined, error: () => undefined },
    cache: new Cache(),
    slots: { zeroTime: 0n, zeroSlot: 0n, slotLength: 1000 },
    options: { maxUnconfirmed: 8, pollMs: 1 },
    pause: async () => undefined,
    step: () => undefined,
  } as unknown as SequencerContext
  return { context, counts, unspent }
}

test('burns a week-long queue with two reads and a hundred elements a transaction', async () => {
  const { context, counts, unspent } = scene(10_080)
  expect(await burnQueue(context)).toBe(true)
  expect(unspent.size).toBe(0)
  expect(counts).toEqual({ reads: 2, transactions: 101 })
  expect(await burnQueue(context)).toBe(false)
})

test('burns the rest when it is called again after an interruption', async () => {
  const { context, unspent } = scene(120, 2)
  await expect(burnQueue(context)).rejects.toThrow('the process was killed')
  expect(unspent.size).toBe(20)
  expect(await burnQueue(context)).toBe(true)
  expect(unspent.size).toBe(0)
})
