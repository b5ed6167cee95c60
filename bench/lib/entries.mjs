// A store's input without a node: the ledger's first outputs, and transactions as validation accepts them.
import { fromHex } from '@ratatosk/cbor'
import { decodeTransaction, decodeTransactionOutput, effects } from '@ratatosk/ledger'

function entryOf(reference, bytes) {
  const { address } = decodeTransactionOutput(bytes)
  // Stores of older checkouts take the payment credential too.
  return { reference, output: bytes, address: address.bytes, paymentCredential: address.payment.hash }
}

/** Outputs of `makeTransfers`, as the store takes them. */
export function ledgerEntries(genesis) {
  return genesis.map(({ outref, output }) =>
    entryOf(
      { transactionId: fromHex(outref.slice(0, 64)), index: Number(outref.slice(65)) },
      fromHex(output),
    ),
  )
}

export function acceptedTransaction(cbor) {
  const transaction = decodeTransaction(cbor)
  const { spent, produced } = effects(transaction)
  return {
    id: transaction.id,
    cbor,
    spent,
    produced: produced.map(({ reference, output }) => entryOf(reference, output.bytes)),
  }
}
