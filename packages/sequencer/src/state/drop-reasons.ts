import { toHex } from '@ratatosk/cbor'
import { decodeTransaction } from '@ratatosk/ledger'
import type { DropReason, OrderedTransaction } from '@ratatosk/store'

/** Why a transaction must go whose parent was dropped; undefined if it may stay. */
export function orphanOf(
  { cbor }: OrderedTransaction,
  dropped: ReadonlyMap<string, DropReason>,
): DropReason | undefined {
  for (const transactionId of namedBy(cbor)) {
    const id = toHex(transactionId)
    if (dropped.has(id))
      return reasonOf(
        'BadInputsUTxO',
        `The transaction names an output of transaction ${id}, which was dropped from the mempool`,
        { transaction: id },
      )
  }
  return undefined
}

/** The ids of the transactions and deposits whose outputs a transaction names. */
export function namedBy(cbor: Uint8Array): readonly Uint8Array[] {
  const { inputs, collateralInputs, referenceInputs } = decodeTransaction(cbor).body
  return [...inputs, ...collateralInputs, ...referenceInputs].map(({ transactionId }) => transactionId)
}

export function reasonOf(
  code: string,
  message: string,
  details: { readonly [key: string]: string },
): DropReason {
  return { code, message, details: [{ predicate: code, message, details }] }
}
