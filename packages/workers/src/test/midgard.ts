import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { decodeTransaction, decodeTransactionOutput, fromHex } from '@ratatosk/ledger'
import type { LedgerEntry } from '@ratatosk/store'

export interface SignedTransaction {
  /** Hex. */
  readonly id: string
  readonly cbor: Uint8Array
}

const folder = join(
  resolve(import.meta.dirname, '../../../..', process.env.RATATOSK_VECTORS ?? '../shared/vectors'),
  'midgard-txs',
)

/** Why tests on Midgard's transactions cannot run here. */
export const midgardMissing: string | undefined = existsSync(folder)
  ? undefined
  : `no midgard-txs under RATATOSK_VECTORS (${folder})`
if (midgardMissing !== undefined && process.env.CI) throw new Error(midgardMissing)

/** 1,000 signed transactions, one chain, in order. */
export function midgardTransactions(file: 'txs_0.json' | 'txs_1.json'): SignedTransaction[] {
  const transactions: { txId: string; cborHex: string }[] = JSON.parse(
    readFileSync(join(folder, file), 'utf8'),
  )
  return transactions.map(({ txId, cborHex }) => ({ id: txId, cbor: fromHex(cborHex) }))
}

/** The output that the first of a chain spends: the same as it makes, since it pays no fee, without the datum. */
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
