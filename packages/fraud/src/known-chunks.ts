import {
  chunkKind,
  chunkRecordLength,
  decodeChunkRecord,
  longestChunk,
  maxChunkLength,
  type TransactionParts,
} from '@ratatosk/block'
import { BytesMap } from '@ratatosk/cbor'
import { blake2b256 } from '@ratatosk/ledger'
import type { AccusedBlock } from './accused-block.js'
import { type Stepping, step } from './smallest-proof.js'

/** A chunk's record, with the numbers as they are encoded: any 64 bits. */
export interface EncodedChunk {
  readonly number: number
  readonly first: bigint
  readonly count: bigint
  readonly hash: Uint8Array
}

/** One transaction in a chunk, as the chunk cuts it. */
export type Frames = Pick<TransactionParts, 'body' | 'witnessSet' | 'rest'>

/** Whether an entry of the transactions map is a chunk's. */
export const isChunkEntry = (key: Uint8Array, value: Uint8Array): boolean =>
  key.length === 4 && value.length === chunkRecordLength && value[0] === chunkKind

export function readChunk(key: Uint8Array, value: Uint8Array): EncodedChunk {
  const { first, chunks: count, chunkHash: hash } = decodeChunkRecord(value)
  return { number: new DataView(key.buffer, key.byteOffset).getUint32(0), first, count, hash }
}

/** The transactions of a chunk; undefined if it is malformed. */
export function readFrames(bytes: Uint8Array): readonly Frames[] | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const transactions: Frames[] = []
  let end = 0
  const frame = (): Uint8Array => {
    const start = end + 4
    end = end + 4 > bytes.length ? bytes.length + 1 : start + view.getUint32(end)
    return bytes.subarray(start, end)
  }
  while (end < bytes.length) transactions.push({ body: frame(), witnessSet: frame(), rest: frame() })
  const isTooLong = bytes.length > (transactions.length > 1 ? maxChunkLength : longestChunk)
  return end > bytes.length || transactions.length === 0 || isTooLong ? undefined : transactions
}

/** Chunks of a block whose bytes are known besides its transactions. */
interface KnownChunks {
  /** By their hashes. */
  readonly bytes: BytesMap<Uint8Array>
  /** Their transactions by position. */
  readonly frames: ReadonlyMap<number, Frames>
}

const knownOf = new WeakMap<AccusedBlock, KnownChunks>()

export function* readKnownChunks(block: AccusedBlock): Stepping<KnownChunks> {
  const read = knownOf.get(block)
  if (read !== undefined) return read
  const bytes = new BytesMap<Uint8Array>()
  for (const each of block.chunks ?? []) {
    yield step
    bytes.set(blake2b256(each), each)
  }
  const frames = new Map<number, Frames>()
  /** Each chunk is read once, whatever the map says. */
  const left = new BytesMap(bytes)
  for (const [key, value] of bytes.size > 0 ? block.entriesOfMap() : []) {
    yield step
    if (!isChunkEntry(key, value)) continue
    const { first, hash } = readChunk(key, value)
    const chunk = left.get(hash)
    left.delete(hash)
    for (const [place, each] of (chunk && readFrames(chunk))?.entries() ?? [])
      frames.set(Number(first) + place, each)
  }
  const known = { bytes, frames }
  knownOf.set(block, known)
  return known
}

/** The frames of a known chunk at a position, after {@link readKnownChunks}. */
export const framesAt = (block: AccusedBlock, position: number): Frames | undefined =>
  knownOf.get(block)?.frames.get(position)
