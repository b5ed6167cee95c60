import type { OutputReference, Transaction, TransactionOutput } from '../transaction/types.js'

/** The changes that a transaction makes to the unspent outputs. */
export interface Effects {
  readonly spent: readonly OutputReference[]
  readonly produced: readonly { readonly reference: OutputReference; readonly output: TransactionOutput }[]
}

/**
 * Returns the outputs that a transaction spends and produces when it is included. A transaction marked
 * invalid (`isValid` false) spends its collateral and produces its collateral return, whose index is the
 * number of its regular outputs. The transaction is not validated.
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
