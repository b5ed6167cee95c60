import type { OutputReference, Transaction, TransactionOutput } from '../transaction/types.js'

/** What including a transaction does to the unspent outputs. */
export interface Effects {
  readonly spent: readonly OutputReference[]
  readonly produced: readonly { readonly reference: OutputReference; readonly output: TransactionOutput }[]
}

/**
 * What including a transaction does: it spends its inputs and makes its outputs; or, where it says itself that its scripts
 * fail, it spends its collateral and makes the collateral return, whose index follows those of the outputs.
 */
export function effects({ id, body, isValid }: Transaction): Effects {
  if (isValid) {
    return {
      spent: body.inputs,
      produced: body.outputs.map((output, index) => ({ reference: { transactionId: id, index }, output })),
    }
  }
  const { collateralInputs, collateralReturn } = body
  const reference = { transactionId: id, index: body.outputs.length }
  return {
    spent: collateralInputs,
    produced: collateralReturn ? [{ reference, output: collateralReturn }] : [],
  }
}
