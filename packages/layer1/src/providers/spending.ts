import {
  byReference,
  type OutputReference,
  outputReferenceKey,
  type Transaction,
  type Utxo,
} from '@ratatosk/ledger'
import type { Spending } from '../types.js'

/**
 * How a transaction spends an output.
 *
 * @param outputAt an output that the transaction refers to; undefined if it is not known
 */
export function spendingBy(
  { id, body, witnesses }: Transaction,
  reference: OutputReference,
  outputAt: (reference: OutputReference) => Pick<Utxo, 'output'> | undefined,
): Spending {
  const key = outputReferenceKey(reference)
  const place = [...body.inputs].sort(byReference).findIndex((each) => outputReferenceKey(each) === key)
  const redeemer = witnesses.redeemers.find(({ purpose, index }) => purpose === 'spend' && index === place)
  const referenceInputs = [...body.referenceInputs].sort(byReference).flatMap((each) => {
    const found = outputAt(each)
    return found === undefined ? [] : { reference: each, output: found.output }
  })
  return {
    transactionId: id,
    ...(redeemer && { redeemer: redeemer.data }),
    ...(referenceInputs.length === body.referenceInputs.length && { referenceInputs }),
  }
}
