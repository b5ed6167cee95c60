import {
  byReference,
  type OutputReference,
  outputReferenceKey,
  type Transaction,
  type Utxo,
} from '@ratatosk/ledger'
import type { Spending } from '../types.js'

/** The spending of an output by a transaction; `outputAt` is undefined for unknown references. */
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
