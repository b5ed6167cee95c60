import {
  chunkKind,
  chunkRecordLength,
  decodeChunkRecord,
  decodeTransactionRecord,
  longestChunk,
  maxChunkLength,
  partsOf,
  partsOfFrames,
  type TransactionParts,
  type TransactionRecord,
  transactionKey,
} from '@ratatosk/block'
import { BytesMap, equalBytes } from '@ratatosk/cbor'
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
const framesAt = (block: AccusedBlock, position: number): Frames | undefined =>
  knownOf.get(block)?.frames.get(position)

/** Bytes that a layer-1 transaction may have: no proof shows a longer body or witness set. */
const mostShown = 16_384

/** Bytes of the transactions of a block whose parts are kept. */
const mostKept = 33_554_432

/** A transaction of a block whose body is the one that its record commits to, so that it can be opened. */
export interface Recorded {
  readonly position: number
  readonly record: TransactionRecord
  readonly parts: TransactionParts
  /** Whether the record commits to its witness set too, and a proof can show it. */
  readonly isWitnessed: boolean
}

interface Known {
  /** As the transaction's CBOR cuts it. */
  readonly parts: TransactionParts
  readonly recorded: Recorded | undefined
  /** The known frames of the transaction's chunk. */
  readonly frames: ReturnType<typeof framesAt>
}

const keptOf = new WeakMap<AccusedBlock, { readonly all: Map<number, Known>; bytes: number }>()

/** The transaction at a position; undefined if the block has another one, or none that a proof can show. */
export const recordedAt = (block: AccusedBlock, position: number): Recorded | undefined =>
  knownAt(block, position)?.recorded

/** The parts of the transaction at a position; undefined if the block has none there. */
export const partsAt = (block: AccusedBlock, position: number): TransactionParts | undefined =>
  knownAt(block, position)?.parts

/** The known parts of a transaction; those of the last requests are kept. */
function knownAt(block: AccusedBlock, position: number): Known | undefined {
  const bytes = block.transactions[position]
  if (bytes === undefined) return undefined
  const kept = keptOf.get(block) ?? { all: new Map<number, Known>(), bytes: 0 }
  keptOf.set(block, kept)
  const frames = framesAt(block, position)
  let known = kept.all.get(position)
  if (known !== undefined) kept.bytes -= bytes.length
  kept.all.delete(position)
  if (known === undefined || known.frames !== frames) {
    const parts = known?.parts ?? partsOf(bytes)
    known = { parts, frames, recorded: recordedOf(block, position, parts) }
  }
  kept.all.set(position, known)
  kept.bytes += bytes.length
  for (const oldest of kept.all.keys()) {
    if (kept.bytes <= mostKept) break
    kept.all.delete(oldest)
    kept.bytes -= (block.transactions[oldest] as Uint8Array).length
  }
  return known
}

function recordedOf(block: AccusedBlock, position: number, own: TransactionParts): Recorded | undefined {
  const record = transactionRecordIn(block.valueOf(transactionKey(position)))
  if (record === undefined) return undefined
  let found: Recorded | undefined
  for (const parts of cutsOf(block, position, own, record)) {
    if (parts.body.length > mostShown || !equalBytes(record.id, parts.id)) continue
    const { length } = parts.witnessSet
    const isWitnessed = length <= mostShown && equalBytes(record.witnessSetHash, blake2b256(parts.witnessSet))
    const recorded = { position, record, parts, isWitnessed }
    if (isWitnessed) return recorded
    found ??= recorded
  }
  return found
}

/** A transaction as its CBOR, a known chunk and the lengths of its record cut it. */
function* cutsOf(
  block: AccusedBlock,
  position: number,
  own: TransactionParts,
  { bodyLength, witnessSetLength }: TransactionRecord,
): Generator<TransactionParts, void> {
  yield own
  const frames = framesAt(block, position)
  if (frames && frames.body.length <= mostShown) yield partsOfFrames(frames)
  if (bodyLength > mostShown) return
  if (bodyLength === own.body.length && witnessSetLength === own.witnessSet.length) return
  const behind = (block.transactions[position] as Uint8Array).subarray(1)
  const end = bodyLength + witnessSetLength
  if (end > behind.length) return
  const [body, witnessSet] = [behind.subarray(0, bodyLength), behind.subarray(bodyLength, end)]
  yield partsOfFrames({ body, witnessSet, rest: behind.subarray(end) })
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
