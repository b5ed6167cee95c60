import { equalBytes } from '@ratatosk/cbor'
import { constr, decodePlutusData, type PlutusData } from '@ratatosk/ledger/plutus-data'
import { emptyRoot, type Proof, proofToCbor, type TrieView } from '@ratatosk/trie'
import type { AccusedBlock } from './accused-block.js'
import { partsAt, recordedAt } from './recorded.js'

/*
 * The parts of a block that fraud proofs open, and their encoding in redeemers.
 */

/**
 * Bytes in the redeemer; or the index of a reference input whose inline datum is these bytes, for what a
 * redeemer cannot hold.
 */
export type SuppliedBytes = Uint8Array | number

/** A transaction's record in the transactions map of a block, proven. */
export interface RecordOpening {
  /** Below 2^64: the map of an invalid block may have any. */
  readonly position: number | bigint
  /** The encoded record, 113 bytes. */
  readonly record: Uint8Array
  readonly proof: Proof
}

/** A record and the transaction's body. */
export interface TransactionOpening extends RecordOpening {
  /** CBOR. */
  readonly body: SuppliedBytes
}

/**
 * The entry of the transactions map for an output: the encoded record, 48 bytes, or a proof of absence.
 */
export interface OutputOpening {
  readonly record?: Uint8Array
  readonly proof: Proof
}

/**
 * An output in one of the header's maps of outputs: the Blake2b-256 of its CBOR; or a proof that it
 * is not there.
 */
export interface UnspentOpening {
  readonly hash?: Uint8Array
  readonly proof: Proof
}

/** A proof that the transactions map has no record at a position. */
export interface Absent {
  readonly absent: Proof
}

/**
 * The record of a transaction, proven.
 *
 * @throws RangeError if the block has no such record
 */
export function openRecord(block: AccusedBlock, position: number | bigint): RecordOpening {
  const key = numberKey(BigInt(position))
  const record = block.valueOf(key)
  if (record === undefined) throw new RangeError(`The block has no record at position ${position}`)
  return { position, record, proof: block.map.prove(key) }
}

/** A position as a key of the map. @param position below 2^64 */
export function numberKey(position: bigint): Uint8Array {
  const key = new Uint8Array(8)
  new DataView(key.buffer).setBigUint64(0, position)
  return key
}

/** The position that a key of the map stands for. */
export const numberIn = (key: Uint8Array): bigint => new DataView(key.buffer, key.byteOffset).getBigUint64(0)

/** The record and the body of a transaction. @throws RangeError if the block lacks one of them */
export function openTransaction(block: AccusedBlock, position: number): TransactionOpening {
  const parts = recordedAt(block, position)?.parts ?? partsAt(block, position)
  if (parts === undefined) throw new RangeError(`The block has no transaction at position ${position}`)
  return { ...openRecord(block, position), body: parts.body }
}

/** The record of an output in the transactions map, or the proof that there is none. */
export function openOutput(block: AccusedBlock, key: Uint8Array): OutputOpening {
  const { map } = block
  const record = block.valueOf(key)
  return record === undefined ? { proof: map.proveAbsence(key) } : { record, proof: map.prove(key) }
}

/** The hash of an unspent output, or the proof that it is not unspent. */
export function openUnspent(outputs: TrieView, key: Uint8Array): UnspentOpening {
  const hash = outputs.valueHash(key)
  return hash === undefined ? { proof: outputs.proveAbsence(key) } : { hash, proof: outputs.prove(key) }
}

/** An output in one of the header's maps of events; undefined if that map is not known. */
export function openEvent(
  { header, events }: Pick<AccusedBlock, 'header' | 'events'>,
  of: 'deposits' | 'withdrawals',
  key: Uint8Array,
): UnspentOpening | undefined {
  const root = of === 'deposits' ? header.depositsRoot : header.withdrawalsRoot
  if (equalBytes(root, emptyRoot())) return { proof: [] }
  const map = events?.[of]
  return map && openUnspent(map, key)
}

/** Fields of a constructor, or the beginning of a list. */
export const recordData = ({ position, record, proof }: RecordOpening): PlutusData[] => [
  BigInt(position),
  record,
  stepsData(proof),
]

export const transactionData = (opening: TransactionOpening): PlutusData => [
  ...recordData(opening),
  suppliedData(opening.body),
]

export const suppliedData = (supplied: SuppliedBytes): PlutusData =>
  supplied instanceof Uint8Array ? constr(0, supplied) : constr(1, BigInt(supplied))

/** The value under a key of a map, or its absence. */
export const optionData = (
  content: Uint8Array | undefined,
  { proof }: { readonly proof: Proof },
): PlutusData => (content === undefined ? constr(1, stepsData(proof)) : constr(0, content, stepsData(proof)))

/** An opening that is not read has any value. */
export const unspentData = (opening: UnspentOpening | undefined): PlutusData =>
  opening === undefined ? 0n : optionData(opening.hash, opening)

export const stepsData = (proof: Proof): PlutusData => decodePlutusData(proofToCbor(proof))
