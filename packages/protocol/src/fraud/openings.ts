import { equalBytes } from '@ratatosk/cbor'
import { constr, decodePlutusData, encodePlutusData, type PlutusData } from '@ratatosk/ledger/plutus-data'
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

/*
 * Redeemers hold bodies, witness sets and outputs as `Given [bytes]`, and proofs as lists of steps; or the
 * index of a reference input whose inline datum is the same.
 */

/** A redeemer, some parts of which are in datums. */
export interface Outsourced {
  /** Plutus data CBOR of each part. */
  readonly datums: readonly Uint8Array[]
  /** @param indexes where the datums are among the reference inputs */
  redeemer(indexes: readonly number[]): Uint8Array
}

/** Bytes of a part that a datum holds. */
const maxPartLength = 12_288

/** Bytes in parts, each of which a datum can hold. */
export const inParts = (bytes: Uint8Array): Uint8Array[] =>
  Array.from({ length: Math.ceil(bytes.length / maxPartLength) }, (_, part) =>
    bytes.subarray(part * maxPartLength, (part + 1) * maxPartLength),
  )

/** Bytes of a redeemer beside which the removal of a block and the slashing fit into a transaction. */
export const roomBesideRemoval = 11_264

/**
 * Takes parts out of a redeemer until the rest has at most `room` bytes, or has no more parts: first those
 * that a datum holds already, then the longest.
 *
 * @param isHeld whether there is a datum that is the part
 */
export function outsource(
  redeemer: Uint8Array,
  room: number,
  isHeld: (part: Uint8Array) => boolean = () => false,
): Outsourced {
  const data = decodePlutusData(redeemer)
  const parts: Uint8Array[] = []
  changed(data, (part) => {
    const given = partIn(part)
    if (given && !parts.some((each) => equalBytes(each, given))) parts.push(given)
    return undefined
  })
  // Of about the same length, the first: parts of one proof begin with the same transaction.
  const kibibytes = ({ length }: Uint8Array) => Math.ceil(length / 1024)
  parts.sort((a, b) => Number(isHeld(b)) - Number(isHeld(a)) || kibibytes(b) - kibibytes(a))
  const without = (datums: readonly Uint8Array[], indexes: readonly number[]) =>
    encodePlutusData(
      changed(data, (part) => {
        const given = partIn(part)
        const place = given ? datums.findIndex((each) => equalBytes(each, given)) : -1
        return place < 0 ? undefined : constr(1, BigInt(indexes[place] as number))
      }),
    )
  let rest = redeemer.length
  const count = parts.findIndex(({ length }) => {
    const isEnough = rest <= room
    rest -= length
    return isEnough
  })
  const datums = count < 0 ? parts : parts.slice(0, count)
  return { datums, redeemer: (indexes) => without(datums, indexes) }
}

/** The content of `Given [bytes]`, or a proof; undefined for any other data. */
function partIn(data: PlutusData): Uint8Array | undefined {
  if (typeof data !== 'object' || data instanceof Uint8Array) return undefined
  if (!('fields' in data)) return data.length > 0 && data.every(isStep) ? encodePlutusData(data) : undefined
  const [content, ...others] = data.fields
  const isGiven = data.index === 0 && others.length === 0 && content instanceof Uint8Array
  return isGiven ? encodePlutusData(content) : undefined
}

/** Whether data is a step of a proof: no other list has constructors that begin with a number and go on. */
function isStep(data: PlutusData): boolean {
  if (typeof data !== 'object' || !('fields' in data)) return false
  const [skip, ...others] = data.fields
  return typeof skip === 'bigint' && others.length > 0
}

/** Data with what `change` makes of the parts of it that it does not leave alone. */
function changed(data: PlutusData, change: (part: PlutusData) => PlutusData | undefined): PlutusData {
  const other = change(data)
  if (other !== undefined || typeof data !== 'object' || data instanceof Uint8Array) return other ?? data
  if (!('fields' in data)) return data.map((part) => changed(part, change))
  return constr(data.index, ...data.fields.map((part) => changed(part, change)))
}
