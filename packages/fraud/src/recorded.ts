import {
  decodeTransactionRecord,
  partsOf,
  type TransactionParts,
  type TransactionRecord,
  transactionKey,
} from '@ratatosk/block'
import { equalBytes } from '@ratatosk/cbor'
import { blake2b256 } from '@ratatosk/ledger'
import type { AccusedBlock } from './accused-block.js'

/** A transaction of a block whose body is the one that its record commits to, so that it can be opened. */
export interface Recorded {
  readonly position: number
  readonly record: TransactionRecord
  readonly parts: TransactionParts
  /** Whether the record commits to its witness set too. */
  readonly isWitnessed: boolean
}

/** The transaction at a position; undefined if the block has another one, or none. */
export function recordedAt(block: AccusedBlock, position: number): Recorded | undefined {
  const bytes = block.transactions[position]
  const record = transactionRecordIn(block.valueOf(transactionKey(position)))
  if (bytes === undefined || record === undefined) return undefined
  const parts = partsOf(bytes)
  if (!equalBytes(record.id, parts.id)) return undefined
  const isWitnessed = equalBytes(record.witnessSetHash, blake2b256(parts.witnessSet))
  return { position, record, parts, isWitnessed }
}

/** A transaction's record in a value of the transactions map; undefined for any other value. */
export function transactionRecordIn(value: Uint8Array | undefined): TransactionRecord | undefined {
  try {
    const record = value && decodeTransactionRecord(value)
    return record?.kind === 'transaction' ? record : undefined
  } catch (error) {
    // A fraud that the ledger policy proves.
    if (error instanceof RangeError) return undefined
    throw error
  }
}
