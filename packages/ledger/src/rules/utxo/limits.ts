import type { Transaction } from '../../transaction/types.js'
import type { RuleContext } from '../context.js'
import type { Findings } from '../failures.js'
import { defaultMaxReferenceScriptsSize, totalExecutionUnits, transactionSize } from './fee.js'

/** UTXO: MaxTxSizeUTxO. */
export function validateSize(
  transaction: Transaction,
  { parameters }: RuleContext,
  findings: Findings,
): void {
  const size = transactionSize(transaction)
  const maximum = parameters.maxTransactionSize
  if (size <= maximum) return
  findings.add('MaxTxSizeUTxO', `The transaction has ${size} bytes, at most ${maximum} are allowed`, {
    size,
    maximum,
  })
}

/** UTXO: ExUnitsTooBigUTxO. */
export function validateExecutionUnits(
  transaction: Transaction,
  { parameters }: RuleContext,
  findings: Findings,
): void {
  if (transaction.witnesses.redeemers.length === 0) return
  const declared = totalExecutionUnits(transaction)
  const maximum = parameters.maxTransactionExecutionUnits
  if (declared.memory <= maximum.memory && declared.steps <= maximum.steps) return
  findings.add(
    'ExUnitsTooBigUTxO',
    `The redeemers declare ${declared.memory} memory units and ${declared.steps} steps, ` +
      `at most ${maximum.memory} and ${maximum.steps} are allowed`,
    {
      declared: { memory: String(declared.memory), steps: String(declared.steps) },
      maximum: { memory: String(maximum.memory), steps: String(maximum.steps) },
    },
  )
}

/** UTXO: TooManyCollateralInputs. Applies to every transaction, with or without scripts. */
export function validateCollateralCount(
  transaction: Transaction,
  { parameters }: RuleContext,
  findings: Findings,
): void {
  const count = transaction.body.collateralInputs.length
  const maximum = parameters.maxCollateralInputs
  if (count <= maximum) return
  findings.add(
    'TooManyCollateralInputs',
    `There are ${count} collateral inputs, at most ${maximum} are allowed`,
    {
      count,
      maximum,
    },
  )
}

/** LEDGER: ConwayTxRefScriptsSizeTooBig. Applies only to transactions that are marked valid. */
export function validateReferenceScriptsSize(
  transaction: Transaction,
  { parameters }: RuleContext,
  referenceScriptsSize: number,
  findings: Findings,
): void {
  const maximum = parameters.maxReferenceScriptsSize ?? defaultMaxReferenceScriptsSize
  if (!transaction.isValid || referenceScriptsSize <= maximum) return
  findings.add(
    'ConwayTxRefScriptsSizeTooBig',
    `The reference scripts have ${referenceScriptsSize} bytes, at most ${maximum} are allowed`,
    { size: referenceScriptsSize, maximum },
  )
}
