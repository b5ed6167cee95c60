import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fromHex } from '@ratatosk/cbor'
import { decodeTransaction, decodeTransactionOutput } from '@ratatosk/ledger'
import { vectors, vectorsFolder } from '@ratatosk/test-vectors'
import type { LedgerEntry, SignedTransaction } from './transfers.js'

/** Why tests with Midgard's transactions must be skipped; undefined if they can run. */
export const midgardMissing: string | undefined =
  vectorsFolder('midgard-txs') === undefined
    ? `no midgard-txs under RATATOSK_VECTORS (${vectors})`
    : undefined

/** 1,000 signed transactions in order, each spending the output of the previous one. */
export function midgardTransactions(file: 'txs_0.json' | 'txs_1.json'): SignedTransaction[] {
  const transactions: { txId: string; cborHex: string }[] = JSON.parse(
    readFileSync(join(vectors, 'midgard-txs', file), 'utf8'),
  )
  return transactions.map(({ txId, cborHex }) => ({ id: txId, cbor: fromHex(cborHex) }))
}

/**
 * The output that the first transaction of a chain spends. It equals the output that the transaction
 * produces, without the datum, because the fee is zero.
 */
export function genesisOf([first]: readonly SignedTransaction[]): LedgerEntry {
  const { body } = decodeTransaction(first!.cbor)
  const reference = body.inputs[0]!
  // { 0: enterprise address on a test network, 1: 10,000 ADA }
  const output = fromHex(
    `a200581d60d4832761852f9e2755a42a3aee078e55961153f592a0be9fd7688b93011b00000002540be400`,
  )
  const { address } = decodeTransactionOutput(output)
  return {
    reference,
    output,
    address: address.bytes,
    ...('payment' in address ? { paymentCredential: address.payment.hash } : {}),
  }
}
