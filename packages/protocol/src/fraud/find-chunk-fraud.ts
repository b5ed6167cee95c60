import {
  chunkKey,
  createChunker,
  frameHeads,
  maxChunkLength,
  mostInParts,
  partsOfFrames,
  type TransactionParts,
} from '@ratatosk/block'
import { BytesMap, concatBytes, equalBytes } from '@ratatosk/cbor'
import { blake2b256, decodeTransactionBody } from '@ratatosk/ledger'
import type { AccusedBlock } from './accused-block.js'
import { type ChunkFlawProof, openChunk, type ShownChunk } from './ledger-proofs.js'
import { inParts, numberKey, openRecord, openTransaction } from './openings.js'
import {
  type EncodedChunk,
  type Frames,
  isChunkEntry,
  partsAt,
  readChunk,
  readFrames,
  readKnownChunks,
  recordedAt,
  transactionRecordIn,
} from './recorded.js'
import { type Stepping, step } from './smallest-proof.js'

/** Chunks with unknown bytes for which the transactions are searched, each a share of the block. */
const maxSearches = 64

interface Noted {
  readonly chunks: ReadonlyMap<number, EncodedChunk>
  /** The greatest position of a transaction; undefined if there is none. */
  readonly last: bigint | undefined
}

type ChunkFlaws = Generator<ChunkFlawProof | typeof step, void>

/** Frauds in the chunks of a block. Those in a chunk's bytes are found where the bytes are known. */
export function* chunkFlaws(block: AccusedBlock): ChunkFlaws {
  const noted = yield* notedIn(block)
  yield* flawsOfNumbers(block, noted)
  const bytesOf = yield* knownBytes(block, noted.chunks)
  for (const chunk of noted.chunks.values()) {
    yield step
    const bytes = yield* bytesOf(chunk)
    if (bytes !== undefined && bytes.length <= mostInParts) yield* flawsOfBytes(block, noted, chunk, bytes)
  }
}

function* notedIn(block: AccusedBlock): Stepping<Noted> {
  const chunks = new Map<number, EncodedChunk>()
  let last: bigint | undefined
  for (const [key, value] of block.entriesOfMap()) {
    yield step
    if (key.length === 8) {
      const position = new DataView(key.buffer, key.byteOffset).getBigUint64(0)
      if (last === undefined || position > last) last = position
    }
    if (!isChunkEntry(key, value)) continue
    const chunk = readChunk(key, value)
    chunks.set(chunk.number, chunk)
  }
  return { chunks, last }
}

function* flawsOfNumbers(block: AccusedBlock, { chunks, last }: Noted): ChunkFlaws {
  const [any] = chunks.values()
  let number = 0
  for (; block.valueOf(chunkKey(number)) !== undefined; number++) yield step
  const isDue = any === undefined ? number === 0 && last !== undefined : number < any.count
  if (isDue) {
    const absent = block.map.proveAbsence(chunkKey(number))
    const holder = any === undefined ? openRecord(block, last as bigint) : openChunk(block, any.number)
    yield { flaw: 'missing', number, absent, holder }
  }
  if (any === undefined) return
  for (const { number, first, count } of chunks.values()) {
    yield step
    const isMisplaced = number >= count || (number === 0 && first > 0n)
    if (count === any.count && !isMisplaced) continue
    const chunk = openChunk(block, number)
    if (count !== any.count) yield { flaw: 'countsDiffer', chunk: openChunk(block, any.number), other: chunk }
    if (isMisplaced) yield { flaw: 'misplaced', chunk }
  }
}

/** The bytes of chunks: known ones, those of the transactions, and those that a chunk claims. */
function* knownBytes(
  block: AccusedBlock,
  chunks: ReadonlyMap<number, EncodedChunk>,
): Stepping<(chunk: EncodedChunk) => Stepping<Uint8Array | undefined>> {
  const { bytes: known } = yield* readKnownChunks(block)
  const spans = yield* spansOf(block)
  let searches = 0
  return function* ({ number, first, hash }) {
    const span = spans.get(hash)
    const found = known.get(hash) ?? (span && (yield* framesOf(block, span, partsAt)))
    if (found !== undefined || span !== undefined || searches === maxSearches) return found
    searches++
    const end = chunks.get(number + 1)?.first ?? BigInt(block.transactions.length)
    for (const cut of [partsAt, recordedPartsAt]) {
      const claimed = yield* framesOf(block, { first: Number(first), end: Number(end) }, cut)
      if (claimed && equalBytes(blake2b256(claimed), hash)) return claimed
    }
    return undefined
  }
}

/** Transactions of a block by their positions: from `first` to before `end`. */
interface Span {
  readonly first: number
  readonly end: number
}

