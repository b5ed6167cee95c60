import type { Utxo } from '@ratatosk/layer1'
import { decodeTransaction, effects, equalBytes, outputReferenceKey } from '@ratatosk/ledger'
import type { FaucetPaymentDraft } from './types.js'

/**
 * The outputs at an address that a further payment may spend.
 *
 * @param unspent what the ledger has at the address
 * @param underWay payments that spend from it, in their order
 * @param which `now`: what payments make that the network has not accepted is left out; `later`: it is there, too
 */
export function spendable(
  unspent: readonly Utxo[],
  underWay: FaucetPaymentDraft['underWay'],
  address: Uint8Array,
  which: 'now' | 'later',
): readonly Utxo[] {
  const free = new Map(unspent.map((utxo) => [outputReferenceKey(utxo.reference), utxo]))
  for (const { payment, accepted } of underWay) {
    const transaction = decodeTransaction(payment.cbor)
    const inputs = transaction.body.inputs.map(outputReferenceKey)
    // Where one is gone already, the ledger knows best what has become of this payment and of its change.
    const ahead = inputs.every((key) => free.has(key))
    for (const key of inputs) free.delete(key)
    if (!ahead || (which === 'now' && !accepted)) continue
    for (const utxo of effects(transaction).produced) {
      if (equalBytes(utxo.output.address.bytes, address)) free.set(outputReferenceKey(utxo.reference), utxo)
    }
  }
  return [...free.values()]
}

/** @returns lovelace */
export function balanceOf(utxos: readonly Utxo[]): bigint {
  return utxos.reduce((sum, { output }) => sum + output.value.lovelace, 0n)
}
