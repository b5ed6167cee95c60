import { chunkKind, chunkRecordLength, decodeChunkRecord } from '@ratatosk/block'
import { concatBytes, equalBytes } from '@ratatosk/cbor'
import { ChunkOpening } from '@ratatosk/contracts'
import { blake2b256 } from '@ratatosk/ledger'
import {
  bytesOf,
  constrOf,
  integerOf,
  listOf,
  type PlutusData,
  PlutusDataError,
} from '@ratatosk/ledger/plutus-data'
import { readFrames } from '../known-chunks.js'

/** Where the script reads the hash of a chunk in its record. */
const hashStart = chunkRecordLength - 32

/** The parts of a chunk that an answer shows. The script has verified that the transactions map has it. */
export type ShownChunkAnswer =
  | { readonly kind: 'shown'; readonly record: Uint8Array; readonly bytes: Uint8Array }
  | { readonly kind: 'absent' }
  /** Parts of it are in datums that are not known. */
  | { readonly kind: 'unreadable' }

/**
 * Reads an answer that the summons has accepted.
 *
 * @param datumAt the bytes in the inline datum of a reference input of the answer; undefined if they are not
 *   known
 * @throws {PlutusDataError} if the data is no answer about a chunk
 */
export function chunkAnswerFromData(
  data: PlutusData | undefined,
  datumAt: (index: number) => Uint8Array | undefined,
): ShownChunkAnswer {
  const { index, fields } = constrOf(data, 'answer')
  if (index === ChunkOpening.absent) return { kind: 'absent' }
  const [record] = fields
  if (!(record instanceof Uint8Array)) throw new PlutusDataError('answer: a record is missing')
  const parts = listOf(fields[2], 'parts').map((part) => suppliedBy(part, datumAt))
  if (!parts.every((part) => part !== undefined)) return { kind: 'unreadable' }
  const bytes = concatBytes(...parts)
  const hash = bytesOf(record.subarray(hashStart, hashStart + 32), 32, 'hash')
  return equalBytes(blake2b256(bytes), hash) ? { kind: 'shown', record, bytes } : { kind: 'unreadable' }
}

function suppliedBy(
  data: PlutusData,
  datumAt: (index: number) => Uint8Array | undefined,
): Uint8Array | undefined {
  const { index, fields } = constrOf(data, 'part')
  if (index === 1) return datumAt(Number(integerOf(fields[0], 'index')))
  const [bytes] = fields
  if (bytes instanceof Uint8Array) return bytes
  throw new PlutusDataError('part: bytes are missing')
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