/** The chunks that the transactions give, by their hashes. */
function* spansOf(block: AccusedBlock): Stepping<BytesMap<Span>> {
  const begun: { readonly first: number; readonly hash: Uint8Array }[] = []
  const chunker = createChunker((first, bytes) => begun.push({ first, hash: blake2b256(bytes) }))
  const { transactions } = block
  for (const position of transactions.keys()) {
    yield step
    chunker.add(partsAt(block, position) as TransactionParts)
  }
  chunker.end()
  return new BytesMap(
    begun.map(
      ({ first, hash }, place) =>
        [hash, { first, end: begun[place + 1]?.first ?? transactions.length }] as const,
    ),
  )
}

/** The parts of a transaction as its record cuts it, where that is known. */
const recordedPartsAt: typeof partsAt = (block, position) =>
  recordedAt(block, position)?.parts ?? partsAt(block, position)

/** The frames of transactions; undefined if they are longer than any that are searched. */
function* framesOf(
  block: AccusedBlock,
  { first, end }: Span,
  cut: typeof partsAt,
): Stepping<Uint8Array | undefined> {
  const frames: Uint8Array[] = []
  let length = 0
  for (let position = first; position < Math.min(end, block.transactions.length); position++) {
    yield step
    const { body, witnessSet, rest } = cut(block, position) as TransactionParts
    length += frameHeads + body.length + witnessSet.length + rest.length
    if (length > mostInParts) return undefined
    for (const frame of [body, witnessSet, rest]) frames.push(lengthOf(frame), frame)
  }
  return concatBytes(...frames)
}

function lengthOf({ length }: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(4)
  new DataView(bytes.buffer).setUint32(0, length)
  return bytes
}

function* flawsOfBytes(
  block: AccusedBlock,
  { chunks, last }: Noted,
  { number, first, count }: EncodedChunk,
  bytes: Uint8Array,
): ChunkFlaws {
  const chunk: ShownChunk = { ...openChunk(block, number), parts: inParts(bytes) }
  const transactions = readFrames(bytes)
  if (transactions === undefined) yield { flaw: 'malformed', chunk }
  if (transactions === undefined) return
  const end = first + BigInt(transactions.length)
  const next = chunks.get(number + 1)
  if (next !== undefined && next.first !== end)
    yield { flaw: 'nextElsewhere', chunk, next: openChunk(block, number + 1) }
  if (BigInt(number + 1) === count && last !== undefined && last >= end)
    yield { flaw: 'transactionsLeft', chunk, record: openRecord(block, last) }
  for (const [place, frames] of transactions.entries()) {
    yield step
    const position = first + BigInt(place)
    const key = numberKey(position)
    const value = block.valueOf(key)
    if (value === undefined) {
      const absent = { position, absent: block.map.proveAbsence(key) }
      yield { flaw: 'inventedTransaction', chunk, absent }
    } else if (!isOf(frames, value)) {
      yield { flaw: 'otherTransaction', chunk, record: openRecord(block, position) }
    }
    if (isStrangeRest(frames)) yield { flaw: 'strangeRest', chunk, place }
  }
  yield* shortChunks(block, chunk, bytes, end)
}

/** The fraud that a chunk has room for the transaction at its end. */
function* shortChunks(block: AccusedBlock, chunk: ShownChunk, bytes: Uint8Array, end: bigint): ChunkFlaws {
  const following = recordedAt(block, Number(end))
  if (following === undefined) return
  const { position, record, parts } = following
  const { bodyLength, witnessSetLength } = record
  const length = bytes.length + frameHeads + bodyLength + witnessSetLength + parts.rest.length
  if (length > maxChunkLength || !parts.isFramed || !isHashRead(parts)) return
  yield { flaw: 'tooShort', chunk, next: openTransaction(block, position), rest: parts.rest }
}

/** Whether a transaction has the body and the witness set of a record, and their lengths. */
function isOf({ body, witnessSet }: Frames, value: Uint8Array): boolean {
  const record = transactionRecordIn(value)
  if (record === undefined) return true
  if (body.length !== record.bodyLength || witnessSet.length !== record.witnessSetLength) return false
  return equalBytes(record.id, blake2b256(body)) && equalBytes(record.witnessSetHash, blake2b256(witnessSet))
}

/** Whether what is behind the witness set does not follow from the body, as far as the body is read. */
function isStrangeRest(frames: Frames): boolean {
  const parts = partsOfFrames(frames)
  return parts.isDecoded && !parts.isFramed && isHashRead(parts)
}

/** Whether the script can read the hash of auxiliary data, if the ledger decodes one in the body. */
function isHashRead({ isDecoded, body }: TransactionParts): boolean {
  const hash = isDecoded ? decodeTransactionBody(body).auxiliaryDataHash : undefined
  if (hash === undefined) return true
  const place = hash.byteOffset - body.byteOffset
  return body[place - 2] === 0x58 && body[place - 1] === 0x20
}
