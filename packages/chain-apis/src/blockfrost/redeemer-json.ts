import type { Rational, Redeemer } from '@ratatosk/ledger'
import type { ChainView } from '../view/chain-view.js'

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
