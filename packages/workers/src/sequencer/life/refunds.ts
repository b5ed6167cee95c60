import type { Utxo } from '@ratatosk/layer1'
import { decodeAddress, encodeBech32Address, outputReferenceKey } from '@ratatosk/ledger'
import type { Link } from './links.js'
import type { Work } from './work.js'

/** So many that they become fewer with each merge, which makes one. */
const collectedAtOnce = 10

/** Of an operator's key without a staking part, bech32. */
export function refundAddress(operator: Uint8Array, networkId: 0 | 1): string {
  const address = decodeAddress(Uint8Array.of(0x60 | networkId, ...operator))
  if (address.kind === 'byron') throw new TypeError('a key has no address of Byron')
  return encodeBech32Address(address)
}

/**
 * Outputs by which merges gave the ada of earlier blocks back. They are at the operator's key without a staking part, so the wallet may
 * not see them: whoever merges next collects them, or the wallet would run dry.
 *
 * @param links whose inputs are spoken for
 */
export async function refundsToCollect(
  { layer1, operator, signal }: Work,
  links: readonly Link[],
): Promise<readonly Utxo[]> {
  const address = refundAddress(operator.keys.payment.hash, layer1.networkId)
  if (address === operator.address) return []
  const spent = new Set(links.flatMap(({ transaction }) => transaction.body.inputs.map(outputReferenceKey)))
  const utxos = await layer1.utxosAt(address, { signal })
  // Anybody can leave anything there: what is no refund is none of our business.
  const refunds = utxos.filter(
    ({ reference, output: { value, datum, referenceScript } }) =>
      value.assets.size === 0 &&
      datum.kind === 'inline' &&
      referenceScript === undefined &&
      !spent.has(outputReferenceKey(reference)),
  )
  return refunds.slice(0, collectedAtOnce)
}
