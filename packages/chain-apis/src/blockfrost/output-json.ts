import { hexOrNull } from '@ratatosk/cbor'
import { blake2b256, type TransactionOutput, type Value } from '@ratatosk/ledger'
import { addressText } from '../view/address-text.js'
import type { ChainOutput } from '../view/chain-view.js'

/** A quantity of a unit. */
export interface Amount {
  readonly unit: string
  readonly quantity: string
}

/** Lovelace, then the assets in the order of their units. */
export function amountJson({ lovelace, assets }: Value): Amount[] {
  const amount: Amount[] = []
  for (const [policy, names] of assets) {
    for (const [name, quantity] of names) amount.push({ unit: policy + name, quantity: String(quantity) })
  }
  return [{ unit: 'lovelace', quantity: String(lovelace) }, ...amount.sort(byUnit)]
}

export function byUnit(a: Amount, b: Amount): number {
  if (a.unit === b.unit) return 0
  return a.unit < b.unit ? -1 : 1
}

export function outputJson({ address, value, datum, referenceScript }: TransactionOutput) {
  const inline = datum.kind === 'inline' ? datum.data : undefined
  const hash = datum.kind === 'hash' ? datum.hash : inline && blake2b256(inline)
  return {
    address: addressText(address),
    amount: amountJson(value),
    data_hash: hexOrNull(hash),
    inline_datum: hexOrNull(inline),
    reference_script_hash: hexOrNull(referenceScript?.hash),
  }
}

export function utxoJson({ transactionHash, index, output, created }: ChainOutput) {
  return {
    ...outputJson(output),
    tx_hash: transactionHash,
    tx_index: index,
    output_index: index,
    block: created.block.hash,
  }
}
