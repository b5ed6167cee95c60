import { blake2b256 } from '@ratatosk/ledger'
import { bytes, Column, whole } from './column.js'
import type { OutputTable } from './output-table.js'
import type { TransactionParts } from './parts.js'
import { encodeTransactionRecord, transactionRecordLength as recordLength, resolvedAt } from './records.js'

/** The records of a block's transactions, and the outputs they name; in columns, like {@link OutputTable}. */
export interface AppliedTransactions {
  readonly size: number
  /** Adds the next transaction. @param fee lovelace */
  add(parts: Pick<TransactionParts, 'id' | 'witnessSet' | 'body'>, fee: bigint): void
  /** Adds an output that the transaction added last names: its inputs, then its reference inputs. */
  addResolved(output: number): void
  /** Completes a record once the hashes of all outputs are known. */
  resolve(position: number, outputs: OutputTable): void
  record(position: number): Uint8Array
}

const unknown = new Uint8Array(32)

export function createAppliedTransactions(): AppliedTransactions {
  const records = new Column(bytes, recordLength)
  let size = 0
  let feesSoFar = 0n
  const resolved = new Column(whole)
  let count = 0
  /** Where the outputs of each transaction end in `resolved`. */
  const ends = new Column(whole)
  let hashes = new Uint8Array(1024)

  return {
    get size() {
      return size
    },

    add({ id, witnessSet, body }, fee) {
      const position = size++
      feesSoFar = BigInt.asUintN(64, feesSoFar + fee)
      const witnessSetHash = blake2b256(witnessSet)
      const lengths = { bodyLength: body.length, witnessSetLength: witnessSet.length }
      encodeTransactionRecord(
        { kind: 'transaction', id, witnessSetHash, resolved: unknown, feesSoFar, ...lengths },
        records.view(position),
      )
      ends.set(position, count)
    },

    addResolved(output) {
      resolved.set(count++, output)
      ends.set(size - 1, count)
    },

    resolve(position, outputs) {
      const start = position === 0 ? 0 : ends.get(position - 1)
      const length = 32 * (ends.get(position) - start)
      if (length > hashes.length) hashes = new Uint8Array(2 * length)
      for (let i = 0; 32 * i < length; i++) outputs.copyHash(resolved.get(start + i), hashes, 32 * i)
      records.view(position).set(blake2b256(hashes.subarray(0, length)), resolvedAt)
    },

    record: (position) => records.view(position),
  }
}
