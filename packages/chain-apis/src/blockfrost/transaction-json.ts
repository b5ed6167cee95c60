import { hexOrNull } from '@ratatosk/cbor'
import {
  blake2b256,
  type Rational,
  type Redeemer,
  slotToTime,
  type TransactionOutput,
  type Value,
} from '@ratatosk/ledger'
import { addressText } from '../view/address-text.js'
import type { AddressTransaction, ChainOutput, ChainView } from '../view/chain-view.js'

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

/** Blockfrost's times are whole seconds. */
export function seconds(milliseconds: bigint): number {
  return Number(milliseconds / 1000n)
}

/** A transaction in a list. */
export function placedJson(chain: ChainView, { hash, place: { block, position } }: AddressTransaction) {
  return {
    tx_hash: hash,
    tx_index: position,
    block_height: block.height,
    block_time: seconds(slotToTime(chain.slots, block.slot)),
  }
}

/** A redeemer with the price of its execution units. */
export function redeemerJson(
  { parameters }: ChainView,
  { purpose, index, executionUnits }: Pick<Redeemer, 'purpose' | 'index' | 'executionUnits'>,
  dataHash: string,
) {
  const { memory, steps } = executionUnits
  const prices = parameters.executionPrices
  return {
    tx_index: index,
    purpose,
    redeemer_data_hash: dataHash,
    datum_hash: dataHash,
    unit_mem: String(memory),
    unit_steps: String(steps),
    fee: String(cost(prices.memory, memory, prices.steps, steps)),
  }
}

/** The price of execution units in lovelace, rounded up. */
function cost(memoryPrice: Rational, memory: bigint, stepPrice: Rational, steps: bigint): bigint {
  const denominator = memoryPrice.denominator * stepPrice.denominator
  const numerator =
    memoryPrice.numerator * memory * stepPrice.denominator +
    stepPrice.numerator * steps * memoryPrice.denominator
  return (numerator + denominator - 1n) / denominator
}
