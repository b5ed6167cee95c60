import { hexOrNull } from '@ratatosk/cbor'
import { blake2b256, type TransactionOutput, type Value } from '@ratatosk/ledger'
import { TooManyOutputsError } from '../limited-outputs.js'
import { addressText } from '../view/address-text.js'
import type { ChainOutput } from '../view/chain-view.js'

export function amountJson({ lovelace, assets }: Value): { unit: string; quantity: string }[] {
  const amount = [{ unit: 'lovelace', quantity: String(lovelace) }]
  for (const [policy, names] of assets) {
    for (const [name, quantity] of names) amount.push({ unit: policy + name, quantity: String(quantity) })
  }
  return amount
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

/** The most units of a total, which is built in memory. An output holds about a thousand at most. */
const maxUnits = 20_000

/** The sum of several outputs. `add` throws {@link TooManyOutputsError} beyond 20,000 units. */
export class Total {
  readonly #quantities = new Map<string, bigint>([['lovelace', 0n]])
  outputs = 0

  add(outputs: readonly ChainOutput[]): this {
    this.outputs += outputs.length
    for (const { output } of outputs) {
      for (const { unit, quantity } of amountJson(output.value)) {
        this.#quantities.set(unit, (this.#quantities.get(unit) ?? 0n) + BigInt(quantity))
      }
      if (this.#quantities.size > maxUnits)
        throw new TooManyOutputsError(maxUnits, 'assets are in the outputs')
    }
    return this
  }

  get lovelace(): bigint {
    return this.#quantities.get('lovelace') ?? 0n
  }

  /** Lovelace first. */
  json(): { unit: string; quantity: string }[] {
    return Array.from(this.#quantities, ([unit, quantity]) => ({ unit, quantity: String(quantity) }))
  }
}
