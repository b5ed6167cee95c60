import { chunkKey } from '@ratatosk/block'
import { ChunkFlaw } from '@ratatosk/contracts'
import { constr, type PlutusData } from '@ratatosk/ledger/plutus-data'
import type { Proof } from '@ratatosk/trie'
import type { AccusedBlock } from './accused-block.js'
import {
  type Absent,
  type RecordOpening,
  recordData,
  type SuppliedBytes,
  stepsData,
  suppliedData,
  type TransactionOpening,
  transactionData,
} from './openings.js'

/** A chunk's record in the transactions map of a block, proven. */
export interface ChunkOpening {
  /** From 0, below 2^32. */
  readonly number: number
  /** The encoded record, 49 bytes. */
  readonly record: Uint8Array
  readonly proof: Proof
}

/** A chunk and its bytes. */
export interface ShownChunk extends ChunkOpening {
  /** One behind the other. */
  readonly parts: readonly SuppliedBytes[]
}

/** A flaw in the chunks of a block. */
export type ChunkFlawProof =
  /** Two chunks disagree about the number of chunks. */
  | { readonly flaw: 'countsDiffer'; readonly chunk: ChunkOpening; readonly other: ChunkOpening }
  /** The chunk is beyond the number of chunks, or is the first and does not begin at position 0. */
  | { readonly flaw: 'misplaced'; readonly chunk: ChunkOpening }
  /** There is no such chunk, although a chunk counts it or, for the first, there is a transaction. */
  | {
      readonly flaw: 'missing'
      readonly number: number
      readonly absent: Proof
      readonly holder: ChunkOpening | RecordOpening
    }
  /** The next chunk does not begin where the chunk ends. */
  | { readonly flaw: 'nextElsewhere'; readonly chunk: ShownChunk; readonly next: ChunkOpening }
  /** There is a transaction behind the last chunk. */
  | { readonly flaw: 'transactionsLeft'; readonly chunk: ShownChunk; readonly record: RecordOpening }
  /** The chunk has a transaction at a position without a record. */
  | {
      readonly flaw: 'inventedTransaction'
      readonly chunk: ShownChunk
      readonly absent: Absent & { readonly position: number | bigint }
    }
  /** The chunk has another body or witness set than the record of the transaction. */
  | { readonly flaw: 'otherTransaction'; readonly chunk: ShownChunk; readonly record: RecordOpening }
  /** The bytes behind a witness set do not follow from the body. `place` counts in the chunk. */
  | { readonly flaw: 'strangeRest'; readonly chunk: ShownChunk; readonly place: number }
  /** The chunk has no transactions, other frames, or is too long for its transactions. */
  | { readonly flaw: 'malformed'; readonly chunk: ShownChunk }
  /** The chunk has room for the next transaction. `rest` is what follows the witness set of that. */
  | {
      readonly flaw: 'tooShort'
      readonly chunk: ShownChunk
      readonly next: TransactionOpening
      readonly rest: SuppliedBytes
    }

/** The record of a chunk, proven. @throws RangeError if the block has no such chunk */
export function openChunk(block: AccusedBlock, number: number): ChunkOpening {
  const key = chunkKey(number)
  const record = block.valueOf(key)
  if (record === undefined) throw new RangeError(`The block has no chunk ${number}`)
  return { number, record, proof: block.map.prove(key) }
}

export function chunkFlawData(proof: ChunkFlawProof): PlutusData {
  const fields = fieldsOf(proof)
  return constr(ChunkFlaw[proof.flaw], ...fields)
}

const chunkData = ({ number, record, proof }: ChunkOpening): PlutusData[] => [
  BigInt(number),
  record,
  stepsData(proof),
]

const shownData = ({ parts, ...chunk }: ShownChunk): PlutusData[] => [
  ...chunkData(chunk),
  parts.map(suppliedData),
]

function fieldsOf(proof: ChunkFlawProof): PlutusData[] {
  switch (proof.flaw) {
    case 'countsDiffer':
      return [chunkData(proof.chunk), chunkData(proof.other)]
    case 'misplaced':
      return [chunkData(proof.chunk)]
    case 'missing': {
      const { number, absent, holder } = proof
      const shown = 'number' in holder ? constr(0, chunkData(holder)) : constr(1, recordData(holder))
      return [BigInt(number), stepsData(absent), shown]
    }
    case 'nextElsewhere':
      return [shownData(proof.chunk), chunkData(proof.next)]
    case 'transactionsLeft':
    case 'otherTransaction':
      return [shownData(proof.chunk), recordData(proof.record)]
    case 'inventedTransaction': {
      const { absent, position } = proof.absent
      return [shownData(proof.chunk), [BigInt(position), stepsData(absent)]]
    }
    case 'strangeRest':
      return [shownData(proof.chunk), BigInt(proof.place)]
    case 'malformed':
      return [shownData(proof.chunk)]
    case 'tooShort':
      return [shownData(proof.chunk), [transactionData(proof.next), suppliedData(proof.rest)]]
  }
}
