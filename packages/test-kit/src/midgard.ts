import { join } from 'node:path'
import { midgardChain, midgardGenesis as output, vectors, vectorsFolder } from '@ratatosk/fixtures/vectors'
import { decodeTransaction, decodeTransactionOutput } from '@ratatosk/ledger'
import type { LedgerEntry, SignedTransaction } from './transfers.js'

/** Why tests with Midgard's transactions must be skipped; undefined if they can run. */
export const midgardMissing: string | undefined =
  vectorsFolder('midgard-txs') === undefined
    ? `no midgard-txs under RATATOSK_VECTORS (${vectors})`
    : undefined

/** 1,000 signed transactions in order, each spending the output of the previous one. */
export function midgardTransactions(file: 'txs_0.json' | 'txs_1.json'): SignedTransaction[] {
  return [...midgardChain(join(vectors, 'midgard-txs'), file).transactions]
}

/** The output that the first transaction of a chain spends. */
export function genesisOf([first]: readonly SignedTransaction[]): LedgerEntry {
  const { body } = decodeTransaction(first!.cbor)
  const reference = body.inputs[0]!
  const { address } = decodeTransactionOutput(output)
  return {
    reference,
    output,
    address: address.bytes,
  }
}
