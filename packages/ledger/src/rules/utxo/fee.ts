import type { ProtocolParameters, Rational } from '../../parameters/types.js'
import type { Transaction } from '../../transaction/types.js'
import type { RuleContext } from '../context.js'
import type { Findings } from '../failures.js'

/** Size of a price tier of reference scripts in bytes, fixed by the Conway ledger. */
const tierSize = 25_600
/** The factor from the price of a tier to that of the next, fixed by the Conway ledger. */
const tierFactor: Rational = { numerator: 6n, denominator: 5n }
/** Conway's limit on the total size of the reference scripts that a transaction uses, in bytes. */
export const defaultMaxReferenceScriptsSize = 204_800

/**
 * Returns the size that determines the fee and is subject to the size limit, in bytes: the size of the
 * transaction as submitted, without its `is_valid` flag. (The ledger adds body, witnesses, auxiliary data and
 * one byte for the list header.)
 */
export function transactionSize(transaction: Transaction): number {
  const auxiliaryData = transaction.auxiliaryData?.bytes.length ?? 1
  return 1 + transaction.body.bytes.length + transaction.witnesses.bytes.length + auxiliaryData
}

/**
 * Returns the minimum fee in lovelace: `minFeeA × size + minFeeB`, plus the price of the declared execution
 * units (rounded up), plus the price of the reference scripts (see {@link referenceScriptsFee}).
 *
 * @param referenceScriptsSize total size in bytes of the reference scripts on spent and referenced outputs;
 *   duplicates count each time
 */
export function minimumFee(
  transaction: Transaction,
  parameters: ProtocolParameters,
  referenceScriptsSize: number,
): bigint {
  const linear = parameters.minFeeA * BigInt(transactionSize(transaction)) + parameters.minFeeB
  if (transaction.witnesses.redeemers.length === 0 && referenceScriptsSize === 0) return linear
  return (
    linear +
    executionUnitsFee(transaction, parameters) +
    referenceScriptsFee(referenceScriptsSize, parameters.referenceScriptCostPerByte)
  )
}

/**
 * Returns the price in lovelace of reference scripts with a total size of `size` bytes, rounded down. Each
 * tier of 25,600 bytes costs 1.2 times as much per byte as the one before.
 *
 * @param costPerByte lovelace per byte in the first tier
 */
export function referenceScriptsFee(size: number, costPerByte: Rational): bigint {
  let { numerator: price, denominator } = costPerByte
  let sum = 0n
  let left = size
  // All terms share one denominator, so that only the result is rounded.
  while (left >= tierSize) {
    sum = (sum + BigInt(tierSize) * price) * tierFactor.denominator
    price *= tierFactor.numerator
    denominator *= tierFactor.denominator
    left -= tierSize
  }
  return (sum + BigInt(left) * price) / denominator
}

/** The sum of the execution units that the redeemers declare. */
export function totalExecutionUnits(transaction: Transaction): { memory: bigint; steps: bigint } {
  let memory = 0n
  let steps = 0n
  for (const { executionUnits } of transaction.witnesses.redeemers) {
    memory += executionUnits.memory
    steps += executionUnits.steps
  }
  return { memory, steps }
}

function executionUnitsFee(transaction: Transaction, { executionPrices }: ProtocolParameters): bigint {
  const units = totalExecutionUnits(transaction)
  const { memory, steps } = executionPrices
  const numerator =
    units.memory * memory.numerator * steps.denominator + units.steps * steps.numerator * memory.denominator
  const denominator = memory.denominator * steps.denominator
  return (numerator + denominator - 1n) / denominator
}

/** UTXO: FeeTooSmallUTxO. If the spent outputs are unknown, `referenceScriptsSize` 0 yields a lower bound. */
export function validateFee(
  transaction: Transaction,
  { parameters }: RuleContext,
  referenceScriptsSize: number,
  findings: Findings,
): void {
  const required = minimumFee(transaction, parameters, referenceScriptsSize)
  const { fee } = transaction.body
  if (fee >= required) return
  findings.add('FeeTooSmallUTxO', `The fee is ${fee} lovelace, at least ${required} are required`, {
    requiredFee: String(required),
    fee: String(fee),
    size: transactionSize(transaction),
    referenceScriptsSize,
  })
}
