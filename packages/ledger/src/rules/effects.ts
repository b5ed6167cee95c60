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

/** A transaction and its effects in bytes, as what keeps the unspent outputs takes them. */
export interface AppliedTransaction {
  /** 32 bytes. */
  readonly id: Uint8Array
  readonly cbor: Uint8Array
  readonly spent: readonly OutputReference[]
  /** `output`: CBOR; `address`: bytes. */
  readonly produced: readonly {
    readonly reference: OutputReference
    readonly output: Uint8Array
    readonly address: Uint8Array
  }[]
}

/** @param known the transaction's effects, if they are known */
export function appliedTransaction(
  transaction: Transaction,
  known: Effects = effects(transaction),
): AppliedTransaction {
  const { spent, produced } = known
  return {
    id: transaction.id,
    cbor: transaction.bytes,
    spent,
    produced: produced.map(({ reference, output }) => ({
      reference,
      output: output.bytes,
      address: output.address.bytes,
    })),
  }
}
