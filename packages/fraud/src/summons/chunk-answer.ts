import { chunkKind, chunkRecordLength, decodeChunkRecord } from '@ratatosk/block'
import { concatBytes, equalBytes } from '@ratatosk/cbor'
import { ChunkOpening } from '@ratatosk/contracts'
import { blake2b256 } from '@ratatosk/ledger'
import { byPosition, type DataValue, PlutusDataError } from '@ratatosk/ledger/plutus-data'
import type { Proof } from '@ratatosk/trie'
import { readFrames } from '../known-chunks.js'
import { proofFrom } from './proof-from.js'

const { at, bytesOf, constructorOf, fieldsOf, integerOf, itemsOf } = byPosition

/** Where the script reads the hash of a chunk in its record. */
const hashStart = chunkRecordLength - 32

/**
 * A chunk that an answer shows, with the proof of its entry, or of its absence. The script has verified that
 * the transactions map has it, or has it not.
 */
export type ShownChunkAnswer =
  | { readonly kind: 'shown'; readonly record: Uint8Array; readonly bytes: Uint8Array; readonly proof: Proof }
  | { readonly kind: 'absent'; readonly proof: Proof }
  /** Parts of it are in datums that are not known. */
  | { readonly kind: 'unreadable' }

/**
 * Reads an answer that the summons has accepted, as the summons reads it.
 *
 * @param datumAt the bytes that the datum of a reference input of the answer is, or its hash if the output
 *   has only that; undefined if they are not known
 * @throws {PlutusDataError} if the data is no answer about a chunk
 */
export function chunkAnswerFromData(
  data: DataValue,
  datumAt: (index: number) => Uint8Array | undefined,
): ShownChunkAnswer {
  const index = Number(constructorOf(data))
  const fields = fieldsOf(data)
  if (index === ChunkOpening.absent) return { kind: 'absent', proof: proofFrom(at(fields, 0)) }
  if (index !== ChunkOpening.shown) throw new PlutusDataError(`no answer about a chunk: constructor ${index}`)
  const record = bytesOf(at(fields, 0))
  const proof = proofFrom(at(fields, 1))
  const parts = itemsOf(at(fields, 2)).map((part) => suppliedBy(part, datumAt))
  if (!parts.every((part) => part !== undefined)) return { kind: 'unreadable' }
  const bytes = concatBytes(...parts)
  const isRecorded = equalBytes(blake2b256(bytes), record.subarray(hashStart, hashStart + 32))
  return isRecorded ? { kind: 'shown', record, bytes, proof } : { kind: 'unreadable' }
}

/** Any constructor but the first names a reference input. */
function suppliedBy(
  data: DataValue,
  datumAt: (index: number) => Uint8Array | undefined,
): Uint8Array | undefined {
  const content = at(fieldsOf(data), 0)
  return constructorOf(data) === 0n ? bytesOf(content) : datumAt(Number(integerOf(content)))
}

/** How many chunks a block has by the record of one; undefined if the value is no record of a chunk. */
export const chunkCountOf = (record: Uint8Array): bigint | undefined =>
  record.length === chunkRecordLength && record[0] === chunkKind
    ? decodeChunkRecord(record).chunks
    : undefined

/** CBOR of the transactions in a chunk; undefined if it is malformed. */
export const transactionsInChunk = (bytes: Uint8Array): readonly Uint8Array[] | undefined =>
  readFrames(bytes)?.map(({ body, witnessSet, rest }) =>
    // Bytes that are no transaction are a body alone.
    witnessSet.length === 0 && rest.length === 0
      ? body
      : concatBytes(Uint8Array.of(0x84), body, witnessSet, rest),
  )
