import type { ProtocolParameters, Rational } from '../../parameters/types.js'
import type { Transaction } from '../../transaction/types.js'
import type { RuleContext } from '../context.js'
import type { Findings } from '../verdict.js'

/** Reference scripts are priced in tiers of this many bytes … */
const TIER_SIZE = 25_600
/** … each dearer than the one before by this factor. Both are fixed by the Conway ledger. */
const TIER_FACTOR: Rational = { numerator: 6n, denominator: 5n }
/** Conway's bound on the reference scripts that one transaction touches, in bytes. */
export const DEFAULT_MAX_REFERENCE_SCRIPTS_SIZE = 204_800

/**
 * The size that fees and the size limit count, in bytes: the transaction as submitted without its `is_valid` flag.
 * (The ledger adds up body, witnesses and auxiliary data behind a list header of one byte.)
 */
export function transactionSize(transaction: Transaction): number {
  const auxiliaryData = transaction.auxiliaryData?.bytes.length ?? 1
  return 1 + transaction.body.bytes.length + transaction.witnesses.bytes.length + auxiliaryData
}

/**
 * The least fee in lovelace: `minFeeA × size + minFeeB`, the execution units that the redeemers declare at their
 * prices (rounded up), and the reference scripts that are touched (tiered, rounded down).
 *
 * @param referenceScriptsSize bytes of all reference scripts on spent and referenced outputs; a script that is there
 *   twice counts twice
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

/** Lovelace for reference scripts of `size` bytes in all: each tier of 25,600 bytes costs 1.2 times the one before. */
export function referenceScriptsFee(size: number, costPerByte: Rational): bigint {
  let { numerator: price, denominator } = costPerByte
  let sum = 0n
  let left = size
  // Everything is kept over one common denominator, so that only the end is rounded.
  while (left >= TIER_SIZE) {
    sum = (sum + BigInt(TIER_SIZE) * price) * TIER_FACTOR.denominator
    price *= TIER_FACTOR.numerator
    denominator *= TIER_FACTOR.denominator
    left -= TIER_SIZE
  }
  return (sum + BigInt(left) * price) / denominator
}

/** Execution units that all redeemers declare together. */
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

/** UTXO: FeeTooSmallUTxO. Without the outputs that are spent, `referenceScriptsSize` 0 gives a lower bound. */
export function judgeFee(
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
