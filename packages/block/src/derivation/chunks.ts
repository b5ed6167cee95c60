import { profileLimits } from '@ratatosk/ledger'
import type { TransactionParts } from './parts.js'
import { writePosition } from './records.js'

/** The largest chunk of several transactions, in bytes: the datum of a layer-1 output can hold it. */
export const maxChunkLength = 12_288

/** Bytes of the three lengths in front of a transaction's frames. */
export const frameHeads = 12

/** The most chunks that a block may have. */
export const maxChunks = 1024

/** The longest chunk of a valid block, in bytes: it has one transaction, without the head of one byte. */
export const longestChunk = frameHeads + profileLimits.transactionBytes - 1

/** The most bytes that a fraud proof shows in parts: of a longer chunk, none shows that it is too long. */
export const mostInParts = 65_536

/**
 * Consecutive transactions of a block, for who needs their bytes in pieces: an entry of the transactions map
 * under {@link chunkKey}.
 */
export interface ChunkRecord {
  /** Position of its first transaction. */
  readonly first: number
  /** The number of chunks of the block. */
  readonly chunks: number
  /** Blake2b-256 of its bytes: 32 bytes. */
  readonly chunkHash: Uint8Array
}

/** The key of a chunk's record: its number, from 0, as 4 bytes big-endian. */
export function chunkKey(number: number): Uint8Array {
  const key = new Uint8Array(4)
  new DataView(key.buffer).setUint32(0, number)
  return key
}

/** Length in bytes of an encoded {@link ChunkRecord}, which differs from that of any other record. */
export const chunkRecordLength = 49

/** The first byte of a chunk's record. */
export const chunkKind = 3

/**
 * `kind 1 ‖ first position 8 ‖ number of chunks 8 ‖ H(chunk) 32`. If it were as long as the record of an
 * output, a proof could open a chunk as an output.
 */
export function encodeChunkRecord({ first, chunks, chunkHash }: ChunkRecord): Uint8Array {
  const bytes = new Uint8Array(chunkRecordLength)
  bytes[0] = chunkKind
  writePosition(bytes, 1, first)
  writePosition(bytes, 9, chunks)
  bytes.set(chunkHash, 17)
  return bytes
}

/** Reads the record of a chunk. The numbers are as they are encoded: any 64 bits. */
export function decodeChunkRecord(bytes: Uint8Array): {
  readonly first: bigint
  readonly chunks: bigint
  readonly chunkHash: Uint8Array
} {
  const view = new DataView(bytes.buffer, bytes.byteOffset)
  return { first: view.getBigUint64(1), chunks: view.getBigUint64(9), chunkHash: bytes.subarray(17) }
}

/** Counts chunks: takes the bytes of the next transaction, heads included, and returns the number so far. */
function createCount(): (length: number) => number {
  let chunks = 0
  let end = 0
  return (length) => {
    if (chunks === 0 || end + length > maxChunkLength) {
      chunks++
      end = 0
    }
    end += length
    return chunks
  }
}

/**
 * How many of the first transactions a block may have, and their chunks.
 *
 * @param lengths of transactions that keep the rules of layer 2, in bytes
 */
export function countWithinChunks(lengths: Iterable<number>): {
  readonly transactions: number
  readonly chunks: number
} {
  const added = createCount()
  let [transactions, chunks] = [0, 0]
  for (const length of lengths) {
    // A chunk leaves out the head of a transaction, one byte.
    const next = added(frameHeads + length - 1)
    if (next > maxChunks) break
    transactions++
    chunks = next
  }
  return { transactions, chunks }
}

/** Cuts the transactions of a block into chunks. */
interface Chunker {
  /** The number of chunks so far, the last one included. */
  readonly count: number
  add(parts: Pick<TransactionParts, 'body' | 'witnessSet' | 'rest'>): void
  /** Completes the last chunk. */
  end(): void
}

/**
 * Cuts transactions into chunks: each has as many as {@link maxChunkLength} allows, and one at least. A chunk
 * is, for each transaction, `length 4 ‖ body`, `length 4 ‖ witness set`, `length 4 ‖ rest`.
 *
 * @param emit receives each complete chunk: the position of its first transaction, and bytes that the next
 *   chunk overwrites
 */
export function createChunker(emit: (first: number, bytes: Uint8Array) => void): Chunker {
  const buffer = new Uint8Array(maxChunkLength)
  const added = createCount()
  let count = 0
  let first = 0
  let position = 0
  let end = 0

  function complete(bytes: Uint8Array): void {
    emit(first, bytes)
    first = position
    end = 0
  }

  return {
    get count() {
      return count
    },

    add({ body, witnessSet, rest }) {
      const length = frameHeads + body.length + witnessSet.length + rest.length
      const chunks = added(length)
      if (chunks > count && end > 0) complete(buffer.subarray(0, end))
      count = chunks
      const bytes = length > maxChunkLength ? new Uint8Array(length) : buffer
      const view = new DataView(bytes.buffer)
      for (const frame of [body, witnessSet, rest]) {
        view.setUint32(end, frame.length)
        bytes.set(frame, end + 4)
        end += 4 + frame.length
      }
      position++
      if (bytes !== buffer) complete(bytes)
    },

    end() {
      if (end > 0) complete(buffer.subarray(0, end))
    },
  }
}
