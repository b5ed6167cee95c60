import { blake2b256 } from '@ratatosk/ledger'
import { grown, type OutputTable } from './output-table.js'
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
  let records = new Uint8Array(0)
  let size = 0
  let feesSoFar = 0n
  let resolved = new Uint32Array(0)
  let count = 0
  /** Where the outputs of each transaction end in `resolved`. */
  let ends = new Uint32Array(0)
  let hashes = new Uint8Array(1024)

  const record = (position: number): Uint8Array =>
    records.subarray(position * recordLength, (position + 1) * recordLength)

  return {
    get size() {
      return size
    },

    add({ id, witnessSet, body }, fee) {
      const position = size++
      if (position === ends.length) {
        const length = Math.max(64, 2 * position)
        records = grown(records, length * recordLength)
        ends = grown(ends, length)
      }
      feesSoFar = BigInt.asUintN(64, feesSoFar + fee)
      const witnessSetHash = blake2b256(witnessSet)
      const lengths = { bodyLength: body.length, witnessSetLength: witnessSet.length }
      encodeTransactionRecord(
        { kind: 'transaction', id, witnessSetHash, resolved: unknown, feesSoFar, ...lengths },
        record(position),
      )
      ends[position] = count
    },

    addResolved(output) {
      if (count === resolved.length) resolved = grown(resolved, Math.max(64, 2 * count))
      resolved[count++] = output
      ends[size - 1] = count
    },

    resolve(position, outputs) {
      const start = position === 0 ? 0 : (ends[position - 1] as number)
      const length = 32 * ((ends[position] as number) - start)
      if (length > hashes.length) hashes = new Uint8Array(2 * length)
      for (let i = 0; 32 * i < length; i++) outputs.copyHash(resolved[start + i] as number, hashes, 32 * i)
      records.set(blake2b256(hashes.subarray(0, length)), position * recordLength + resolvedAt)
    },

    record,
  }
}
